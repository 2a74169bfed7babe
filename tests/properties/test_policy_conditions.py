"""Invariants of conditions and of the trust overlay: neither ever widens what is allowed."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import cel
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import (
    Classification,
    Code,
    Decision,
    Effect,
    Flag,
    Origin,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import (
    CallView,
    CelCondition,
    ConditionFailure,
    ConditionFault,
    Policy,
    Rule,
    ViewPlan,
    compile_condition,
    explain,
)

CONDITIONS = [
    compile_condition(text)
    for text in (
        'args.to == "a@example.com"',
        'args.to.endsWith("example.com")',
        'has(args.to) && args.to == "b@example.com"',
        "args.n > 3",
        "args.missing == 1",
        "args.to.all(x, x == 1)",
        "args.n",
        'origin(args.to) == "user"',
        'domain(args.to) == "example.com"',
        'matches(args.to, "^[ab]@")',
        "session.tainted || args.n == 7",
        'principal.user == "ana"',
        '"destructive" in tool.flags',
        "call.hour < 12",
    )
]
MOMENTS = (None, datetime(2026, 1, 1, 6, tzinfo=UTC), datetime(2027, 1, 1, 18, tzinfo=UTC))


class Heard:
    def __init__(self, origins: dict[str, Origin]) -> None:
        self._origins = origins

    def origin(self, value: Any) -> Origin:
        return self._origins.get(str(value), Origin.NOWHERE)

    def __repr__(self) -> str:
        return f"Heard({self._origins})"


def some(options: Any, most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(list(options)), unique=True, max_size=most).map(tuple)


@st.composite
def rules(draw: st.DrawFn, effects: Any = Effect, prefix: str = "r") -> tuple[Rule, ...]:
    hardline = prefix == "h"
    found = []
    for at in range(draw(st.integers(0, 5))):
        effect = draw(st.sampled_from(list(effects)))
        found.append(
            Rule(
                id=f"{prefix}{at}",
                effect=effect,
                tools=draw(some(("mail.send", "mail.*", "other"))),
                side_effects=frozenset(draw(some(SideEffect, 3))),
                flags=frozenset(draw(some(Flag))),
                attributes=draw(st.sampled_from([{}, {}, {"site": ("*",)}, {"site": ("x",)}])),
                approvers=draw(some(("ana", "ops"))),
                condition=draw(st.none() | st.sampled_from(CONDITIONS)),
                expires=None if hardline else draw(st.sampled_from(MOMENTS)),
                despite_taint=effect is Effect.ALLOW and draw(st.booleans()),
            )
        )
    return tuple(found)


arguments: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "to": st.sampled_from(["a@example.com", "b@example.com", "c", "", 1, None, ["x"], True]),
        "n": st.sampled_from([1, 7, 7.5, "7", True, None, [], {}, 2**70]),
        "list": st.lists(st.sampled_from(["a@example.com", 1234, "zz"]), max_size=3),
    },
)
questions = st.builds(
    Question,
    tool=st.sampled_from(["mail.send", "mail.read"]),
    source=st.just("mail"),
    classification=st.builds(
        Classification,
        side_effect=st.sampled_from(SideEffect),
        flags=st.frozensets(st.sampled_from(Flag)),
        classified_by=st.just("rule"),
        destination=st.sampled_from([(), ("to",), ("to", "list")]),
        payload=st.sampled_from([(), ("n",)]),
    ),
    agent=st.just("chat"),
    principal=st.builds(Principal, user=st.sampled_from(["ana", "eve"])),
    arguments=arguments,
    attributes=st.sampled_from([{}, {"site": "x"}, {"site": "y"}]),
    tainted=st.booleans(),
    private=st.booleans(),
    provenance=st.none()
    | st.dictionaries(
        st.sampled_from(["a@example.com", "b@example.com", "c", "1234", "7"]),
        st.sampled_from(Origin),
    ).map(Heard),
    at=st.sampled_from(MOMENTS),
)
defaults = st.dictionaries(st.sampled_from(SideEffect), st.sampled_from(Effect))
taints = st.sampled_from(["ask", "provenance", "off"])


@settings(max_examples=50)
@given(defaults, taints, rules(), rules([Effect.DENY], "h"), questions, st.randoms())
def test_order_never_matters_with_conditions_either(
    defaults: Any, taint: str, rules: Any, hardline: Any, question: Question, random: Any
) -> None:
    shuffled = list(rules)
    random.shuffle(shuffled)
    one = Policy(defaults=defaults, taint=taint, rules=rules, hardline=hardline)
    two = Policy(defaults=defaults, taint=taint, rules=tuple(shuffled), hardline=hardline[::-1])
    decision = one.decide(question)
    assert decision == two.decide(question) == one.decide(question)
    assert one.revision == two.revision
    assert Decision.from_json(decision.as_json()) == decision


@settings(max_examples=50)
@given(defaults, rules(), rules([Effect.DENY], "h"), questions)
def test_the_overlay_only_tightens_and_provenance_stands_between(
    defaults: Any, rules: Any, hardline: Any, question: Question
) -> None:
    effects = {
        taint: Policy(defaults=defaults, taint=taint, rules=rules, hardline=hardline)
        .decide(question)
        .effect.rank
        for taint in ("off", "provenance", "ask")
    }
    assert effects["off"] <= effects["provenance"] <= effects["ask"]
    # Conditions may ask for taint themselves; without them a clean session is no stricter.
    plain = tuple(replace(rule, condition=None) for rule in rules)
    policy = Policy(defaults=defaults, rules=plain)
    clean = policy.decide(replace(question, tainted=False))
    assert clean.effect.rank <= policy.decide(replace(question, tainted=True)).effect.rank


@settings(max_examples=50)
@given(defaults, taints, rules(), rules([Effect.ASK, Effect.DENY], "x"), questions)
def test_adding_what_asks_or_denies_never_relaxes_a_decision_by_rules(
    defaults: Any, taint: str, rules: Any, more: Any, question: Question
) -> None:
    before = Policy(defaults=defaults, taint=taint, rules=rules).decide(question)
    after = Policy(defaults=defaults, taint=taint, rules=(*rules, *more)).decide(question)
    if before.rules or before.effect is not Effect.DENY:
        # A rule that asks replaces a default that denies: that is what it is written for.
        assert after.effect.rank >= before.effect.rank or not before.rules
    if before.effect is Effect.ALLOW:
        assert after.effect.rank >= before.effect.rank


@settings(max_examples=50)
@given(defaults, taints, rules(), rules([Effect.DENY], "h"), questions)
def test_nothing_relaxes_a_hardline_with_conditions_either(
    defaults: Any, taint: str, rules: Any, hardline: Any, question: Question
) -> None:
    alone = Policy(hardline=hardline).check_hardline(question)
    whole = Policy(defaults=defaults, taint=taint, rules=rules, hardline=hardline)
    decision = whole.decide(question)
    if alone is not None:
        assert decision.effect is Effect.DENY
        assert decision.code in (Code.DENIED_HARDLINE, Code.DENIED_RULE_ERROR)
        assert decision.rules == alone.rules


@settings(max_examples=50)
@given(defaults, taints, rules(), questions)
def test_an_error_never_widens(defaults: Any, taint: str, rules: Any, question: Question) -> None:
    policy = Policy(defaults=defaults, taint=taint, rules=rules)
    decision = policy.decide(question)
    failed = {rule.id: rule for rule in rules if rule.id in decision.errors}
    assert failed.keys() == set(decision.errors)
    if any(rule.effect is not Effect.ALLOW for rule in failed.values()):
        assert decision.effect is Effect.DENY
    assert not any(
        failed[rule_id].effect is Effect.ALLOW for rule_id in decision.rules if rule_id in failed
    )
    # Without the rules that failed, nothing stricter would have come out.
    rest = Policy(
        defaults=defaults,
        taint=taint,
        rules=tuple(rule for rule in rules if rule.id not in failed),
    ).decide(question)
    assert decision.effect.rank >= rest.effect.rank


@settings(max_examples=40)
@given(defaults, taints, rules(), rules([Effect.DENY], "h"), questions)
def test_an_explanation_agrees_with_the_decision(
    defaults: Any, taint: str, rules: Any, hardline: Any, question: Question
) -> None:
    policy = Policy(defaults=defaults, taint=taint, rules=rules, hardline=hardline)
    found = explain(policy, question)
    assert found.decision == policy.decide(question)
    matched = {one.rule for one in found.matched}
    assert matched.isdisjoint(one.rule for one in found.missed)
    assert matched >= set(found.decision.rules) - set(found.decision.errors)


fragments = st.sampled_from(
    [
        "args", "tool", "x", ".", "to", "name", "all", "has", "(", ")", "[", "]", "{", "}", ",",
        ":", "?", "&&", "||", "!", "==", "!=", "<", "in", "+", "-", "%", '"a"', "'b'", "1", "2.5",
        "true", "null", "size", "matches", "map", " ", "\n", "//", "\\", "é", "\u202e",
    ]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(fragments, max_size=14).map("".join))
def test_any_text_is_a_condition_that_answers_or_one_clear_fault(text: str) -> None:
    condition, said = _compiled(text)
    assert said.isprintable()
    if condition is None:
        return
    # What is accepted here is accepted by the library as it was written.
    cel.compile(text)
    question = Question(
        "t", "s", Classification(SideEffect.NONE, frozenset(), ""), "a", Principal("u"), {"to": 1}
    )
    answer = _answer(condition, question)
    assert isinstance(answer, bool) or answer.isprintable()


operands = st.sampled_from(
    ["args.a", 'args["b"]', "args.c", "1", "2.5", '"x"', "true", "null", "size(args.c)",
     "args.c.all(i, i == args.a)", "has(args.d)", "has(args.a)", "args.e.f", "[1, args.a]"]
)  # fmt: skip
operators = st.sampled_from(["==", "!=", "<", ">=", "&&", "||", "+", "in"])
expressions = st.recursive(
    operands,
    lambda inner: (
        st.builds(lambda a, o, b: f"({a} {o} {b})", inner, operators, inner)
        | inner.map(lambda text: f"!{text}")
    ),
    max_leaves=5,
)
values: st.SearchStrategy[Any] = st.sampled_from(
    [1, 2.5, "x", True, None, [1], ["x", 1], {"f": 1}, {"f": {"g": []}}]
)


@settings(max_examples=120)
@given(expressions, st.dictionaries(st.sampled_from("abcde"), values))
def test_handing_over_field_by_field_answers_as_the_library_does(text: str, given: Any) -> None:
    condition, _ = _compiled(text)
    if condition is None:
        return
    try:
        wanted: Any = cel.compile(text).execute(cel.Context(variables={"args": given}))
    except Exception:
        wanted = "failed"
    question = Question(
        "t", "s", Classification(SideEffect.NONE, frozenset(), ""), "a", Principal("u"), given
    )
    answer = _answer(condition, question)
    assert answer is wanted if isinstance(wanted, bool) else isinstance(answer, str)


def _compiled(text: str) -> tuple[CelCondition | None, str]:
    try:
        return compile_condition(text), ""
    except ConditionFault as fault:
        return None, fault.message


def _answer(condition: CelCondition, question: Question) -> bool | str:
    try:
        return condition.holds(CallView(question, ViewPlan(condition.needs)))
    except ConditionFailure as failure:
        return str(failure)
