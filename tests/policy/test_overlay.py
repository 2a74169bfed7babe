"""How does what a session has read tighten a decision?"""

from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Code,
    Effect,
    Flag,
    Origin,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import Policy, Rule

CHANGING = [side_effect for side_effect in SideEffect if not side_effect.reads]
READING = [side_effect for side_effect in SideEffect if side_effect.reads]
ALLOW_ALL = dict.fromkeys(SideEffect, Effect.ALLOW)


class Heard:
    """Origins by value; everything else is from nowhere."""

    def __init__(self, **values: str) -> None:
        self._origins = {
            value: Origin(name) for name, text in values.items() for value in text.split()
        }

    def origin(self, value: Any) -> Origin:
        return self._origins.get(str(value), Origin.NOWHERE)


class Broken:
    def origin(self, value: Any) -> Origin:
        raise RuntimeError("lost")


def question(
    side_effect: SideEffect = SideEffect.MESSAGE_SEND,
    flags: frozenset[Flag] = frozenset(),
    *,
    destination: tuple[str, ...] = (),
    payload: tuple[str, ...] = (),
    **fields: Any,
) -> Question:
    asked = Question(
        tool="mail.send",
        source="functions",
        classification=Classification(
            side_effect, flags, "declaration", destination=destination, payload=payload
        ),
        agent="chat",
        principal=Principal("ana"),
        arguments={"to": "eve@example.com"},
        tainted=True,
    )
    return replace(asked, **fields)


def policy(taint: str = "ask", *rules: Rule, hardline: tuple[Rule, ...] = ()) -> Policy:
    return Policy(defaults=ALLOW_ALL, taint=taint, rules=rules, hardline=hardline)


@pytest.mark.parametrize("side_effect", CHANGING)
def test_in_a_tainted_session_what_changes_is_asked(side_effect: SideEffect) -> None:
    decision = policy().decide(question(side_effect))
    assert (decision.effect, decision.taint) == (Effect.ASK, ("tainted",))
    assert "untrusted text" in decision.reasons[-1]
    clean = policy().decide(question(side_effect, tainted=False))
    assert (clean.effect, clean.taint) == (Effect.ALLOW, ())
    private = policy().decide(question(side_effect, tainted=False, private=True))
    assert (private.effect, private.taint) == (Effect.ALLOW, ("private",))
    off = policy("off").decide(question(side_effect, private=True))
    assert (off.effect, off.taint) == (Effect.ALLOW, ("tainted", "private"))


@pytest.mark.parametrize("side_effect", READING)
def test_open_world_reads_are_asked_when_private_data_could_leave(side_effect: SideEffect) -> None:
    world = frozenset({Flag.OPEN_WORLD})
    assert policy().decide(question(side_effect, world)).effect is Effect.ALLOW
    both = policy().decide(question(side_effect, world, private=True))
    assert (both.effect, both.taint) == (Effect.ASK, ("tainted", "private"))
    assert "carry data out" in both.reasons[-1]
    assert policy().decide(question(side_effect, private=True)).effect is Effect.ALLOW


def test_a_rule_that_allows_is_tightened_too_and_its_approvers_are_asked() -> None:
    rule = Rule("open", Effect.ALLOW, tools=("mail.send",), approvers=("ana", "ops"))
    decision = policy("ask", rule).decide(question())
    assert (decision.effect, decision.rules) == (Effect.ASK, ("open",))
    assert decision.approvers == ("ana", "ops")


def test_rules_whose_approvers_agree_on_nobody_end_in_a_denial() -> None:
    rules = (
        Rule("a", Effect.ALLOW, tools=("mail.send",), approvers=("ana",)),
        Rule("b", Effect.ALLOW, tools=("mail.send",), approvers=("ops",)),
    )
    decision = policy("ask", *rules).decide(question())
    assert (decision.effect, decision.code) == (Effect.DENY, Code.DENIED_TRUST)
    assert decision.approvers is None


def test_a_rule_may_stand_despite_taint() -> None:
    rule = Rule("open", Effect.ALLOW, tools=("mail.send",), despite_taint=True)
    decision = policy("ask", rule).decide(question())
    assert (decision.effect, decision.taint) == (Effect.ALLOW, ("tainted",))
    assert "despite that" in decision.reasons[-1]
    ask = Rule("careful", Effect.ASK, tools=("mail.send",))
    assert policy("ask", rule, ask).decide(question()).effect is Effect.ASK


def test_a_rule_that_does_not_decide_excuses_nothing() -> None:
    rule = Rule("open", Effect.ALLOW, tools=("mail.read",), despite_taint=True)
    assert policy("ask", rule).decide(question()).effect is Effect.ASK


def test_a_denial_stays_and_a_hardline_comes_last() -> None:
    deny = Rule("no", Effect.DENY, tools=("mail.send",))
    decision = policy("ask", deny).decide(question())
    assert (decision.effect, decision.code) == (Effect.DENY, Code.DENIED_POLICY)
    hard = policy("provenance", hardline=(deny,)).decide(question())
    assert (hard.code, hard.taint) == (Code.DENIED_HARDLINE, ("tainted",))


