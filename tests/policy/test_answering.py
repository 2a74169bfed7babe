"""A decision that asks says what it asks, how far an answer may reach, and who may not give it."""

from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    ConfigError,
    Decision,
    Effect,
    Flag,
    Principal,
    Question,
    Scope,
    SideEffect,
)
from toolkeeper_policy import GrantCondition, answerers, lets_through, load_policy, read_rules
from toolkeeper_policy.condition_token import ConditionFault

SEND = Classification(SideEffect.MESSAGE_SEND, frozenset(), "declaration")
QUESTION = Question(
    tool="mail.send",
    source="functions",
    classification=SEND,
    agent="chat",
    principal=Principal("ana"),
    arguments={"to": "bea"},
)


def decide(*rules: str, question: Question = QUESTION, taint: str = "ask") -> Decision:
    listed = "".join(f"  - {{{rule}}}\n" for rule in rules)
    text = f"version: 1\ntaint: {taint}\n" + (f"rules:\n{listed}" if rules else "")
    decision = load_policy([("policy.yaml", text)]).decide(question)
    assert Decision.from_json(decision.as_json()) == decision
    return decision


def test_what_asks_is_named() -> None:
    assert decide().asked_by == ("@default.message_send",)
    one, two = "id: one, tools: [mail.*], effect: ask", "id: two, agents: [chat], effect: ask"
    assert decide(two, one).asked_by == ("one", "two")
    other = "id: other, tools: [mail.*], when: 'args.to == \"eve\"', effect: ask"
    assert decide(one, other).asked_by == ("one",)


def test_nothing_is_asked_by_what_allows_or_denies() -> None:
    for effect in ("allow", "deny"):
        decision = decide(f"id: one, tools: [mail.*], effect: {effect}")
        assert (decision.asked_by, decision.scope) == ((), Scope.ONCE)
        assert "asked_by" not in decision.as_json()


@pytest.mark.parametrize("base", ["allow", "ask", None])
def test_the_overlay_is_a_question_of_its_own(base: str | None) -> None:
    rules = [f"id: one, tools: [mail.*], effect: {base}"] if base else []
    tainted = decide(*rules, question=replace(QUESTION, tainted=True))
    own = {"allow": (), "ask": ("one",), None: ("@default.message_send",)}[base]
    assert tainted.asked_by == (*own, "@taint")
    off = decide(*rules, question=replace(QUESTION, tainted=True), taint="off")
    assert off.asked_by == own


def test_a_read_that_could_carry_private_data_out_is_another_question() -> None:
    read = Classification(SideEffect.NETWORK_READ, frozenset({Flag.OPEN_WORLD}), "rule")
    question = replace(QUESTION, classification=read, tainted=True, private=True)
    assert decide(question=question).asked_by == ("@taint.private",)


@pytest.mark.parametrize(
    ("classification", "scope"),
    [
        (SEND, Scope.ALWAYS),
        (Classification(SideEffect.CODE_EXECUTION, frozenset(), "rule"), Scope.ALWAYS),
        (Classification(SideEffect.FINANCIAL, frozenset(), "rule"), Scope.ONCE),
        (replace(SEND, flags=frozenset({Flag.DESTRUCTIVE})), Scope.ONCE),
    ],
)
def test_what_is_dear_is_answered_call_by_call(
    classification: Classification, scope: Scope
) -> None:
    question = replace(QUESTION, classification=classification)
    ask = "id: one, tools: [mail.*], effect: ask"
    assert decide(ask, question=question).scope is scope
    for wanted in Scope:
        said = decide(f"{ask}, approval_scope: {wanted.value}", question=question)
        assert said.scope is wanted


def test_the_narrowest_of_the_asking_rules_holds() -> None:
    one = "id: one, tools: [mail.*], effect: ask, approval_scope: session"
    two = "id: two, tools: [mail.*], effect: ask, approval_scope: once"
    silent = "id: three, tools: [mail.*], effect: ask"
    assert decide(one, silent).scope is Scope.SESSION
    assert decide(one, two, silent).scope is Scope.ONCE


def test_who_asks_is_taken_out_of_those_who_may_answer() -> None:
    rule = "id: one, tools: [mail.*], effect: ask, exclude_requester: true, approvers: [ana, bo]"
    assert decide(rule).approvers == ("bo",)
    assert decide(rule).requester_excluded
    alone = decide(rule.replace("ana, bo", "ana"))
    assert (alone.effect, alone.asked_by) == (Effect.DENY, ())


def test_names_come_from_the_rules_then_the_agent_then_the_user() -> None:
    def names(decision: Decision, *approvers: str, excluded: bool = False) -> tuple[str, ...]:
        return answerers(decision, "ana", approvers=approvers, exclude_requester=excluded)

    plain = decide()
    ruled = decide("id: one, tools: [mail.*], effect: ask, approvers: [bo]")
    assert names(plain) == ("ana",)
    assert names(plain, "cleo", "ana") == ("cleo", "ana")
    assert names(ruled, "cleo") == ("bo",)
    assert names(plain, "cleo", "ana", excluded=True) == ("cleo",)
    assert names(plain, excluded=True) == ()


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("approval_scope: twice", "`twice`"),
        ("approval_scope: [once]", "approval_scope"),
        ("exclude_requester: 1", "true or false"),
        ("exclude_requester: 'yes'", "true or false"),
    ],
)
def test_what_is_no_such_clause_is_an_error_with_its_line(clause: str, words: str) -> None:
    text = f"version: 1\nrules:\n  - {{id: one, tools: [a], effect: ask, {clause}}}\n"
    with pytest.raises(ConfigError, match=words) as raised:
        read_rules(text, "policy.yaml")
    assert raised.value.line == 3


@pytest.mark.parametrize("clause", ["approval_scope: once", "exclude_requester: true"])
@pytest.mark.parametrize("part", ["rules", "hardline"])
def test_a_rule_that_denies_asks_nobody(part: str, clause: str) -> None:
    text = f"version: 1\n{part}:\n  - {{id: one, tools: [a], effect: deny, {clause}}}\n"
    with pytest.raises(ConfigError, match="asks nobody"):
        read_rules(text, "policy.yaml")


def test_the_clauses_are_part_of_the_revision() -> None:
    rule = "id: one, tools: [mail.*], effect: ask"
    revisions = {
        decide(f"{rule}{more}").revision
        for more in ("", ", approval_scope: once", ", exclude_requester: true")
    }
    assert len(revisions) == 3


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (None, True),
        ('args.to == "bea"', True),
        ('args.to == "eve"', False),
        ('args.cc == "eve"', False),
        ("args.to", False),
        ("args.to ==", False),
        ("args.to > 7", False),
        ('principal.user == "ana" && call.hour < 25', False),
    ],
)
def test_a_condition_lets_through_what_it_holds_of_and_nothing_else(
    text: str | None, holds: bool
) -> None:
    # Of a call at no known moment it cannot be said which hour it is.
    assert lets_through(text, QUESTION) is holds


@pytest.mark.parametrize("text", ["1 == 1", "true", "size('a') == 1"])
def test_a_condition_that_says_the_same_of_every_call_is_none(text: Any) -> None:
    with pytest.raises(ConditionFault):
        GrantCondition(text)
