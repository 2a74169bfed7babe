"""A standing approval lets through what it was given for, and nothing else."""

from datetime import timedelta
from typing import Any

import pytest

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper_contract import ConfigError, Scope

MAIL = ("mail.send", {"to": "bea@example.com"})


def test_a_grant_approves_its_own_call_once_and_the_like_of_it_from_then_on(place: Any) -> None:
    row = place.ask(*MAIL)
    grant = place.grant(row)
    (first,) = place.resume()
    (again,) = place.call(("mail.send", {"to": "cleo@example.com"}))
    assert (first.outcome, first.approval_id, first.grant_id) == (
        "completed",
        row.approval_id,
        None,
    )
    assert (again.outcome, again.approval_id, again.grant_id) == (
        "completed",
        None,
        grant.grant_id,
    )
    assert again.decision.effect == "ask"
    assert place.effects == [("send", "bea@example.com"), ("send", "cleo@example.com")]
    claimed = place.events("call.claimed")
    assert [each["grant_id"] for each in claimed] == [None, grant.grant_id]
    (given,) = place.events("grant.given")
    assert (given["grant_id"], given["by"], given["scope"]) == (grant.grant_id, "ana", "always")
    (answered,) = place.events("approval.answered")
    assert (answered["scope"], answered["grant_id"]) == ("always", grant.grant_id)


def test_a_grant_for_a_session_holds_in_that_session_alone(place: Any) -> None:
    row = place.ask(*MAIL)
    place.grant(row, Scope.SESSION)
    (same,) = place.call(MAIL, session=row.session_id)
    (other,) = place.call(MAIL)
    # The first equal call spends the answer that was for one call; the next is the grant's.
    (third,) = place.call(MAIL, session=row.session_id)
    assert same.outcome == third.outcome == "completed"
    assert third.grant_id
    assert other.outcome == "suspended"


@pytest.mark.parametrize(
    ("name", "arguments", "more"),
    [
        ("mail.send", {"to": "x"}, {"user": "bo"}),
        ("mail.send", {"to": "x"}, {"agent": "desk"}),
        ("crm.lookup", {"name": "x"}, {}),
    ],
)
def test_another_user_agent_or_tool_is_asked_about(
    place: Any, name: str, arguments: Any, more: Any
) -> None:
    place.grant(place.ask(*MAIL))
    (row,) = place.call((name, arguments), **more)
    assert row.outcome == "suspended"


def test_a_definition_that_changed_is_asked_about_anew(place: Any) -> None:
    place.grant(place.ask(*MAIL))
    place.description = "Send a mail, and a copy to everybody."
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"


def test_it_holds_until_its_time_is_over(place: Any) -> None:
    place.grant(place.ask(*MAIL), lasting=timedelta(hours=2))
    place.clock.advance(hours=1)
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "completed"
    place.clock.advance(hours=1)
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"


def test_without_a_time_it_holds_for_thirty_days_and_in_a_session_for_one(place: Any) -> None:
    always = place.grant(place.ask(*MAIL))
    session = place.grant(place.ask("crm.lookup", {"name": "x"}), Scope.SESSION)
    assert always.expires_at - always.granted_at == timedelta(days=30)
    assert session.expires_at - session.granted_at == timedelta(hours=24)
    place.configure(limits=_limits(grant_expiry=3600.0))
    short = place.grant(place.ask("lookup", {"name": "x"}), Scope.SESSION)
    assert short.expires_at - short.granted_at == timedelta(hours=1)


def test_a_longest_time_that_is_shortened_ends_what_was_given_before(place: Any) -> None:
    place.grant(place.ask(*MAIL))
    place.clock.advance(hours=3)
    place.configure(limits=_limits(grant_expiry=7200.0))
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"


def test_a_revoked_grant_lets_nothing_through(place: Any) -> None:
    grant = place.grant(place.ask(*MAIL))
    ended = place.do(lambda keeper: keeper.desk().revoke(grant.grant_id))
    assert (ended.revoked_by, ended.state(place.clock.now())) == ("ana", "revoked")
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"
    (told,) = place.events("grant.revoked")
    assert (told["grant_id"], told["by"]) == (grant.grant_id, "ana")
    with pytest.raises(NotAnswerable, match="already revoked by `ana` at"):
        place.do(lambda keeper: keeper.desk().revoke(grant.grant_id))
    assert place.do(lambda keeper: keeper.desk().grants()) == []
    assert len(place.do(lambda keeper: keeper.desk().grants(all=True))) == 1


