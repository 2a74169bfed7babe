"""B148: a read that leads to a write, in a deferred transaction, fails at once.

In spite of WAL and a busy timeout: the snapshot that was read is out of date (checked below, with
the driver alone). Right: write transactions begin with BEGIN IMMEDIATE; what is overtaken all the
same runs again, a bounded number of times.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import Event
from toolkeeper_ledger import open_ledger, verify

pytestmark = pytest.mark.sqlite_file

LEDGER = Path(__file__).parents[1] / "ledger"
WORKER = LEDGER / "worker.py"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with the session and the run that the workers of `tests/ledger` use."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    begin = (
        "import sys; from making import HandClock, begin\n"
        "from toolkeeper_ledger import open_ledger\n"
        "begin(open_ledger(sys.argv[1], clock=HandClock()))"
    )
    subprocess.run([sys.executable, "-c", begin, url], cwd=LEDGER, check=True, timeout=60)
    return url


def test_this_is_what_goes_wrong(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    with (
        closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as one,
        closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as two,
    ):
        one.execute("PRAGMA journal_mode = WAL")
        one.execute("CREATE TABLE head (seq INTEGER)")
        one.execute("INSERT INTO head VALUES (1)")
        one.execute("BEGIN")
        one.execute("SELECT seq FROM head").fetchone()
        two.execute("UPDATE head SET seq = 2")
        with pytest.raises(sqlite3.OperationalError) as failure:
            one.execute("UPDATE head SET seq = 2")
        assert failure.value.sqlite_errorname == "SQLITE_BUSY_SNAPSHOT"


def test_processes_that_read_and_write_one_session_all_get_through(store: str) -> None:
    """Every write of the ledger reads the session's head and then moves it."""
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), "append", store, "40", "ses_1", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "c", "d")
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        for worker in workers:
            out, err = worker.communicate(timeout=120)
            assert worker.returncode == 0, err
            assert json.loads(out) == [True] * 40
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    ledger = open_ledger(store, clock=_NoClock(), read_only=True)
    (head,) = asyncio.run(ledger.heads())
    events = asyncio.run(ledger.events("ses_1"))
    assert len(events) == head.seq == 2 + 4 * 40
    assert verify(events, head) is None
    asyncio.run(ledger.close())


def test_a_write_waits_for_the_one_before_it_and_sees_what_it_wrote(store: str) -> None:
    """The second begins while the first is open, and is neither refused nor out of date."""
    path = store.removeprefix("sqlite:///")
    ledger = open_ledger(store, clock=_NoClock())
    (before,) = asyncio.run(ledger.heads())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        for number in range(20):
            other.execute("BEGIN IMMEDIATE")
            waiting = threading.Thread(
                target=lambda n=number: asyncio.run(
                    ledger.append("ses_1", [Event("note.made", {"n": n})])
                )
            )
            waiting.start()
            other.execute("UPDATE sessions SET private = 1 - private")
            other.execute("COMMIT")
            waiting.join(30)
            assert not waiting.is_alive()
    (head,) = asyncio.run(ledger.heads())
    assert head.seq == before.seq + 20
    assert verify(asyncio.run(ledger.events("ses_1")), head) is None
    asyncio.run(ledger.close())


def test_every_write_of_the_command_begins_with_the_lock(home: Any) -> None:
    """Two processes that answer and repeat at once: nothing is refused as locked."""
    titles = [f"note {number}" for number in range(5)]
    lines = home.park(titles)
    ids = [line["approval_id"] for line in lines]
    session = lines[0]["session_id"]
    answered, *_ = home.together(
        ("answer", "approved", "ana", *ids),
        ("repeat", session, *titles),
        ("repeat", session, *titles),
    )
    assert [won for won, _ in answered] == [True] * len(ids)
    rows = home.here("audit", "calls")
    assert len(rows) == 3 * len(titles)


class _NoClock:
    def now(self) -> Any:
        from datetime import UTC, datetime

        return datetime(2026, 1, 1, tzinfo=UTC)
