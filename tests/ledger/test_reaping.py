"""What ran out is ended by anyone, once, and nothing that was approved is repeated."""

from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import ApprovalState, Code, Ending, Event, State


def run(desk: Any, make: ModuleType, **changes: Any) -> Any:
    row = make.a_row(**changes)
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, [], sealed=b"sealed"))
    assert lease is not None
    return row, lease


def test_nothing_is_reaped_before_its_time(desk: Any, make: ModuleType) -> None:
    run(desk, make, name="inv_1")
    desk.park("inv_2", "apr_2")
    before = desk.names()
    assert desk.wait(desk.ledger.reap(make.LEASE - timedelta(microseconds=1))) == []
    assert desk.names() == before


@pytest.mark.parametrize(
    "side_effect",
    ["workspace_write", "network_write", "message_send", "code_execution", "financial", None],
)
def test_an_interrupted_write_ends_with_its_outcome_unknown(
    desk: Any, make: ModuleType, side_effect: str | None
) -> None:
    run(desk, make, side_effect=side_effect, flags=("destructive", "open_world"))
    told = desk.wait(desk.ledger.reap(make.LEASE))
    row = desk.row()
    assert (row.state, row.outcome) == (State.SETTLED, Ending.FAILED)
    assert row.code is Code.FAILED_UNKNOWN_OUTCOME
    assert row.is_error
    assert row.result
    assert desk.wait(desk.ledger.retryable()) == []
    assert desk.wait(desk.ledger.sealed("inv_1")) is None
    assert desk.wait(desk.ledger.claim(row, make.LEASE, [])) is None
    assert [event.name for event in told] == ["lease.reaped"]
    assert told[0].data["code"] == "tool.failed.unknown_outcome"
    assert told[0].invocation_id == "inv_1"
    assert desk.names()[-1] == "lease.reaped"


@pytest.mark.parametrize(
    "changes",
    [
        {"side_effect": "none"},
        {"side_effect": "workspace_read"},
        {"side_effect": "network_read"},
        {"side_effect": "network_write", "flags": ("idempotent",)},
    ],
)
def test_an_interrupted_read_may_run_once_more(
    desk: Any, make: ModuleType, changes: dict[str, Any]
) -> None:
    row, first = run(desk, make, **changes)
    told = desk.wait(desk.ledger.reap(make.LEASE))
    assert told[0].data["retryable"] is True
    reaped = desk.row()
    assert (reaped.state, reaped.code) == (State.SETTLED, Code.FAILED)
    assert desk.wait(desk.ledger.retryable()) == [reaped]
    assert desk.wait(desk.ledger.retryable("ses_9")) == []
    assert desk.wait(desk.ledger.sealed("inv_1")) == b"sealed"
    later = make.LEASE + timedelta(minutes=5)
    second = desk.wait(desk.ledger.claim(row, later, []))
    assert second.fence > first.fence
    assert desk.row().state is State.RUNNING
    assert desk.wait(desk.ledger.retryable()) == []
    assert desk.wait(desk.ledger.claim(row, later, [])) is None
    assert desk.wait(desk.ledger.settle(make.ended(row, second.fence), [])) is True
    assert desk.wait(desk.ledger.sealed("inv_1")) is None


def test_a_read_that_may_run_again_can_be_refused_instead(desk: Any, make: ModuleType) -> None:
    run(desk, make, side_effect="none")
    desk.wait(desk.ledger.reap(make.LEASE))
    reaped = desk.row()
    refused = make.ended(reaped, reaped.fence, code=Code.WITHDRAWN)
    assert desk.wait(desk.ledger.settle(refused, [])) is True
    assert desk.wait(desk.ledger.retryable()) == []
    assert desk.wait(desk.ledger.claim(reaped, make.LEASE, [])) is None


def test_a_read_that_may_run_again_can_be_parked_instead(desk: Any, make: ModuleType) -> None:
    run(desk, make, side_effect="none")
    desk.wait(desk.ledger.reap(make.LEASE))
    desk.park()
    assert desk.row().state is State.PARKED
    assert desk.wait(desk.ledger.retryable()) == []
    desk.approve()
    again = make.a_row(side_effect="none", approval_id="apr_1")
    assert desk.wait(desk.ledger.claim(again, make.LEASE, [])).fence == 3


def test_an_approved_call_is_never_repeated(desk: Any, make: ModuleType) -> None:
    row = desk.park(side_effect="network_read")
    desk.approve()
    desk.wait(desk.ledger.claim(row, make.LEASE, []))
    desk.wait(desk.ledger.reap(make.LEASE))
    assert desk.row().state is State.SETTLED
    assert desk.wait(desk.ledger.retryable()) == []
    assert desk.wait(desk.ledger.claim(row, make.LEASE, [])) is None
    assert desk.state_of() is ApprovalState.SPENT


def test_a_late_end_of_a_reaped_call_is_dropped_and_told(desk: Any, make: ModuleType) -> None:
    row, lease = run(desk, make)
    desk.wait(desk.ledger.reap(make.LEASE))
    reaped = desk.row()
    late = make.ended(row, lease.fence)
    assert desk.wait(desk.ledger.settle(late, [Event("call.settled")])) is False
    assert desk.row() == reaped
    told = desk.wait(desk.ledger.events("ses_1", "inv_1"))[-1].event
    assert told.name == "call.fenced"
    assert told.data == {"tool": "notes.add", "fence": lease.fence, "newest": reaped.fence}


@pytest.mark.parametrize("approved", [False, True])
def test_an_approval_that_ran_out_ends_its_call(
    desk: Any, make: ModuleType, approved: bool
) -> None:
    desk.park()
    if approved:
        desk.approve()
    told = desk.wait(desk.ledger.reap(desk.clock.forward(hours=24)))
    assert [event.name for event in told] == ["approval.expired"]
    assert told[0].data["was"] == ("approved" if approved else "pending")
    assert desk.state_of() is ApprovalState.EXPIRED
    row = desk.row()
    assert (row.state, row.outcome) == (State.SETTLED, Ending.REFUSED)
    assert row.code is Code.APPROVAL_EXPIRED
    assert desk.wait(desk.ledger.sealed("inv_1")) is None
    assert desk.wait(desk.ledger.parked()) == []


def test_a_second_pass_finds_nothing(desk: Any, make: ModuleType) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    run(desk, make, name="inv_1")
    run(desk, make, name="inv_2", session_id="ses_2", run_id="run_2")
    desk.park("inv_3", "apr_3")
    now = desk.clock.forward(hours=25)
    assert len(desk.wait(desk.ledger.reap(now))) == 3
    before = desk.wait(desk.ledger.events())
    assert desk.wait(desk.ledger.reap(now)) == []
    assert desk.wait(desk.ledger.events()) == before


def test_a_denied_call_waits_to_be_told_so(desk: Any, make: ModuleType) -> None:
    desk.park()
    no = make.yes(desk.clock.now())
    desk.wait(desk.ledger.answer("apr_1", type(no)(ApprovalState.DENIED, "ana", no.at), []))
    assert desk.wait(desk.ledger.reap(desk.clock.forward(hours=25))) == []
    assert desk.row().state is State.PARKED
