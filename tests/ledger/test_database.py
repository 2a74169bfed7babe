"""A transaction is one whole, as durable as was asked for, and tried again when overtaken."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from toolkeeper_contract import Code, RunError
from toolkeeper_ledger import open_ledger
from toolkeeper_ledger.database import Moved, Withdrawn
from toolkeeper_ledger.sqlite_database import SqliteDatabase


@pytest.fixture
def database(tmp_path: Path) -> Any:
    path = tmp_path / "plain.db"
    plain = sqlite3.connect(path)
    plain.execute("CREATE TABLE words (word TEXT UNIQUE)")
    plain.close()
    database = SqliteDatabase(path, read_only=False, synchronous="NORMAL", busy_timeout=1)
    yield database
    database.close()


def put(word: str) -> Any:
    return lambda c: c.execute(text("INSERT INTO words VALUES (:word)"), {"word": word}).rowcount


def words(database: SqliteDatabase) -> list[str]:
    return database.read(
        lambda c: list(c.execute(text("SELECT word FROM words ORDER BY word")).scalars())
    )


@pytest.mark.parametrize(("asked", "level"), [("NORMAL", 1), ("FULL", 2), ("full", 2)])
def test_commits_are_as_durable_as_was_asked(
    store: str, clock: Any, asked: str, level: int
) -> None:
    ledger = open_ledger(store, clock=clock, synchronous=asked)
    database: SqliteDatabase = ledger._writer._database  # type: ignore[attr-defined]
    assert database.write(lambda c: c.exec_driver_sql("PRAGMA synchronous").scalar()) == level
    assert database.write(lambda c: c.exec_driver_sql("PRAGMA foreign_keys").scalar()) == 1
    database.close()


def test_what_is_withdrawn_was_never_written(database: SqliteDatabase) -> None:
    def work(connection: Any) -> str:
        put("gone")(connection)
        raise Withdrawn("no")

    assert database.write(work) == "no"
    assert words(database) == []


def test_work_that_was_overtaken_runs_again_from_its_beginning(database: SqliteDatabase) -> None:
    tries: list[int] = []

    def work(connection: Any) -> int:
        tries.append(len(tries))
        put(f"try {len(tries)}")(connection)
        if len(tries) < 3:
            raise Moved
        return len(tries)

    assert database.write(work) == 3
    assert words(database) == ["try 3"]


def test_work_that_is_always_overtaken_ends_as_a_conflict(database: SqliteDatabase) -> None:
    database.write(put("one"))
    with pytest.raises(RunError) as failure:
        database.write(put("one"))
    assert failure.value.code is Code.LEDGER_CONFLICT
    assert words(database) == ["one"]


def test_a_reader_sees_one_moment_and_holds_no_writer_up(database: SqliteDatabase) -> None:
    def look(connection: Any) -> tuple[int, int]:
        count = text("SELECT count(*) FROM words")
        before = connection.execute(count).scalar()
        database.write(put("meanwhile"))
        return before, connection.execute(count).scalar()

    database.raw(lambda connection: connection.execute("PRAGMA journal_mode = WAL"))
    assert database.read(look) == (0, 0)
    assert words(database) == ["meanwhile"]
