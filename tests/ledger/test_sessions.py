"""Sessions, runs, plans and kept results read back as they were written, on every store."""

from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, Event, KeptResult, PlannedTurn, RunError


def conflicts(desk: Any, answer: Any) -> None:
    before = desk.wait(desk.ledger.events())
    with pytest.raises(RunError) as failure:
        desk.wait(answer)
    assert failure.value.code is Code.LEDGER_CONFLICT
    assert desk.wait(desk.ledger.events()) == before


@pytest.mark.parametrize(
    "intent",
    [None, [], ["notes.add"], {"enabled": False}, {"enabled": None, "overlays": {"web": True}}],
)
def test_an_intent_reads_back_equal(desk: Any, make: ModuleType, intent: Any) -> None:
    session = make.a_session("ses_2", intent=intent, attributes={"website": "http://x", "n": 1.0})
    desk.wait(desk.ledger.open_session(session, []))
    assert desk.wait(desk.ledger.session("ses_2")) == session
    desk.wait(desk.ledger.set_intent("ses_2", ["other"]))
    assert desk.wait(desk.ledger.session("ses_2")).intent == ["other"]
    desk.wait(desk.ledger.set_intent("ses_2", intent))
    assert desk.wait(desk.ledger.session("ses_2")) == session


def test_a_run_counts_the_turns_of_its_session(desk: Any, make: ModuleType) -> None:
    assert desk.wait(desk.ledger.session("ses_1")).turn == 1
    desk.wait(desk.ledger.begin_run(make.a_run("run_2", turn=2), make.PLAN, []))
    assert desk.wait(desk.ledger.session("ses_1")).turn == 2
    assert desk.wait(desk.ledger.run("run_2")) == make.a_run("run_2", turn=2)
    assert desk.wait(desk.ledger.plan(make.PLAN.digest)) == make.PLAN
    assert desk.wait(desk.ledger.planned_turns()) == [
        PlannedTurn("ses_1", 1, make.PLAN),
        PlannedTurn("ses_1", 2, make.PLAN),
    ]


@pytest.mark.parametrize("text", ["", "move the dentist to friday", "„ü€\n🦷\t \u0000"])
def test_a_turn_keeps_the_users_own_words(desk: Any, make: ModuleType, text: str) -> None:
    run = replace(make.a_run("run_2", turn=2), user_message=text)
    desk.wait(desk.ledger.begin_run(run, make.PLAN, []))
    assert desk.wait(desk.ledger.run("run_2")) == run
    assert desk.wait(desk.ledger.runs("ses_1"))[-1].user_message == text


def test_what_is_not_there_is_none(desk: Any) -> None:
    assert desk.wait(desk.ledger.session("ses_9")) is None
    assert desk.wait(desk.ledger.run("run_9")) is None
    assert desk.wait(desk.ledger.plan("0" * 64)) is None
    assert desk.wait(desk.ledger.approval("apr_9")) is None
    assert desk.wait(desk.ledger.sealed("inv_9")) is None


def test_a_session_is_opened_once(desk: Any, make: ModuleType) -> None:
    conflicts(desk, desk.ledger.open_session(make.a_session(user="eve"), [Event("session.opened")]))
    assert desk.wait(desk.ledger.session("ses_1")).user == "ana"


def test_a_turn_begins_once(desk: Any, make: ModuleType) -> None:
    event = [Event("session.planned")]
    conflicts(desk, desk.ledger.begin_run(make.a_run("run_2", turn=1), make.PLAN, event))
    conflicts(desk, desk.ledger.begin_run(make.a_run("run_1", turn=2), make.PLAN, event))
    conflicts(desk, desk.ledger.begin_run(make.a_run("run_2", "ses_9"), make.PLAN, event))
    conflicts(desk, desk.ledger.begin_run(make.a_run("run_2", turn=2), make.a_plan("other"), event))
    assert desk.wait(desk.ledger.session("ses_1")).turn == 1


def test_an_unknown_session_has_no_intent_to_set(desk: Any) -> None:
    conflicts(desk, desk.ledger.set_intent("ses_9", None))


