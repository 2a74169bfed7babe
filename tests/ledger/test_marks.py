"""What a session has read marks it, and who delegated it, in the commit that keeps the result."""

from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, Event, RunError


def marks(desk: Any) -> tuple[bool, bool]:
    session = desk.wait(desk.ledger.session("ses_1"))
    return session.tainted, session.private


@pytest.mark.parametrize("tainted", [False, True])
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("claimed", [False, True])
def test_a_result_marks_its_session(
    desk: Any, make: ModuleType, tainted: bool, private: bool, claimed: bool
) -> None:
    row = make.a_row()
    fence = desk.wait(desk.ledger.claim(row, make.LEASE, [])).fence if claimed else 0
    assert marks(desk) == (False, False)
    end = make.ended(row, fence)
    assert desk.wait(desk.ledger.settle(end, [], tainted=tainted, private=private))
    assert marks(desk) == (tainted, private)


def test_no_later_result_takes_a_mark_off(desk: Any, make: ModuleType) -> None:
    desk.wait(desk.ledger.settle(make.a_row("inv_1"), [], tainted=True))
    desk.wait(desk.ledger.settle(make.a_row("inv_2"), [], private=True))
    desk.wait(desk.ledger.settle(make.a_row("inv_3"), []))
    assert marks(desk) == (True, True)


def test_a_mark_stays_in_its_session(desk: Any, make: ModuleType) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    desk.wait(desk.ledger.settle(make.a_row(), [], tainted=True, private=True))
    other = desk.wait(desk.ledger.session("ses_2"))
    assert (other.tainted, other.private) == (False, False)


def test_a_late_result_that_is_dropped_marks_nothing(desk: Any, make: ModuleType) -> None:
    # Nobody reads it: the row keeps the words that the reaper wrote.
    row = make.a_row()
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, []))
    desk.wait(desk.ledger.reap(desk.clock.forward(hours=1)))
    late = desk.ledger.settle(make.ended(row, lease.fence), [], tainted=True, private=True)
    assert not desk.wait(late)
    assert marks(desk) == (False, False)


def test_a_result_that_cannot_be_kept_marks_nothing(desk: Any, make: ModuleType) -> None:
    stray = make.a_row(run_id="run_9")
    with pytest.raises(RunError) as failure:
        desk.wait(desk.ledger.settle(stray, [], tainted=True))
    assert failure.value.code is Code.LEDGER_CONFLICT
    assert marks(desk) == (False, False)


def answering_to(
    desk: Any, make: ModuleType, name: str, parent: str, *, delegated: bool = True
) -> None:
    """Opens a session that `parent` delegates, or that is forked from it."""
    began = {"delegated_by": "run_1" if delegated else None}
    session = make.a_session(name, parent=parent, granted={"notes.add": "f" * 64})
    desk.wait(desk.ledger.open_session(session, [Event("session.opened", began)]))
    run = make.a_run(f"run of {name}", name)
    desk.wait(desk.ledger.begin_run(run, make.PLAN, [Event("run.began", {}, run.run_id)]))


def reads(desk: Any, make: ModuleType, session_id: str, number: int = 1, **marks: bool) -> None:
    name = f"inv of {session_id}, {number}"
    row = make.a_row(name, session_id=session_id, run_id=f"run of {session_id}")
    fence = desk.wait(desk.ledger.claim(row, make.LEASE, [])).fence
    told = [Event("call.settled", {}, row.run_id, name)]
    assert desk.wait(desk.ledger.settle(make.ended(row, fence), told, **marks))


def all_marks(desk: Any, *names: str) -> list[tuple[bool, bool]]:
    found = [desk.wait(desk.ledger.session(name)) for name in names]
    return [(session.tainted, session.private) for session in found]


def told_above(desk: Any, session_id: str = "ses_1") -> list[dict[str, Any]]:
    return [
        dict(record.event.data)
        for record in desk.wait(desk.ledger.events(session_id))
        if record.event.name == "session.read"
    ]


def test_what_a_delegated_session_reads_marks_those_above_it_in_the_same_commit(
    desk: Any, make: ModuleType
) -> None:
    answering_to(desk, make, "below", "ses_1")
    answering_to(desk, make, "at the bottom", "below")
    reads(desk, make, "at the bottom", tainted=True)
    assert all_marks(desk, "ses_1", "below", "at the bottom") == [(True, False)] * 3
    told = {"by": "at the bottom", "tainted": True, "private": False}
    assert told_above(desk) == told_above(desk, "below") == [told]
    assert told_above(desk, "at the bottom") == []


def test_those_above_are_told_once_of_each_mark(desk: Any, make: ModuleType) -> None:
    answering_to(desk, make, "below", "ses_1")
    reads(desk, make, "below", 1, tainted=True)
    reads(desk, make, "below", 2, tainted=True)
    reads(desk, make, "below", 3, private=True)
    reads(desk, make, "below", 4)
    assert all_marks(desk, "ses_1") == [(True, True)]
    assert [told["private"] for told in told_above(desk)] == [False, True]


def test_a_fork_marks_who_delegated_and_nobody_it_came_from(desk: Any, make: ModuleType) -> None:
    answering_to(desk, make, "below", "ses_1")
    answering_to(desk, make, "fork", "below", delegated=False)
    reads(desk, make, "fork", tainted=True, private=True)
    assert all_marks(desk, "ses_1", "below", "fork") == [(True, True), (False, False), (True, True)]


def test_a_session_that_says_what_it_read_elsewhere_is_marked_and_so_are_those_above(
    desk: Any, make: ModuleType
) -> None:
    answering_to(desk, make, "below", "ses_1")
    told = {"by": "another", "tainted": False, "private": True}
    desk.wait(desk.ledger.append("below", [Event("session.read", told)]))
    assert all_marks(desk, "ses_1", "below") == [(False, True), (False, True)]
    assert told_above(desk, "below") == [told]
    assert told_above(desk) == [{**told, "by": "below"}]


def test_a_late_result_of_a_delegated_session_marks_nobody(desk: Any, make: ModuleType) -> None:
    answering_to(desk, make, "below", "ses_1")
    row = make.a_row(session_id="below", run_id="run of below")
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, []))
    desk.wait(desk.ledger.reap(desk.clock.forward(hours=1)))
    late = desk.ledger.settle(make.ended(row, lease.fence), [], tainted=True)
    assert not desk.wait(late)
    assert all_marks(desk, "ses_1", "below") == [(False, False)] * 2
