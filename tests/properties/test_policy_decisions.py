"""Invariants of deciding: order, restrictiveness, hardline, failures and classification."""

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import (
    Classification,
    Code,
    Decision,
    Effect,
    Flag,
    Principal,
    Question,
    SideEffect,
    SourceKind,
    ToolDefinition,
    ToolIdentity,
    matches,
)
from toolkeeper_policy import CallView, ClassificationRule, Policy, Rule, classify

NAMES = ("a.read", "a.write", "b", "mcp.git.push", "mcp.git.pull")
PATTERNS = (*NAMES, "a.*", "mcp.*", "*", "*.push", "m*l")
SOURCES = ("functions", "git")
AGENTS = ("chat", "work")
USERS = ("ana", "eve")
SCOPES = ("mail", "notes")


@dataclass(frozen=True)
class Answers:
    answer: Any
    text: str = "told"
    zone: str = "UTC"

    def holds(self, view: CallView) -> bool:
        if self.answer == "raise":
            raise ValueError
        return self.answer  # type: ignore[no-any-return]


def some(options: Any, most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(list(options)), unique=True, max_size=most).map(tuple)


conditions = st.sampled_from([None, None, Answers(True), Answers(False), Answers("raise")])


@st.composite
def rules(draw: st.DrawFn, effects: Any = Effect, prefix: str = "r") -> tuple[Rule, ...]:
    count = draw(st.integers(0, 6))
    return tuple(
        Rule(
            id=f"{prefix}{at}",
            effect=draw(st.sampled_from(list(effects))),
            tools=draw(some(PATTERNS)),
            sources=draw(some(SOURCES, 1)),
            side_effects=frozenset(draw(some(SideEffect, 3))),
            flags=frozenset(draw(some(Flag))),
            agents=frozenset(draw(some(AGENTS, 1))),
            users=frozenset(draw(some(USERS, 1))),
            scopes=frozenset(draw(some(SCOPES, 1))),
            approvers=draw(some(USERS)),
            condition=draw(conditions),
        )
        for at in range(count)
    )


classifications = st.builds(
    Classification,
    side_effect=st.sampled_from(SideEffect),
    flags=st.frozensets(st.sampled_from(Flag)),
    classified_by=st.just("declaration"),
)
questions = st.builds(
    Question,
    tool=st.sampled_from(NAMES),
    source=st.sampled_from(SOURCES),
    classification=classifications,
    agent=st.sampled_from(AGENTS),
    principal=st.builds(
        Principal, user=st.sampled_from(USERS), scopes=st.frozensets(st.sampled_from(SCOPES))
    ),
    arguments=st.just({}),
)
defaults = st.dictionaries(st.sampled_from(SideEffect), st.sampled_from(Effect))
hardlines = rules([Effect.DENY], "h")


def covers(rule: Rule, question: Question) -> bool:
    """The selectors, read plainly from the design and without an index."""
    tool = question.classification
    return (
        (not rule.tools or any(matches(pattern, question.tool) for pattern in rule.tools))
        and (not rule.sources or question.source in rule.sources)
        and (not rule.side_effects or tool.side_effect in rule.side_effects)
        and (not rule.flags or bool(rule.flags & tool.flags))
        and (not rule.agents or question.agent in rule.agents)
        and (not rule.users or question.principal.user in rule.users)
        and (not rule.scopes or bool(rule.scopes & question.principal.scopes))
    )


def counts(rule: Rule, question: Question) -> bool:
    tool = question.classification
    if rule.effect is not Effect.ALLOW:
        return True
    if tool.side_effect is SideEffect.FINANCIAL and SideEffect.FINANCIAL not in rule.side_effects:
        return False
    return Flag.DESTRUCTIVE not in tool.flags or Flag.DESTRUCTIVE in rule.flags


def outcome(rule: Rule) -> Any:
    return True if rule.condition is None else rule.condition.answer  # type: ignore[attr-defined]


def oracle(policy: Policy, question: Question) -> Effect:
    """The effect by the plain words of the design."""
    relevant = [
        rule
        for rule in (*policy.rules, *policy.hardline)
        if covers(rule, question) and counts(rule, question)
    ]
    effects = [rule.effect for rule in relevant if outcome(rule) is True]
    if any(outcome(rule) == "raise" and rule.effect is not Effect.ALLOW for rule in relevant):
        return Effect.DENY
    if Effect.DENY in effects:
        return Effect.DENY
    if Effect.ASK in effects:
        asking = [
            set(rule.approvers)
            for rule in relevant
            if outcome(rule) is True and rule.effect is Effect.ASK and rule.approvers
        ]
        return Effect.DENY if asking and not set.intersection(*asking) else Effect.ASK
    if Effect.ALLOW in effects:
        return Effect.ALLOW
    return policy.defaults[question.classification.side_effect]


@settings(max_examples=150)
@given(defaults, rules(), hardlines, questions)
def test_the_index_decides_as_the_plain_reading_does(
    defaults: Any, rules: tuple[Rule, ...], hardline: tuple[Rule, ...], question: Question
) -> None:
    policy = Policy(defaults=defaults, rules=rules, hardline=hardline)
    decision = policy.decide(question)
    assert decision.effect is oracle(policy, question)
    assert (decision.code is not None) == (decision.effect is Effect.DENY)
    assert policy.decide(question) == decision
    assert Decision.from_json(decision.as_json()) == decision


