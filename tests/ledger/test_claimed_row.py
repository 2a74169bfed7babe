"""A call that ends where it began writes what it changes; its row is what its end vouches for."""

import asyncio
from dataclasses import fields, replace
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import (
    AdvertisedAs,
    Code,
    Decision,
    Effect,
    Ending,
    Event,
    Invocation,
    State,
)
from toolkeeper_ledger import SqlLedger, call_rows, claimed_row
from toolkeeper_ledger.rows import invocation_row
from toolkeeper_ledger.vouching import VOUCHER, row_digest

DECISION = Decision(Effect.ALLOW, (), ("a reason",), "r" * 64)


def begun(ledger: SqlLedger, make: ModuleType, **changes: Any) -> Invocation:
    row: Invocation = make.a_row(decision=DECISION, state=State.RUNNING, fence=1, **changes)
    told = Event("call.claimed", {}, row.run_id, row.invocation_id)
    lease = asyncio.run(ledger.claim(row, make.LEASE, [told]))
    assert lease is not None
    return row


def ended(row: Invocation, **changes: Any) -> Invocation:
    return replace(
        row, **{"state": State.SETTLED, "outcome": Ending.COMPLETED, "result": "done", **changes}
    )


def settle(ledger: SqlLedger, row: Invocation) -> None:
    told = Event("call.settled", {}, row.run_id, row.invocation_id)
    assert asyncio.run(ledger.settle(row, [told]))


def stands_as_vouched(ledger: SqlLedger, name: str) -> bool:
    stored = asyncio.run(ledger.invocation(name))
    assert stored is not None
    last = asyncio.run(ledger.events(invocation_id=name))[-1]
    return bool(last.event.data[VOUCHER] == row_digest(invocation_row(stored)))


@pytest.fixture
def written(sql: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How each end was written: `whole` or `changes`."""
    make.begin(sql)
    ways: list[str] = []
    found = claimed_row.columns_at_end

    def watched(connection: Any, row: Invocation) -> Any:
        columns = found(connection, row)
        ways.append("whole" if columns is None else "changes")
        return columns

    monkeypatch.setattr(call_rows, "columns_at_end", watched)
    return ways


def test_the_end_of_what_began_here_writes_its_changes_alone(
    sql: SqlLedger, make: ModuleType, written: list[str]
) -> None:
    row = begun(sql, make)
    end = ended(
        row,
        code=Code.FAILED,
        outcome=Ending.FAILED,
        is_error=True,
        truncated=True,
        handle="res_1",
        bytes=4,
        attempts=2,
        superseded_by="inv_9",
        settled_at=make.START,
    )
    settle(sql, end)
    assert written == ["changes"]
    assert asyncio.run(sql.invocation("inv_1")) == end
    assert stands_as_vouched(sql, "inv_1")
    assert asyncio.run(sql.backlog(make.START)).running == 0


OTHERS: dict[str, Any] = {
    "call_id": "another",
    "step": 7,
    "position": 7,
    "tool": "notes.other",
    "advertised_as": AdvertisedAs.TOOL_CALL,
    "decision": replace(DECISION),
    "approval_id": "apr_9",
    "fingerprint": "e" * 64,
    "side_effect": "external_write",
    "flags": ("private",),
    "arguments": {"n": True},
    "masked": ("/n",),
    "arguments_digest": "1" * 64,
    "arguments_decoded": True,
    "grant_id": "grt_9",
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_end_with_any_other_value_is_written_whole(
    sql: SqlLedger, make: ModuleType, written: list[str], name: str
) -> None:
    row = begun(sql, make, arguments={"n": 1})
    end = ended(row, settled_at=make.START, **{name: OTHERS[name]})
    settle(sql, end)
    assert written == ["whole"]
    assert asyncio.run(sql.invocation("inv_1")) == end
    assert stands_as_vouched(sql, "inv_1")


def test_every_value_of_a_row_is_either_changed_by_an_end_or_looked_at() -> None:
    identity = set(call_rows.IDENTITY) | {"fence"}
    names = {each.name for each in fields(Invocation)}
    assert set(OTHERS) | identity | set(claimed_row.CHANGED) == names | set(claimed_row.HIDDEN)
    assert not set(OTHERS) & set(claimed_row.CHANGED)


def test_what_somebody_changes_while_a_call_runs_is_found(
    sql: SqlLedger, make: ModuleType, written: list[str], telling: ModuleType, store: str
) -> None:
    row = begun(sql, make)
    telling.tamper(store, "UPDATE invocations SET tool = 'notes.forged'")
    settle(sql, ended(row))
    assert written == ["changes"]
    assert not stands_as_vouched(sql, "inv_1")


def test_a_beginning_that_was_undone_is_none(
    sql: SqlLedger, make: ModuleType, written: list[str]
) -> None:
    row: Invocation = make.a_row(decision=DECISION, state=State.RUNNING, fence=1)
    elsewhere = "ses_nobody"

    async def play() -> None:
        claims: list[Any] = [
            sql.claim(row, make.LEASE, [Event("call.claimed", {}, "run_1", "inv_1")]),
            sql.append(elsewhere, [Event("call.lost", {})]),
        ]
        lease, failed = await asyncio.gather(*claims, return_exceptions=True)
        assert lease.fence == 1
        assert isinstance(failed, Exception)

    asyncio.run(play())
    settle(sql, ended(row))
    assert stands_as_vouched(sql, "inv_1")


def test_calls_that_never_end_here_are_not_remembered_for_ever(
    sql: SqlLedger, make: ModuleType, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimed_row, "_MOST", 3)
    rows = [
        begun(sql, make, name=f"inv_{number}", opened_at=datetime(2026, 11, 29, tzinfo=UTC))
        for number in range(5)
    ]
    for row in rows:
        settle(sql, ended(row))
    assert written == ["whole"] * 3 + ["changes"] * 2

    assert all(stands_as_vouched(sql, row.invocation_id) for row in rows)