def test_events_carry_their_time_and_place(desk: Any, make: ModuleType) -> None:
    desk.clock.forward(seconds=1.5)
    data = {"b": [1, 1.0, None], "a": {"ü": "x"}}
    desk.wait(desk.ledger.settle(make.a_row(), [Event("call.decided", data, "run_1", "inv_1")]))
    record = desk.wait(desk.ledger.events("ses_1"))[-1]
    assert record.seq == 3
    assert record.at == "2026-11-29T12:00:01.500000+00:00"
    assert record.event == Event("call.decided", data, "run_1", "inv_1")
    assert desk.wait(desk.ledger.events(invocation_id="inv_1")) == [record]
    assert desk.wait(desk.ledger.events("ses_9")) == []


def test_a_kept_result_is_for_its_owner_alone(desk: Any, make: ModuleType) -> None:
    row = make.a_row()
    desk.wait(desk.ledger.settle(row, []))
    desk.wait(desk.ledger.keep_results(row, {"res_1": KeptResult("a long text\n€")}))
    desk.wait(desk.ledger.keep_results(row, {"res_1": KeptResult("a long text\n€")}))
    make.begin(desk.ledger, "ses_2", "run_2")

    def kept(**change: str) -> Any:
        scope = {"session_id": "ses_1", "user": "ana", "agent": "chat", **change}
        return desk.wait(desk.ledger.kept_result("res_1", **scope))

    assert kept() == KeptResult("a long text\n€")
    assert kept(user="eve") is None
    assert kept(agent="other") is None
    assert kept(session_id="ses_2") is None
    assert kept(session_id="ses_9") is None
    conflicts(desk, desk.ledger.keep_results(row, {"res_1": KeptResult("another text")}))
    conflicts(
        desk,
        desk.ledger.keep_results(make.a_row(session_id="ses_9"), {"res_2": KeptResult("text")}),
    )


def test_what_is_kept_of_a_result_comes_with_its_end_or_not_at_all(
    desk: Any, make: ModuleType
) -> None:
    kept = {f"res_{n}": KeptResult(f"part {n}", str(n).encode(), "image/png") for n in range(1_001)}
    row = replace(make.a_row(), settled_at=make.START)
    assert desk.wait(desk.ledger.settle(row, [], kept=kept))
    assert desk.wait(desk.ledger.kept_by("ses_1", "inv_1")) == kept
    assert desk.wait(desk.ledger.kept_by("ses_2", "inv_1")) == {}
    assert desk.wait(desk.ledger.kept_by("ses_1", "inv_2")) == {}

    # A handle that another call has: the end is not written either.
    other = make.a_row("inv_2")
    taken = {"res_new": KeptResult("new"), "res_7": KeptResult("part 7")}
    conflicts(desk, desk.ledger.settle(other, [], kept=taken))
    assert desk.wait(desk.ledger.invocation("inv_2")) is None
    assert desk.wait(desk.ledger.kept_by("ses_1", "inv_2")) == {}


def test_an_end_that_nobody_heard_of_is_written_once(desk: Any, make: ModuleType) -> None:
    row = replace(make.a_row(), settled_at=make.START)
    first, second = {"res_1": KeptResult("text")}, {"res_2": KeptResult("text")}
    assert desk.wait(desk.ledger.settle(row, [], kept=first))
    events = desk.wait(desk.ledger.events())
    assert desk.wait(desk.ledger.settle(row, [], kept=second))
    assert desk.wait(desk.ledger.events()) == events
    assert desk.wait(desk.ledger.kept_by("ses_1", "inv_1")) == first
    # Another end of the same call is another matter.
    later = replace(row, settled_at=make.START + timedelta(seconds=1))
    assert not desk.wait(desk.ledger.settle(later, [], kept=second))
    assert [each.event.name for each in desk.wait(desk.ledger.events())][-1] == "call.fenced"
    assert desk.wait(desk.ledger.kept_by("ses_1", "inv_1")) == first
