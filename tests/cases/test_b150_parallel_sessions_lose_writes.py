"""B150: with the default journal and no timeout, parallel sessions lose writes.

Right: WAL, a timeout, one writer at a time, and readers who are in nobody's way; what cannot be
written is an error, and never a line in a log.
"""

import asyncio
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import Code, Event, RunError, SessionRecord
from toolkeeper_ledger import open_ledger, verify

pytestmark = pytest.mark.sqlite_file


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


def opened(path: Path, **options: Any) -> Any:
    return open_ledger(f"sqlite:///{path}", clock=Clock(), **options)


def with_sessions(path: Path, *names: str) -> Any:
    ledger = opened(path)
    for name in names:
        record = SessionRecord(name, "chat", "ana", "generic", Clock().now())
        asyncio.run(ledger.open_session(record, [Event("session.opened", {})]))
    return ledger


def test_a_store_is_in_wal_mode_and_waits(home: Any) -> None:
    home.park(["tea"])
    with closing(sqlite3.connect(home.folder / "ledger.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    # Somebody put it back, a tool for instance: whoever opens it next makes it right.
    with closing(sqlite3.connect(home.folder / "ledger.db")) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    home.park(["cake"])
    with closing(sqlite3.connect(home.folder / "ledger.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_two_sessions_write_while_a_third_party_reads(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    first = with_sessions(path, "ses_1", "ses_2")
    ledgers = [first, opened(path)]
    failures: list[BaseException] = []
    rounds = 100

    def write(ledger: Any, session_id: str) -> None:
        async def all() -> None:
            for number in range(rounds):
                await ledger.append(session_id, [Event("note.made", {"n": number})])

        try:
            asyncio.run(all())
        except BaseException as error:
            failures.append(error)

    writers = [
        threading.Thread(target=write, args=pair)
        for pair in zip(ledgers, ("ses_1", "ses_2"), strict=True)
    ]
    reader = opened(path, read_only=True)
    for thread in writers:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in writers):
        # A reader is never told to wait, sees no half of a write, and nothing goes away.
        for head in asyncio.run(reader.heads()):
            events = asyncio.run(reader.events(head.session_id))
            assert verify(events[: head.seq], head) is None
        count = len(asyncio.run(reader.events()))
        assert count >= seen
        seen = count
    for thread in writers:
        thread.join()
    assert failures == []
    for session_id in ("ses_1", "ses_2"):
        written = [r.event.data["n"] for r in asyncio.run(reader.events(session_id))[1:]]
        assert written == list(range(rounds))
    for ledger in (*ledgers, reader):
        asyncio.run(ledger.close())


def test_a_write_that_cannot_be_done_is_an_error_and_not_a_line_in_a_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ledger.db"
    asyncio.run(with_sessions(path, "ses_1").close())
    ledger = opened(path, busy_timeout=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RunError) as failure:
            asyncio.run(ledger.append("ses_1", [Event("note.made", {"n": 1})]))
        assert failure.value.code is Code.LEDGER_UNAVAILABLE
        assert "locked" in str(failure.value)
        assert len(asyncio.run(ledger.events())) == 1  # reading goes on
        other.execute("ROLLBACK")
    asyncio.run(ledger.append("ses_1", [Event("note.made", {"n": 2})]))
    assert [r.event.data.get("n") for r in asyncio.run(ledger.events())] == [None, 2]
    assert caplog.records == []
    asyncio.run(ledger.close())


def test_a_call_whose_row_cannot_be_written_does_not_run(home: Any) -> None:
    """The command, too: an error on the line and in the exit code, and no effect."""
    home.park(["tea"])
    with closing(sqlite3.connect(home.folder / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        failed = home.toolkeeper("run", str(home.folder / "session.yaml"), "--json")
        other.execute("ROLLBACK")
    assert failed.code != 0
    assert "locked" in failed.err
    assert home.effects() == []
    assert len(home.here("audit", "calls")) == 1
