"""The event that ends a call knows the row that was written with it, on every store."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Event, Invocation
from toolkeeper_ledger.rows import invocation_row
from toolkeeper_ledger.vouching import VOUCHER, row_digest


def voucher(desk: Any, row: Invocation) -> Any:
    (event,) = [
        record.event
        for record in desk.wait(desk.ledger.events(invocation_id=row.invocation_id))
        if VOUCHER in record.event.data and record.event.name != "approval.asked"
    ]
    return event.data[VOUCHER]


def stands_for(desk: Any, name: str) -> bool:
    row = desk.row(name)
    return bool(voucher(desk, row) == row_digest(invocation_row(row)))


def told(name: str) -> list[Event]:
    return [Event("call.settled", {"outcome": "completed"}, "run_1", name)]


def test_a_call_that_ran(desk: Any, make: ModuleType) -> None:
    row = make.a_row(arguments={"n": 2**70, "x": [1, 1.0, "é"]})
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, []))
    desk.wait(desk.ledger.settle(make.ended(row, lease.fence), told("inv_1")))
    assert stands_for(desk, "inv_1")


def test_a_call_that_never_ran(desk: Any, make: ModuleType) -> None:
    desk.wait(desk.ledger.settle(make.a_row(), told("inv_1")))
    assert stands_for(desk, "inv_1")


def test_a_parked_call_that_was_refused(desk: Any, make: ModuleType) -> None:
    row = desk.park()
    desk.wait(desk.ledger.settle(row, told("inv_1")))
    assert stands_for(desk, "inv_1")


def test_a_superseded_call(desk: Any, make: ModuleType) -> None:
    desk.park()
    desk.approve()
    desk.wait(desk.ledger.claim(make.a_row("inv_2", approval_id="apr_1"), make.LEASE, []))
    assert stands_for(desk, "inv_1")


def test_a_call_whose_question_expired(desk: Any, make: ModuleType) -> None:
    desk.park()
    desk.wait(desk.ledger.reap(desk.clock.forward(hours=25)))
    assert stands_for(desk, "inv_1")


@pytest.mark.parametrize("side_effect", ["workspace_read", "workspace_write"])
def test_a_call_whose_worker_died(desk: Any, make: ModuleType, side_effect: str) -> None:
    desk.wait(desk.ledger.claim(make.a_row(side_effect=side_effect), make.LEASE, []))
    desk.wait(desk.ledger.reap(desk.clock.forward(hours=1)))
    assert stands_for(desk, "inv_1")


@pytest.mark.parametrize(
    "change",
    [
        {"result": "another"},
        {"arguments": {"title": "x"}},
        {"masked": ()},
        {"is_error": True},
        {"bytes": 1},
        {"decision": None},
        {"handle": "res_9"},
        {"grant_id": "grt_9"},
        {"attempts": 9},
        {"tool": "notes.read"},
    ],
)
def test_another_row_has_another_digest(make: ModuleType, change: dict[str, Any]) -> None:
    row = make.ended(make.a_row(), 1)
    assert row_digest(invocation_row(row)) != row_digest(invocation_row(replace(row, **change)))


def test_the_digest_is_the_same_for_every_release(make: ModuleType) -> None:
    row = make.ended(make.a_row(), 1, settled_at=make.START)
    assert row_digest(invocation_row(row)) == (
        "949388c48ef98aca6eb74c6170ececbee1e82e9dfc41d67b4fb335f975118d4b"
    )
