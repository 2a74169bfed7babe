"""How is one call decided?"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Code,
    ConfigError,
    Effect,
    Flag,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import DEFAULTS, CallView, Policy, Rule, default_policy, load_policy


@dataclass(frozen=True)
class Answers:
    """A condition that answers, or fails, as it is told."""

    answer: Any
    text: str = "told"
    zone: str = "UTC"

    def holds(self, view: CallView) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


def question(
    tool: str = "notes.add",
    side_effect: SideEffect = SideEffect.WORKSPACE_WRITE,
    flags: frozenset[Flag] = frozenset(),
    **fields: Any,
) -> Question:
    asked = Question(
        tool=tool,
        source="functions",
        classification=Classification(side_effect, flags, "declaration"),
        agent="chat",
        principal=Principal("ana", frozenset({"notes"})),
        arguments={},
    )
    return replace(asked, **fields)


def rule(rule_id: str, effect: str, **selectors: Any) -> Rule:
    return Rule(rule_id, Effect(effect), **selectors)


def policy(*rules: Rule, hardline: tuple[Rule, ...] = ()) -> Policy:
    return Policy(rules=rules, hardline=hardline)


NAMED = {"tools": ("notes.add",)}


@pytest.mark.parametrize("side_effect", list(SideEffect))
def test_without_a_rule_the_class_default_decides(side_effect: SideEffect) -> None:
    decision = default_policy().decide(question(side_effect=side_effect))
    assert decision.effect is DEFAULTS[side_effect]
    assert decision.rules == ()
    assert side_effect.value in decision.reasons[0]
    assert decision.code is (Code.DENIED_POLICY if side_effect is SideEffect.FINANCIAL else None)


def test_a_matching_rule_replaces_the_default_even_when_it_is_laxer() -> None:
    decision = policy(rule("open", "allow", **NAMED)).decide(question())
    assert decision.effect is Effect.ALLOW
    assert decision.rules == ("open",)
    assert decision.reasons == ("rule `open` allows it",)


def test_the_most_restrictive_matching_rule_decides_and_all_with_its_effect_are_named() -> None:
    rules = [
        rule("d", "ask", **NAMED),
        rule("a", "allow", **NAMED),
        rule("c", "ask", side_effects=frozenset({SideEffect.WORKSPACE_WRITE})),
        rule("z", "deny", tools=("notes.remove",)),
    ]
    decision = policy(*rules).decide(question())
    assert (decision.effect, decision.rules) == (Effect.ASK, ("c", "d"))
    assert policy(*rules[::-1]).decide(question()) == decision
    denied = policy(*rules, rule("e", "deny", tools=("notes.*",))).decide(question())
    assert (denied.effect, denied.rules, denied.code) == (Effect.DENY, ("e",), Code.DENIED_POLICY)


@pytest.mark.parametrize(
    "selectors",
    [
        {"tools": ("add",)},
        {"tools": ("Notes.Add",)},
        {"tools": ("notes_add",)},
        {"tools": ("notes.a",)},
        {"tools": ("notes.add.*",)},
        {"sources": ("notes",)},
        {"agents": frozenset({"Chat"})},
        {"users": frozenset({"eve"})},
        {"scopes": frozenset({"mail"})},
        {"flags": frozenset({Flag.PRIVATE})},
        {"side_effects": frozenset({SideEffect.NETWORK_WRITE})},
        {"tools": ("notes.add",), "users": frozenset({"eve"})},
    ],
)
def test_a_near_miss_does_not_match(selectors: dict[str, Any]) -> None:
    assert policy(rule("x", "deny", **selectors)).decide(question()).rules == ()


@pytest.mark.parametrize(
    "selectors",
    [
        {"tools": ("other", "notes.add")},
        {"tools": ("*",)},
        {"tools": ("n*d",)},
        {"sources": ("functions", "git")},
        {"agents": frozenset({"chat", "work"})},
        {"users": frozenset({"ana"})},
        {"scopes": frozenset({"mail", "notes"})},
        {"side_effects": frozenset({SideEffect.WORKSPACE_WRITE})},
        {"tools": ("notes.*",), "agents": frozenset({"chat"}), "sources": ("functions",)},
    ],
)
def test_a_rule_matches_when_every_selector_fits(selectors: dict[str, Any]) -> None:
    assert policy(rule("x", "deny", **selectors)).decide(question()).rules == ("x",)


def test_an_allow_rule_must_name_the_financial_class() -> None:
    pay = question("pay", SideEffect.FINANCIAL)
    vague = policy(rule("x", "allow", tools=("pay",))).decide(pay)
    assert (vague.effect, vague.rules) == (Effect.DENY, ())
    assert (
        "rule `x` does not count, because it does not name the class `financial`" in vague.reasons
    )
    financial = frozenset({SideEffect.FINANCIAL, SideEffect.NETWORK_READ})
    exact = policy(rule("x", "allow", tools=("pay",), side_effects=financial)).decide(pay)
    assert exact.effect is Effect.ALLOW


def test_an_allow_rule_must_name_the_destructive_flag() -> None:
    wipe = question(flags=frozenset({Flag.DESTRUCTIVE, Flag.OPEN_WORLD}))
    vague = policy(rule("x", "allow", **NAMED, flags=frozenset({Flag.OPEN_WORLD}))).decide(wipe)
    assert (vague.effect, vague.rules) == (Effect.ASK, ())
    assert "flag `destructive`" in vague.reasons[-1]
    exact = policy(rule("x", "allow", **NAMED, flags=frozenset({Flag.DESTRUCTIVE})))
    assert exact.decide(wipe).effect is Effect.ALLOW


def test_a_call_that_is_both_needs_both_named() -> None:
    both = question("pay", SideEffect.FINANCIAL, frozenset({Flag.DESTRUCTIVE}))
    only_class = rule("x", "allow", side_effects=frozenset({SideEffect.FINANCIAL}))
    assert policy(only_class).decide(both).effect is Effect.DENY
    named = replace(only_class, flags=frozenset({Flag.DESTRUCTIVE}))
    assert policy(named).decide(both).effect is Effect.ALLOW


def test_an_asking_rule_need_not_name_anything() -> None:
    pay = question("pay", SideEffect.FINANCIAL, frozenset({Flag.DESTRUCTIVE}))
    assert policy(rule("x", "ask", tools=("pay",))).decide(pay).effect is Effect.ASK


def test_a_hardline_denies_whatever_the_rules_say() -> None:
    hard = rule("never", "deny", **NAMED)
    decision = policy(rule("open", "allow", **NAMED), hardline=(hard,)).decide(question())
    assert (decision.effect, decision.code) == (Effect.DENY, Code.DENIED_HARDLINE)
    assert decision.rules == ("never",)
    only = policy(hardline=(hard,)).check_hardline(question())
    assert only is not None
    assert only.code is Code.DENIED_HARDLINE
    assert policy(hardline=(hard,)).check_hardline(question("other")) is None


@pytest.mark.parametrize(
    "answer", [ValueError("secret"), KeyError("to"), RecursionError(), None, "maybe", 1, "deny"]
)
@pytest.mark.parametrize("effect", ["ask", "deny"])
def test_a_tightening_rule_that_fails_denies_and_names_itself(answer: Any, effect: str) -> None:
    rules = (
        rule("open", "allow", **NAMED),
        rule("broken", effect, **NAMED, condition=Answers(answer)),
    )
    decision = policy(*rules).decide(question())
    assert (decision.effect, decision.code) == (Effect.DENY, Code.DENIED_RULE_ERROR)
    assert decision.rules == decision.errors == ("broken",)
    assert "secret" not in " ".join(decision.reasons)


def test_an_allow_rule_that_fails_does_not_match_but_is_recorded() -> None:
    broken = rule("broken", "allow", **NAMED, condition=Answers(ValueError()))
    decision = policy(broken).decide(question())
    assert (decision.effect, decision.rules, decision.errors) == (Effect.ASK, (), ("broken",))


def test_a_real_denial_outranks_a_failure_which_is_still_recorded() -> None:
    rules = (
        rule("broken", "ask", **NAMED, condition=Answers(None)),
        rule("no", "deny", **NAMED),
    )
    decision = policy(*rules).decide(question())
    assert (decision.code, decision.rules) == (Code.DENIED_POLICY, ("no",))
    assert decision.errors == ("broken",)


def test_a_hardline_that_fails_denies() -> None:
    broken = rule("never", "deny", **NAMED, condition=Answers(None))
    decision = policy(rule("open", "allow", **NAMED), hardline=(broken,)).decide(question())
    assert (decision.effect, decision.code) == (Effect.DENY, Code.DENIED_RULE_ERROR)
    assert decision.errors == ("never",)


def test_a_condition_decides_whether_its_rule_matches() -> None:
    assert policy(rule("x", "deny", **NAMED, condition=Answers(True))).decide(question()).rules
    missed = policy(rule("x", "deny", **NAMED, condition=Answers(False))).decide(question())
    assert (missed.rules, missed.errors) == ((), ())


def test_approvers_are_those_whom_every_asking_rule_accepts() -> None:
    one = rule("a", "ask", **NAMED, approvers=("ana", "ops"))
    two = rule("b", "ask", **NAMED, approvers=("ops", "eve"))
    free = rule("c", "ask", **NAMED)
    assert policy(free).decide(question()).approvers is None
    assert policy(one, free).decide(question()).approvers == ("ana", "ops")
    assert policy(one, two).decide(question()).approvers == ("ops",)


def test_demands_that_nobody_satisfies_deny() -> None:
    one = rule("a", "ask", **NAMED, approvers=("ana",))
    two = rule("b", "ask", **NAMED, approvers=("ops",))
    decision = policy(one, two).decide(question())
    assert (decision.effect, decision.code) == (Effect.DENY, Code.DENIED_POLICY)
    assert decision.rules == ("a", "b")
    assert decision.approvers is None


def test_only_an_unconditional_deny_hides_a_tool() -> None:
    deny = rule("x", "deny", tools=("notes.*",), agents=frozenset({"chat"}))
    assert policy(deny).hides(question())
    assert not policy(deny).hides(question(agent="work"))
    assert not policy(deny).hides(question("mail.send"))
    assert not policy(replace(deny, condition=Answers(True))).hides(question())


def test_a_hardline_is_there_to_be_met_and_hides_nothing() -> None:
    assert not policy(hardline=(rule("x", "deny", **NAMED),)).hides(question())


def test_neither_asking_nor_a_class_default_hides_a_tool() -> None:
    assert not policy(rule("x", "ask", **NAMED)).hides(question())
    assert not default_policy().hides(question("pay", SideEffect.FINANCIAL))


def test_a_policy_made_by_hand_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="taken already") as caught:
        policy(rule("x", "ask", **NAMED), hardline=(rule("x", "deny", **NAMED),))
    assert caught.value.code is Code.POLICY_INVALID
    with pytest.raises(ConfigError, match="does not deny"):
        policy(hardline=(rule("x", "ask", **NAMED),))


def test_every_decision_names_the_revision() -> None:
    first = policy(rule("x", "ask", **NAMED))
    assert first.decide(question()).revision == first.revision
    assert first.decide(question("other")).revision == first.revision
    assert len(first.revision) == 64


NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("effect", ["allow", "ask", "deny"])
def test_a_rule_holds_until_it_expires(effect: str) -> None:
    until = policy(rule("x", effect, **NAMED, expires=NOON))
    before = until.decide(question(at=NOON - timedelta(seconds=1)))
    assert (before.effect, before.rules) == (Effect(effect), ("x",))
    after = until.decide(question(at=NOON))
    assert (after.effect, after.rules) == (Effect.ASK, ())
    assert any("has expired" in reason for reason in after.reasons) is (effect != "allow")


def test_without_a_moment_an_expiring_rule_never_widens() -> None:
    later = NOON + timedelta(days=10_000)
    allow = policy(rule("x", "allow", **NAMED, expires=later))
    assert allow.decide(question()).rules == ()
    deny = policy(rule("x", "deny", **NAMED, expires=NOON))
    assert deny.decide(question()).rules == ("x",)


@pytest.mark.parametrize(
    ("wanted", "attributes", "matches"),
    [
        ({"site": ("*",)}, {"site": "x"}, True),
        ({"site": ("*",)}, {"site": 0}, True),
        ({"site": ("*",)}, {"site": None}, False),
        ({"site": ("*",)}, {}, False),
        ({"site": ("https://*.example/*",)}, {"site": "https://a.example/b"}, True),
        ({"site": ("https://*.example/*",)}, {"site": "http://a.example/b"}, False),
        ({"site": ("a", "b")}, {"site": "b"}, True),
        ({"site": ("a",)}, {"site": "A"}, False),
        ({"n": (1,)}, {"n": 1.0}, True),
        ({"n": (1,)}, {"n": True}, False),
        ({"n": (True,)}, {"n": 1}, False),
        ({"n": (False,)}, {"n": False}, True),
        ({"n": ("1",)}, {"n": 1}, False),
        ({"a": ("*",), "b": ("*",)}, {"a": "x"}, False),
        ({"a": ("x",)}, {"a": ["x"]}, False),
    ],
)
def test_a_rule_may_ask_for_attributes_of_the_session(
    wanted: Any, attributes: Any, matches: bool
) -> None:
    asked = policy(rule("x", "deny", attributes=wanted))
    assert bool(asked.decide(question(attributes=attributes)).rules) is matches
    assert not asked.hides(question(attributes=attributes))


def test_a_rule_that_expires_hides_nothing() -> None:
    assert not policy(rule("x", "deny", **NAMED, expires=NOON)).hides(question(at=NOON))


@pytest.mark.parametrize("effect", ["ask", "deny"])
def test_only_an_allow_rule_stands_despite_taint(effect: str) -> None:
    with pytest.raises(ConfigError, match="despite_taint"):
        policy(rule("x", effect, **NAMED, despite_taint=True))


def test_a_hardline_cannot_expire() -> None:
    with pytest.raises(ConfigError, match="holds for good"):
        policy(hardline=(rule("x", "deny", **NAMED, expires=NOON),))


def test_a_failing_rule_says_why_and_quotes_nothing() -> None:
    text = "rules:\n  - {id: far, when: args.to == 'x', effect: deny}\n"
    decision = load_policy([("p.yaml", text)]).decide(question(arguments={"secret": "value"}))
    assert decision.code is Code.DENIED_RULE_ERROR
    assert decision.reasons == (
        "rule `far` could not be evaluated: something that it reads is missing",
    )
    lax = text.replace("deny", "allow")
    allowed = load_policy([("p.yaml", lax)]).decide(question())
    assert (allowed.effect, allowed.rules, allowed.errors) == (Effect.ASK, (), ("far",))
    assert "rule `far` does not count: something that it reads is missing" in allowed.reasons


def test_conditions_that_ask_for_origins_put_them_on_the_decision() -> None:
    text = "rules:\n  - {id: far, when: origin(args.to) == 'user', effect: allow}\n"
    decision = load_policy([("p.yaml", text)]).decide(
        question(arguments={"to": ["a@example.com", 7], "body": "x"})
    )
    assert decision.origins == {"/to/0": "nowhere", "/to/1": "nowhere"}


def test_a_hardline_denial_still_records_the_rules_that_failed() -> None:
    broken = rule("broken", "allow", **NAMED, condition=Answers(None))
    decision = policy(broken, hardline=(rule("never", "deny", **NAMED),)).decide(question())
    assert (decision.code, decision.rules) == (Code.DENIED_HARDLINE, ("never",))
    assert decision.errors == ("broken",)
