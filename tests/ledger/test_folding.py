"""A log is folded into its file beside the commits, and never at the cost of one."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_ledger import folding
from toolkeeper_ledger.sqlite_database import SqliteDatabase

PAGE = 4_120
"""Bytes that a page takes in the log."""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(folding.PAGES, "NORMAL", 100)
    path = tmp_path / "plain.db"
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA journal_mode = WAL")
    plain.execute("CREATE TABLE words (word TEXT UNIQUE)")
    plain.close()
    return path


@pytest.fixture
def database(path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(path, read_only=False, synchronous="NORMAL", busy_timeout=1)
    yield database
    database.close()


def put(database: SqliteDatabase, many: int, name: str = "word") -> None:
    for number in range(many):
        word = f"{name} {number}"
        assert database.write(
            lambda c, word=word: (  # type: ignore[misc]
                c.exec_driver_sql("INSERT INTO words VALUES (?)", (word,)).rowcount
            )
        )


def log_pages(path: Path) -> int:
    return Path(f"{path}-wal").stat().st_size // PAGE


def begins_anew(database: SqliteDatabase, path: Path, name: str) -> bool:
    """Whether the log stops growing while the store is written on; the disk may be slow."""
    for batch in range(50):
        before = log_pages(path)
        put(database, 200, f"{name} {batch}")
        if log_pages(path) == before:
            return True
    return False


def test_a_store_that_is_written_on_and_on_keeps_a_short_log(
    database: SqliteDatabase, path: Path
) -> None:
    size = path.stat().st_size
    put(database, 300)
    assert begins_anew(database, path, "on")
    assert begins_anew(database, path, "and on")
    assert path.stat().st_size > size


def test_nothing_is_folded_in_any_more_when_the_store_is_closed(
    database: SqliteDatabase, path: Path
) -> None:
    for _ in range(5):
        put(database, 101, f"round {_}")
        database.close()
        assert "toolkeeper log" not in [thread.name for thread in threading.enumerate()]
    assert not Path(f"{path}-wal").exists()
    plain = sqlite3.connect(path)
    assert plain.execute("SELECT count(*) FROM words").fetchone() == (505,)
    plain.close()


def test_a_log_that_cannot_be_folded_in_fails_no_commit(
    database: SqliteDatabase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def refused() -> Any:
        tried.append(1)
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(database._folding, "_connect", refused)
    put(database, 400)
    assert tried
    assert database.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM words").scalar()) == 400


def test_nobody_commits_while_the_rest_of_the_log_is_folded_in(
    database: SqliteDatabase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    connect = database._folding._connect

    def watched() -> sqlite3.Connection:
        if threading.current_thread() is threading.main_thread():
            other = sqlite3.connect(path, timeout=0, isolation_level=None)
            try:
                other.execute("BEGIN IMMEDIATE")
                seen.append("another process could write")
            except sqlite3.OperationalError as error:
                seen.append(str(error))
            other.close()
        return connect()

    monkeypatch.setattr(database._folding, "_connect", watched)
    for batch in range(50):
        put(database, 100, f"batch {batch}")
        if len(seen) > 2:
            break
    assert set(seen) == {"database is locked"}


def test_while_another_process_writes_the_rest_of_the_log_is_left_for_the_next_time(
    database: SqliteDatabase, path: Path
) -> None:
    put(database, 90)
    writer, other = (sqlite3.connect(path, timeout=0, isolation_level=None) for _ in range(2))
    other.execute("BEGIN IMMEDIATE")
    other.execute("INSERT INTO words VALUES ('of another process')")
    database._folding._finish(writer.cursor())
    assert not writer.in_transaction
    other.execute("COMMIT")
    database._folding._finish(writer.cursor())
    assert not writer.in_transaction
    put(database, 1, "that begins the log anew")
    assert log_pages(path) > 90
    assert other.execute("SELECT count(*) FROM words").fetchone() == (92,)
    before = log_pages(path)
    put(database, 30, "over what was there")
    assert log_pages(path) == before
    writer.close()
    other.close()


def test_without_a_thread_to_be_had_no_commit_fails(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    put(database, 150)
    monkeypatch.undo()
    assert database.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM words").scalar()) == 150


def test_who_reads_an_old_snapshot_is_not_disturbed_and_the_log_begins_anew_behind_them(
    database: SqliteDatabase, path: Path
) -> None:
    put(database, 1)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM words").fetchone() == (1,)
    put(database, 1_000, "while somebody reads")
    assert reader.execute("SELECT count(*) FROM words").fetchone() == (1,)
    assert log_pages(path) > 1_500
    reader.execute("ROLLBACK")
    assert begins_anew(database, path, "afterwards")
    reader.close()