@pytest.mark.parametrize("origin", ["user", "trusted"])
def test_provenance_lets_pass_what_the_user_or_a_trusted_result_named(origin: str) -> None:
    heard = Heard(**{origin: "eve@example.com"})
    decision = policy("provenance").decide(question(provenance=heard))
    assert decision.effect is Effect.ALLOW
    assert decision.origins == {"/to": origin}
    assert "the user's own or from trusted results" in decision.reasons[-1]


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        (Heard(untrusted="eve@example.com"), "untrusted text only"),
        (Heard(), "nowhere"),
        (Broken(), "nowhere"),
        (None, "nowhere"),
    ],
)
def test_provenance_asks_for_what_nobody_is_known_to_have_named(heard: Any, words: str) -> None:
    decision = policy("provenance").decide(question(provenance=heard))
    assert decision.effect is Effect.ASK
    assert words in decision.reasons[-1]
    assert "`/to`" in decision.reasons[-1]
    assert "eve@example.com" not in " ".join(decision.reasons)


def test_without_taint_provenance_is_not_asked_for() -> None:
    decision = policy("provenance").decide(question(tainted=False))
    assert (decision.effect, decision.origins) == (Effect.ALLOW, {})


HEARD = Heard(user="eve@example.com hello-there Bob 1234567 13", untrusted="evil@example.com")


@pytest.mark.parametrize(
    ("arguments", "effect"),
    [
        ({"to": "eve@example.com", "body": "hello-there"}, Effect.ALLOW),
        ({"to": ["eve@example.com", "evil@example.com"]}, Effect.ASK),
        ({"to": {"name": [{"deep": "evil@example.com"}]}}, Effect.ASK),
        ({"to": {"name": [{"deep": "eve@example.com"}]}}, Effect.ALLOW),
        ({"to": "eve@example.com", "urgent": True, "cc": None, "bcc": []}, Effect.ALLOW),
        ({"to": "Bob"}, Effect.ASK),
        ({"to": ""}, Effect.ASK),
        ({"to": "eve@example.com", "amount": 1234567}, Effect.ASK),
        ({"to": "eve@example.com", "amount": 13.0}, Effect.ASK),
        ({}, Effect.ASK),
        ({"urgent": True}, Effect.ASK),
        ({"to": []}, Effect.ASK),
    ],
)
def test_every_text_and_number_counts_at_any_depth(arguments: Any, effect: Effect) -> None:
    asked = question(arguments=arguments, provenance=HEARD)
    assert policy("provenance").decide(asked).effect is effect


@pytest.mark.parametrize(
    ("arguments", "effect"),
    [
        ({"to": "eve@example.com", "subject": "whatever"}, Effect.ALLOW),
        ({"to": "eve@example.com", "body": "made up", "subject": "whatever"}, Effect.ASK),
        ({"to": "eve@example.com", "body": "hello-there", "n": 3}, Effect.ALLOW),
        ({"body": "hello-there"}, Effect.ALLOW),
        ({"subject": "eve@example.com"}, Effect.ASK),
        ({"to": None, "body": {}}, Effect.ASK),
    ],
)
def test_a_classification_names_the_arguments_that_count(arguments: Any, effect: Effect) -> None:
    asked = question(
        destination=("to", "cc"), payload=("body",), arguments=arguments, provenance=HEARD
    )
    assert policy("provenance").decide(asked).effect is effect


class Anything:
    def origin(self, value: Any) -> Origin:
        return Origin.USER


@pytest.mark.parametrize("text", ["abc", " a b ", "a\u200b\u200b\u200b\u200bb", "\u0301\u0301ab"])
def test_short_texts_are_never_positive_however_they_are_padded(text: str) -> None:
    asked = question(arguments={"to": text}, provenance=Anything())
    decision = policy("provenance").decide(asked)
    assert decision.effect is Effect.ASK
    assert "too short to be sure of" in decision.reasons[-1]


def test_pointers_are_escaped_and_hostile_names_are_not_printed_raw() -> None:
    asked = question(arguments={"a/b~c": "x", "\x1b[31m\n": ["y"]})
    decision = policy("provenance").decide(asked)
    assert set(decision.origins) == {"/a~1b~0c", "/\x1b[31m\n/0"}
    assert all(reason.isprintable() for reason in decision.reasons)


def test_only_so_many_origins_are_kept_and_the_doubtful_ones_first() -> None:
    values = {f"a{at}": "eve@example.com" for at in range(200)}
    asked = question(arguments={**values, "z": "evil@example.com"}, provenance=HEARD)
    decision = policy("provenance").decide(asked)
    assert len(decision.origins) == 64
    assert decision.origins["/z"] == "untrusted"