def test_revoked_between_the_look_and_the_claim_it_lets_nothing_through(place: Any) -> None:
    grant = place.grant(place.ask(*MAIL))

    async def work(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn()
        ledger, desk = keeper.ledger, keeper.desk()
        look = ledger.usable_grants
        looks = []

        async def usable(**wanted: Any) -> Any:
            found = await look(**wanted)
            looks.append(found)
            if len(looks) == 1:
                await desk.revoke(grant.grant_id)
            return found

        ledger.usable_grants = usable
        try:
            return (await turn.call(turn.read("c", "mail.send", {"to": "x"}))).row, looks
        finally:
            del ledger.usable_grants

    row, looks = place.do(work)
    assert [len(found) for found in looks] == [1, 0]
    assert row.outcome == "suspended"
    assert place.effects == []


def test_whoever_gave_it_has_to_be_entitled_still(place: Any) -> None:
    place.configure(approvers=("ana", "bo"))
    place.grant(place.ask(*MAIL), by="bo")
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "completed"
    place.configure(approvers=("ana",))
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"


@pytest.mark.parametrize(
    ("to", "outcome"), [("dora@example.com", "completed"), ("dora@example.org", "suspended")]
)
def test_a_condition_is_about_every_call(place: Any, to: str, outcome: str) -> None:
    place.grant(place.ask(*MAIL), condition='args.to.endsWith("@example.com")')
    assert place.call(("mail.send", {"to": to}))[0].outcome == outcome


@pytest.mark.parametrize("condition", ['args.text == "hello"', "size(args.text) < 10"])
def test_a_condition_that_cannot_be_evaluated_lets_nothing_through(
    place: Any, condition: str
) -> None:
    place.grant(place.ask("mail.send", {"to": "bea", "text": "hello"}), condition=condition)
    assert place.call(("mail.send", {"to": "x", "text": "hello"}))[0].outcome == "completed"
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"


@pytest.mark.parametrize(
    ("condition", "error", "words"),
    [
        ("args.to ==", ConfigError, "condition"),
        ("1 == 1", ConfigError, "the same of every call"),
        ("true", ConfigError, "the same of every call"),
        ('args.too == "x"', ConfigError, "argument `too`"),
        ("nothing.to == 1", ConfigError, "nothing"),
        ('args.to == "cleo"', NotAnswerable, "does not hold for this very call"),
        ('args.text == "x"', NotAnswerable, "cannot be evaluated"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused_and_the_call_stays_parked(
    place: Any, condition: str, error: Any, words: str
) -> None:
    row = place.ask(*MAIL)
    with pytest.raises(error, match=words):
        place.grant(row, condition=condition)
    assert place.do(lambda keeper: keeper.desk().grants(all=True)) == []
    place.answer(row)
    assert place.resume()[0].outcome == "completed"


def test_a_time_beyond_the_longest_is_refused(place: Any) -> None:
    row = place.ask(*MAIL)
    with pytest.raises(ConfigError, match="720 hours at most"):
        place.grant(row, lasting=timedelta(days=31))
    with pytest.raises(ConfigError, match="some time"):
        place.grant(row, lasting=timedelta(0))


RULES = """
version: 1
rules:
  - {id: mails, tools: [mail.send], effect: ask}
"""
MORE = RULES + "  - {id: strangers, tools: [mail.send], when: 'args.to != \"bea\"', effect: ask}\n"


def test_it_answers_the_questions_it_was_given_for_and_no_other(place: Any) -> None:
    place.policy = RULES
    grant = place.grant(place.ask("mail.send", {"to": "bea"}))
    assert grant.rules == ("mails",)
    place.policy = MORE
    assert place.call(("mail.send", {"to": "bea"}))[0].outcome == "completed"
    (row,) = place.call(("mail.send", {"to": "cleo"}))
    assert row.outcome == "suspended"
    both = place.grant(row)
    assert set(both.rules) == {"mails", "strangers"}
    assert place.call(("mail.send", {"to": "dora"}))[0].grant_id == both.grant_id


def test_a_rule_that_takes_over_from_the_default_asks_anew(place: Any) -> None:
    assert place.grant(place.ask(*MAIL)).rules == ("@default.message_send",)
    place.policy = RULES
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "suspended"


def test_it_satisfies_a_question_and_nothing_else(place: Any) -> None:
    place.grant(place.ask(*MAIL))
    place.policy = "version: 1\nhardline:\n  - {id: never, tools: [mail.send], effect: deny}\n"
    (row,) = place.call(("mail.send", {"to": "x"}))
    assert (row.outcome, row.code) == ("refused", "tool.denied.hardline")
    place.policy = RULES + "  - {id: nope, when: 'args.to == \"x\"', effect: deny}\n"
    (row,) = place.call(("mail.send", {"to": "x"}))
    assert (row.outcome, row.code) == ("refused", "tool.denied.policy")


@pytest.mark.parametrize("despite", [False, True])
def test_what_strangers_wrote_is_asked_about_unless_the_grant_says_so(
    place: Any, despite: bool
) -> None:
    place.grant(place.ask(*MAIL), despite_taint=despite)
    read, sent = place.call(("web.read", {"url": "http://x"}), ("mail.send", {"to": "x"}))
    assert read.outcome == "completed"
    assert sent.outcome == ("completed" if despite else "suspended")
    if not despite:
        assert "@taint" in sent.decision.asked_by
        # Who answers this question has seen that one, so their grant is for it too.
        place.grant(sent)
        _, third = place.call(("web.read", {"url": "http://x"}), ("mail.send", {"to": "y"}))
        assert third.outcome == "completed"


def test_what_destroys_is_answered_call_by_call_unless_a_rule_says_otherwise(place: Any) -> None:
    row = place.ask("disk.wipe", {"disk": "a"})
    with pytest.raises(NotAnswerable, match="`once` at most"):
        place.grant(row)
    place.policy = """
version: 1
rules:
  - {id: wipes, flags: [destructive], effect: ask, approval_scope: session}
"""
    row = place.ask("disk.wipe", {"disk": "b"})
    with pytest.raises(NotAnswerable, match="`session` at most"):
        place.grant(row)
    place.grant(row, Scope.SESSION)
    place.call(("disk.wipe", {"disk": "b"}), session=row.session_id)
    (again,) = place.call(("disk.wipe", {"disk": "c"}), session=row.session_id)
    assert again.outcome == "completed"


def test_a_policy_that_wants_each_call_answered_ends_what_was_given_before(place: Any) -> None:
    place.policy = RULES
    place.grant(place.ask("mail.send", {"to": "bea"}))
    place.policy = RULES.replace("effect: ask", "effect: ask, approval_scope: once")
    assert place.call(("mail.send", {"to": "bea"}))[0].outcome == "suspended"


def test_calls_that_wait_already_keep_waiting_for_an_answer_of_their_own(place: Any) -> None:
    first, second = place.call(MAIL, ("mail.send", {"to": "cleo"}))
    place.grant(first)
    assert [row.invocation_id for row in place.resume()] == [first.invocation_id]
    assert place.row(second).state == "parked"
    place.answer(second, yes=False, reason="not to her")
    (denied,) = place.resume()
    assert denied.code == "tool.approval.rejected"
    assert place.effects == [("send", "bea@example.com")]


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.ALWAYS])
def test_of_all_calls_it_lets_through_exactly_its_own(swift: Any, scope: Scope) -> None:
    tools = {"crm.lookup": "name", "lookup": "name", "hr.lookup": "name", "mail.send": "to"}

    async def work(keeper: Any) -> Any:
        turns = {}
        for user in ("ana", "bo"):
            for agent in ("chat", "desk"):
                for number in (1, 2):
                    session = await keeper.open_session(agent=agent, user=user)
                    turns[user, agent, number] = await session.begin_turn()
        mine = turns["ana", "chat", 1]
        asked = (await mine.call(mine.read("c", "lookup", {"name": "x"}))).row
        await keeper.desk().grant(asked.approval_id, scope)
        passed = set()
        for whose, turn in turns.items():
            for name, argument in tools.items():
                row = (await turn.call(turn.read("d", name, {argument: "y"}))).row
                if row.outcome == "completed":
                    passed.add((name, *whose))
        return passed

    own = {("lookup", "ana", "chat", 1)}
    more = {("lookup", "ana", "chat", 2)} if scope is Scope.ALWAYS else set()
    assert swift.do(work) == own | more


def test_a_delegated_session_has_no_part_in_a_grant_for_a_session(swift: Any) -> None:
    async def work(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn()
        asked = (await turn.call(turn.read("c", "mail.send", {"to": "x"}))).row
        await keeper.desk().grant(asked.approval_id, Scope.SESSION)
        child = await turn.delegate(["mail.send"])
        below = await child.begin_turn()
        return (await below.call(below.read("d", "mail.send", {"to": "y"}))).row

    assert swift.do(work).outcome == "suspended"


def test_nobody_gives_a_grant_with_an_answer_that_came_too_late(place: Any) -> None:
    row = place.ask(*MAIL)
    place.answer(row)
    with pytest.raises(NotAnswerable, match="already approved by `ana`, at"):
        place.grant(row)
    other = place.ask("crm.lookup", {"name": "x"})
    place.clock.advance(hours=25)
    with pytest.raises(NotAnswerable, match="expired"):
        place.grant(other)
    assert place.do(lambda keeper: keeper.desk().grants(all=True)) == []


def _limits(**values: Any) -> Any:
    from toolkeeper.runtime.configuration import Limits

    return Limits(**values)
