"""A look is answered from memory only where nothing can have changed since."""

import asyncio
import sqlite3
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_ledger import SqlLedger, open_ledger
from toolkeeper_ledger.look_memory import LookMemory
from toolkeeper_ledger.sqlite_database import SqliteDatabase

MINUTE = timedelta(minutes=1)


@pytest.fixture
def begun(sql: SqlLedger, make: ModuleType) -> SqlLedger:
    """A ledger with a session whose connection has written."""
    make.begin(sql)
    return sql


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The looks that went to the file."""
    made: list[Any] = []
    look = SqliteDatabase._look

    def counted(database: SqliteDatabase, asked: Any) -> Any:
        made.append(asked)
        return look(database, asked)

    monkeypatch.setattr(SqliteDatabase, "_look", counted)
    return made


def seen(ledger: SqlLedger) -> Any:
    return asyncio.run(ledger.session("ses_1"))


def call(ledger: SqlLedger, make: ModuleType, clock: Any, name: str, **marks: bool) -> None:
    row = make.a_row(name, idempotency_key=name)
    lease = asyncio.run(ledger.claim(row, clock.now() + MINUTE, ()))
    assert lease is not None
    assert asyncio.run(ledger.settle(make.ended(row, lease.fence), (), **marks))


def test_calls_do_not_ask_the_file_again(
    begun: SqlLedger, make: ModuleType, clock: Any, looks: list[Any]
) -> None:
    first = seen(begun)
    for number in range(3):
        call(begun, make, clock, f"inv_{number}")
        assert seen(begun) == first
    assert len(looks) == 1


def test_what_another_process_changes_is_seen_at_once(
    begun: SqlLedger, store: str, clock: Any, looks: list[Any]
) -> None:
    other = open_ledger(store, clock=clock)
    assert seen(begun).intent is None
    for intent in (["a.b"], None, {"exclude": ["c.d"]}):
        asyncio.run(other.set_intent("ses_1", intent))
        assert seen(begun).intent == intent
    asyncio.run(other.close())
    assert len(looks) == 4


def test_what_this_process_changes_is_seen_at_once(
    begun: SqlLedger, make: ModuleType, clock: Any
) -> None:
    assert not seen(begun).tainted
    asyncio.run(begun.set_intent("ses_1", ["a.b"]))
    assert seen(begun).intent == ["a.b"]
    call(begun, make, clock, "inv_1", tainted=True)
    assert (seen(begun).tainted, seen(begun).private) == (True, False)
    call(begun, make, clock, "inv_2", private=True)
    assert (seen(begun).tainted, seen(begun).private) == (True, True)
    asyncio.run(begun.begin_run(make.a_run("run_2", turn=2), make.PLAN, ()))
    assert seen(begun).turn == 2


def test_a_session_that_is_not_there_is_seen_once_it_is(begun: SqlLedger, make: ModuleType) -> None:
    assert asyncio.run(begun.session("ses_2")) is None
    make.begin(begun, "ses_2", "run_2")
    assert asyncio.run(begun.session("ses_2")).session_id == "ses_2"


def test_a_change_by_hand_is_seen(begun: SqlLedger, store: str) -> None:
    assert not seen(begun).tainted
    with sqlite3.connect(store.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE sessions SET tainted = 1")
    connection.close()
    assert seen(begun).tainted


def test_a_connection_that_is_replaced_takes_nothing_over(
    begun: SqlLedger, store: str, clock: Any, make: ModuleType
) -> None:
    other = open_ledger(store, clock=clock)
    assert seen(begun).intent is None
    database = begun._writer._database  # type: ignore[attr-defined]
    database._drop()
    asyncio.run(other.set_intent("ses_1", ["a.b"]))
    call(begun, make, clock, "inv_1")
    assert seen(begun).intent == ["a.b"]
    asyncio.run(other.close())


def test_only_so_many_answers_are_kept(
    begun: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkeeper_ledger.look_memory._MOST", 5)
    for number in range(20):
        asyncio.run(begun.session(f"ses_{number}"))
    memory: LookMemory = begun._writer._database._memory  # type: ignore[attr-defined]
    assert len(memory._answers) <= 5
