"""A call takes its place, its lease and its end exactly once, on every store."""

from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, Ending, Event, Invocation, Lease, RunError, State


def claimed(desk: Any, row: Invocation, make: ModuleType) -> Lease:
    event = Event("call.claimed", {"tool": row.tool}, row.run_id, row.invocation_id)
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, [event]))
    assert isinstance(lease, Lease)
    return lease


def test_a_claimed_row_reads_back_as_it_was_written(desk: Any, make: ModuleType) -> None:
    row = make.a_row(arguments={"n": 1.0, "big": 2**70, "deep": [{"é": None}]})
    lease = claimed(desk, row, make)
    assert lease == Lease("inv_1", 1, make.LEASE)
    assert desk.row() == replace(row, fence=1)


def test_a_settled_row_reads_back_with_its_end(desk: Any, make: ModuleType) -> None:
    row = make.a_row()
    lease = claimed(desk, row, make)
    end = make.ended(
        row, lease.fence, settled_at=desk.clock.forward(seconds=2), handle="h", bytes=5
    )
    settled = Event("call.settled", {}, "run_1", "inv_1")
    assert desk.wait(desk.ledger.settle(end, [settled])) is True
    assert desk.row() == end
    assert desk.names() == ["session.opened", "session.planned", "call.claimed", "call.settled"]


def test_a_call_that_never_ran_is_written_by_its_end(desk: Any, make: ModuleType) -> None:
    row = make.a_row(
        state=State.SETTLED,
        outcome=Ending.REFUSED,
        code=Code.DENIED_POLICY,
        settled_at=desk.clock.now(),
        decision=None,
    )
    assert desk.wait(desk.ledger.settle(row, [])) is True
    assert desk.row() == row


def test_a_running_call_is_not_claimed_again(desk: Any, make: ModuleType) -> None:
    claimed(desk, make.a_row(), make)
    before = desk.names()
    assert desk.wait(desk.ledger.claim(make.a_row(), make.LEASE, [Event("call.claimed")])) is None
    assert desk.names() == before


def test_a_finished_call_is_not_claimed_again(desk: Any, make: ModuleType) -> None:
    row = make.a_row()
    lease = claimed(desk, row, make)
    end = make.ended(row, lease.fence, settled_at=desk.clock.now())
    desk.wait(desk.ledger.settle(end, []))
    assert desk.wait(desk.ledger.claim(row, make.LEASE, [])) is None
    assert desk.row() == end


def test_a_twin_under_the_same_key_finds_the_first_call(desk: Any, make: ModuleType) -> None:
    claimed(desk, make.a_row("inv_1", idempotency_key="k"), make)
    twin = make.a_row("inv_2", idempotency_key="k")
    assert desk.wait(desk.ledger.claim(twin, make.LEASE, [])) is None
    found = desk.wait(desk.ledger.twin("k"))
    assert found is not None
    assert found.invocation_id == "inv_1"
    assert desk.wait(desk.ledger.twin("other")) is None


@pytest.mark.parametrize("change", [{"arguments_digest": "e" * 64}, {"tool": "notes.drop"}])
def test_the_same_key_for_another_call_is_a_conflict(
    desk: Any, make: ModuleType, change: dict[str, str]
) -> None:
    claimed(desk, make.a_row("inv_1", idempotency_key="k"), make)
    before = desk.names()
    other = make.a_row("inv_2", idempotency_key="k", **change)
    with pytest.raises(RunError) as failure:
        desk.wait(desk.ledger.claim(other, make.LEASE, [Event("call.claimed")]))
    assert failure.value.code is Code.LEDGER_CONFLICT
    with pytest.raises(RunError) as failure:
        desk.wait(desk.ledger.settle(other, [Event("call.settled")]))
    assert failure.value.code is Code.LEDGER_CONFLICT
    with pytest.raises(RunError) as failure:
        desk.wait(desk.ledger.park(other, make.an_approval("apr_1", "inv_2"), b"", []))
    assert failure.value.code is Code.LEDGER_CONFLICT
    assert desk.wait(desk.ledger.invocation("inv_2")) is None
    assert desk.wait(desk.ledger.approval("apr_1")) is None
    assert desk.names() == before