@settings(max_examples=50)
@given(rules(), hardlines, questions, st.randoms(use_true_random=False))
def test_order_never_matters(
    rules: tuple[Rule, ...], hardline: tuple[Rule, ...], question: Question, random: Any
) -> None:
    shuffled = list(rules)
    random.shuffle(shuffled)
    one = Policy(rules=rules, hardline=hardline)
    two = Policy(rules=tuple(shuffled), hardline=hardline[::-1])
    assert one.decide(question) == two.decide(question)
    assert one.revision == two.revision


@settings(max_examples=50)
@given(rules(), rules([Effect.ASK, Effect.DENY], "x"), questions)
def test_adding_a_tightening_rule_never_widens(
    rules: tuple[Rule, ...], more: tuple[Rule, ...], question: Question
) -> None:
    before = Policy(rules=rules).decide(question)
    after = Policy(rules=rules + more).decide(question)
    if before.rules or (before.effect is Effect.DENY and before.errors):
        assert after.effect.rank >= before.effect.rank


@settings(max_examples=50)
@given(defaults, rules(), hardlines, questions)
def test_nothing_relaxes_a_hardline(
    defaults: Any, rules: tuple[Rule, ...], hardline: tuple[Rule, ...], question: Question
) -> None:
    alone = Policy(hardline=hardline).check_hardline(question)
    policy = Policy(defaults=defaults, rules=rules, hardline=hardline)
    decision = policy.decide(question)
    if alone is not None:
        assert decision.effect is Effect.DENY
        assert decision.code in (Code.DENIED_HARDLINE, Code.DENIED_RULE_ERROR)
        assert decision.rules == alone.rules


@settings(max_examples=50)
@given(rules(), hardlines, questions)
def test_a_hidden_tool_is_denied_whatever_the_arguments(
    rules: tuple[Rule, ...], hardline: tuple[Rule, ...], question: Question
) -> None:
    policy = Policy(rules=rules, hardline=hardline)
    if policy.hides(question):
        assert policy.decide(question).effect is Effect.DENY


@settings(max_examples=50)
@given(defaults, rules(), questions)
def test_dear_calls_are_allowed_only_by_name(
    defaults: Any, rules: tuple[Rule, ...], question: Question
) -> None:
    policy = Policy(defaults=defaults, rules=rules)
    decision = policy.decide(question)
    if decision.effect is Effect.ALLOW and decision.rules:
        by_id = {rule.id: rule for rule in rules}
        for rule_id in decision.rules:
            assert counts(by_id[rule_id], question)


hints = st.dictionaries(
    st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "x"]),
    st.sampled_from([True, False, None, 0, 1, "true", "false"]),
)
operators = st.lists(
    st.builds(
        ClassificationRule,
        tools=st.sampled_from([("mcp.git.*",), ("mcp.git.push",), ("other",)]),
        side_effect=st.none() | st.sampled_from(SideEffect),
        destructive=st.none() | st.booleans(),
        idempotent=st.none() | st.booleans(),
        open_world=st.none() | st.booleans(),
        private=st.none() | st.booleans(),
        result=st.sampled_from([None, "trusted", "untrusted"]),
    ),
    max_size=3,
)
RANK = {side_effect: rank for rank, side_effect in enumerate(SideEffect)}
PUSH = ToolIdentity(SourceKind.MCP, "git", "push")


def defined(annotations: Any) -> ToolDefinition:
    return ToolDefinition("push", None, "", {"type": "object"}, None, annotations)


@settings(max_examples=50)
@given(hints, operators)
def test_an_untrusted_hint_never_lowers_what_silence_gives(
    annotations: Any, rules: list[ClassificationRule]
) -> None:
    silent = classify(PUSH, defined(None), rules=rules)
    hinted = classify(PUSH, defined(annotations), rules=rules)
    tightening = {Flag.DESTRUCTIVE, Flag.OPEN_WORLD, Flag.PRIVATE}
    assert RANK[hinted.side_effect] >= RANK[silent.side_effect]
    assert hinted.flags & tightening >= silent.flags & tightening
    assert (Flag.IDEMPOTENT in hinted.flags) <= (Flag.IDEMPOTENT in silent.flags)
    assert hinted.trusted_result <= silent.trusted_result


@settings(max_examples=50)
@given(hints, operators)
def test_an_unaccepted_tool_is_at_least_the_worst_case(
    annotations: Any, rules: list[ClassificationRule]
) -> None:
    found = classify(PUSH, defined(annotations), rules=rules, accepted=False)
    assert RANK[found.side_effect] >= RANK[SideEffect.NETWORK_WRITE]
    assert found.flags >= {Flag.DESTRUCTIVE, Flag.OPEN_WORLD}
    assert Flag.IDEMPOTENT not in found.flags
    assert not found.trusted_result


@settings(max_examples=50)
@given(hints)
def test_a_trusted_read_is_never_destructive(annotations: Any) -> None:
    found = classify(PUSH, defined(annotations), trusted=True, annotations_trusted=True)
    assert not (found.side_effect.reads and Flag.DESTRUCTIVE in found.flags)
    if annotations.get("destructiveHint") is True:
        assert not found.side_effect.reads


@settings(max_examples=50)
@given(rules(), questions)
def test_a_questions_arguments_do_not_matter_without_conditions(
    rules: tuple[Rule, ...], question: Question
) -> None:
    plain = Policy(rules=tuple(replace(rule, condition=None) for rule in rules))
    other = replace(question, arguments={"to": "eve"}, attributes={"a": 1})
    assert plain.decide(question) == plain.decide(other)
