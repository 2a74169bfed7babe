"""A store that fails says so in our words, undoes what was begun, and works again afterwards."""

import asyncio
import shutil
import sqlite3
from collections import UserDict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, ConfigError, Event, RunError
from toolkeeper_ledger import SqlLedger, open_ledger, verify


def unavailable(answer: Any) -> RunError:
    with pytest.raises(RunError) as failure:
        asyncio.run(answer)
    assert failure.value.code is Code.LEDGER_UNAVAILABLE
    text = str(failure.value)
    for leak in ("sqlite3.", "sqlalchemy", "Error", "INSERT", "UPDATE", "database"):
        assert leak not in text
    return failure.value


def claim(ledger: SqlLedger, make: ModuleType, name: str) -> Any:
    return ledger.claim(make.a_row(name), make.LEASE, [Event("call.claimed")])


def test_a_full_disk_loses_nothing_and_passes(sql: SqlLedger, make: ModuleType) -> None:
    make.begin(sql)
    database = sql._writer._database  # type: ignore[attr-defined]
    database.write(lambda c: None)
    pages = database._writer.exec_driver_sql("PRAGMA page_count").scalar()
    database._writer.rollback()
    database._writer.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    database._writer.rollback()

    async def fill() -> None:
        for number in range(1000):
            row = make.a_row(f"inv_{number}", result="x" * 4000)
            await sql.settle(row, [Event("call.settled", {"n": number})])

    assert "full" in unavailable(fill()).message
    rows = asyncio.run(sql.invocations())
    assert len(asyncio.run(sql.events("ses_1"))) == 2 + len(rows)
    assert asyncio.run(claim(sql, make, "inv_later")) is not None
    (head,) = asyncio.run(sql.heads())
    assert verify(asyncio.run(sql.events("ses_1")), head) is None


def test_a_lock_that_lasts_is_an_error_and_not_a_lost_event(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    ledger = open_ledger(store, clock=clock, busy_timeout=0.05)
    make.begin(ledger)
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "locked" in unavailable(claim(ledger, make, "inv_1")).message
    assert asyncio.run(ledger.invocation("inv_1")) is None  # readers go on
    other.execute("ROLLBACK")
    other.close()
    assert asyncio.run(claim(ledger, make, "inv_1")) is not None
    asyncio.run(ledger.close())


def test_a_store_that_is_gone_or_replaced_is_not_written(
    sql: SqlLedger, store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    make.begin(sql)
    path, away = tmp_path / "ledger.db", tmp_path / "away.db"
    path.rename(away)
    unavailable(claim(sql, make, "inv_1"))
    unavailable(sql.invocations())
    assert not path.exists()
    shutil.copy(away, path)
    unavailable(claim(sql, make, "inv_1"))
    path.unlink()
    away.rename(path)
    assert asyncio.run(claim(sql, make, "inv_1")) is not None
    again = open_ledger(store, clock=clock, read_only=True)
    assert asyncio.run(again.invocation("inv_1")) is not None
    asyncio.run(again.close())


def test_a_damaged_store_is_said_to_be(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    ledger = open_ledger(store, clock=clock)
    make.begin(ledger)
    for number in range(50):
        asyncio.run(ledger.settle(make.a_row(f"inv_{number}", result="x" * 2000), []))
    asyncio.run(ledger.close())
    path = tmp_path / "ledger.db"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)

    async def read() -> None:
        ledger = open_ledger(store, clock=clock)
        try:
            await ledger.invocations()
        finally:
            await ledger.close()

    with pytest.raises((RunError, ConfigError), match="damaged"):
        asyncio.run(read())


def test_broken_json_in_a_row_is_said_to_be(
    sql: SqlLedger, make: ModuleType, tmp_path: Path
) -> None:
    make.begin(sql)
    asyncio.run(sql.settle(make.a_row(), []))
    other = sqlite3.connect(tmp_path / "ledger.db")
    with other:
        other.execute("UPDATE invocations SET arguments = '{'")
        other.execute("UPDATE plans SET body = replace(body, 'notes', 'money')")
    other.close()
    assert "damaged" in unavailable(sql.invocation("inv_1")).message
    assert "changed" in unavailable(sql.plan(make.PLAN.digest)).message
    assert "changed" in unavailable(sql.planned_turns()).message


def test_text_that_cannot_be_kept_is_refused_whole(any_sql: SqlLedger, make: ModuleType) -> None:
    make.begin(any_sql)
    for odd in (
        make.a_row(result="\ud800"),
        make.a_row(arguments={"a": "\ud800"}),
        make.a_row(call_id="\ud800"),
    ):
        unavailable(any_sql.settle(odd, [Event("call.settled")]))
    assert asyncio.run(any_sql.invocations()) == []
    assert len(asyncio.run(any_sql.events())) == 2


def test_a_failure_in_the_middle_leaves_nothing_behind(
    any_sql: SqlLedger, make: ModuleType
) -> None:
    make.begin(any_sql)

    class Broken(Exception):
        pass

    class Data(UserDict[str, object]):
        def __iter__(self) -> Any:
            raise Broken

    with pytest.raises(Broken):
        asyncio.run(any_sql.settle(make.a_row(), [Event("call.settled", Data(n=1))]))
    assert asyncio.run(any_sql.invocations()) == []
    assert asyncio.run(any_sql.settle(make.a_row(), [Event("call.settled")])) is True


def test_no_write_transaction_begins_as_a_read(sql: SqlLedger, make: ModuleType) -> None:
    make.begin(sql)
    database = sql._writer._database  # type: ignore[attr-defined]
    seen: list[str] = []
    database._writer.connection.driver_connection.set_trace_callback(seen.append)
    asyncio.run(claim(sql, make, "inv_1"))
    assert seen[0] == "BEGIN IMMEDIATE"
    assert seen[-1] == "COMMIT"
    assert sum("BEGIN" in statement for statement in seen) == 1