def test_a_call_of_a_run_that_never_began_is_a_conflict(desk: Any, make: ModuleType) -> None:
    for stray in (make.a_row(run_id="run_9"), make.a_row(session_id="ses_9")):
        with pytest.raises(RunError) as failure:
            desk.wait(desk.ledger.claim(stray, make.LEASE, []))
        assert failure.value.code is Code.LEDGER_CONFLICT


def test_a_call_cannot_be_moved_to_another_session(desk: Any, make: ModuleType) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    claimed(desk, make.a_row(), make)
    moved = make.a_row(session_id="ses_2", run_id="run_2")
    with pytest.raises(RunError):
        desk.wait(desk.ledger.settle(moved, []))
    assert desk.row().session_id == "ses_1"


def test_only_the_newest_lease_settles(desk: Any, make: ModuleType) -> None:
    row = make.a_row(side_effect="network_read")
    first = claimed(desk, row, make)
    desk.clock.forward(minutes=6)
    desk.wait(desk.ledger.reap(desk.clock.now()))
    second = desk.wait(
        desk.ledger.claim(row, desk.clock.now() + timedelta(minutes=5), [Event("call.claimed")])
    )
    assert second is not None
    assert second.fence > first.fence
    late = make.ended(row, first.fence, settled_at=desk.clock.now())
    assert desk.wait(desk.ledger.settle(late, [Event("call.settled")])) is False
    assert desk.row().state is State.RUNNING
    assert desk.names()[-1] == "call.fenced"
    good = make.ended(row, second.fence, settled_at=desk.clock.now())
    assert desk.wait(desk.ledger.settle(good, [Event("call.settled")])) is True
    assert desk.row() == good


def test_a_second_end_is_dropped_and_told(desk: Any, make: ModuleType) -> None:
    row = make.a_row()
    lease = claimed(desk, row, make)
    end = make.ended(row, lease.fence, settled_at=desk.clock.now())
    assert desk.wait(desk.ledger.settle(end, [Event("call.settled")])) is True
    other = replace(end, result="something else")
    assert desk.wait(desk.ledger.settle(other, [Event("call.settled")])) is False
    assert desk.row() == end
    assert desk.names()[-2:] == ["call.settled", "call.fenced"]


def test_a_lease_is_renewed_by_its_holder_only(desk: Any, make: ModuleType) -> None:
    row = make.a_row()
    lease = claimed(desk, row, make)
    later = make.LEASE + timedelta(minutes=5)
    assert desk.wait(desk.ledger.renew(lease, later)) is True
    assert desk.wait(desk.ledger.renew(Lease("inv_1", lease.fence + 1, later), later)) is False
    assert desk.wait(desk.ledger.renew(Lease("inv_9", 1, later), later)) is False
    assert desk.wait(desk.ledger.reap(make.LEASE)) == []
    desk.wait(desk.ledger.settle(make.ended(row, lease.fence), []))
    assert desk.wait(desk.ledger.renew(lease, later)) is False


def test_rows_are_listed_in_the_order_in_which_they_were_opened(
    desk: Any, make: ModuleType
) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    for name in ("inv_b", "inv_a", "inv_c"):
        claimed(desk, make.a_row(name), make)
    claimed(desk, make.a_row("inv_0", session_id="ses_2", run_id="run_2"), make)

    def listed(*scope: str | None) -> list[str]:
        return [row.invocation_id for row in desk.wait(desk.ledger.invocations(*scope))]

    assert listed() == ["inv_b", "inv_a", "inv_c", "inv_0"]
    assert listed("ses_1") == ["inv_b", "inv_a", "inv_c"]
    assert listed(None, "run_2") == ["inv_0"]
    assert listed("ses_2", "run_1") == []
    assert desk.wait(desk.ledger.invocation("inv_9")) is None
