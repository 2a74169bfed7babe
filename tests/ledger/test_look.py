"""Sessions that are looked at by many callers at once, on each kind of store."""

import asyncio
import logging
from types import ModuleType
from typing import Any

import psycopg
import pytest

from toolkeeper_contract import RunError
from toolkeeper_ledger import SqlLedger, open_ledger
from toolkeeper_ledger.look import Looks
from toolkeeper_ledger.postgres_database import PostgresDatabase


def test_each_of_many_callers_gets_its_own_session(any_sql: SqlLedger, make: ModuleType) -> None:
    names = [f"ses_{number}" for number in range(20)]
    for number in range(0, 20, 2):
        make.begin(any_sql, f"ses_{number}", f"run_{number}")

    async def look() -> list[Any]:
        return await asyncio.gather(*(any_sql.session(name) for name in names))

    found = asyncio.run(look())
    assert [each and each.session_id for each in found] == [
        name if number % 2 == 0 else None for number, name in enumerate(names)
    ]


def test_callers_at_once_share_a_message(
    postgres_store: str, clock: Any, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)
    asked: list[int] = []
    read = PostgresDatabase.read

    def counted(database: PostgresDatabase, work: Any) -> Any:
        asked.append(len(work.looks) if isinstance(work, Looks) else 1)
        return read(database, work)

    monkeypatch.setattr(PostgresDatabase, "read", counted)

    async def look() -> None:
        await asyncio.gather(*(ledger.session("ses_1") for _ in range(8)))
        await ledger.session("ses_1")
        await ledger.close()
        with pytest.raises(RunError, match="closed"):
            await ledger.session("ses_1")

    asyncio.run(look())
    assert asked == [8, 1]


def test_a_connection_that_was_ended_is_replaced_without_a_word(
    postgres_store: str, clock: Any, make: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)

    async def look() -> None:
        for _ in range(3):
            found = await asyncio.gather(*(ledger.session("ses_1") for _ in range(4)))
            assert None not in found
            with psycopg.connect(postgres_store, autocommit=True) as server:
                server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
        # One call's beginning and end as well, in one message each.
        row = make.a_row("inv_1")
        lease = await ledger.claim(row, make.LEASE, [make.Event("call.claimed", {}, "run_1")])
        assert lease is not None
        await ledger.close()

    with caplog.at_level(logging.WARNING, "psycopg"):
        asyncio.run(look())
    assert caplog.records == []
