"""What a session has read marks it in the commit that keeps the result, and for good."""

from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, RunError


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
