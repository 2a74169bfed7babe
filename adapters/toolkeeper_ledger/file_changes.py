"""How does a process notice that another one has written into the same SQLite file?

SQLite counts the commits of a file; the count is looked at while somebody waits, four times a
second. It counts every commit, so a busy store wakes more often than is needed.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable
from datetime import timedelta

from toolkeeper_ledger.changes import Waiters

_PAUSE = timedelta(seconds=0.25)


class FileChanges:
    """`Changes` of one file; `connect` opens it, and is not called before somebody waits."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._waiters = Waiters()
        self._connection: sqlite3.Connection | None = None
        self._commits: int | None = None

    async def wait(self, timeout: timedelta) -> bool:
        deadline = time.monotonic() + timeout.total_seconds()
        while True:
            self._look()
            left = timedelta(seconds=max(0.0, deadline - time.monotonic()))
            if await self._waiters.wait(min(left, _PAUSE)):
                return True
            if left <= _PAUSE:
                return False

    def note(self) -> None:
        self._waiters.note()

    def close(self) -> None:
        self._let_go()
        self._waiters.close()

    def _look(self) -> None:
        try:
            if self._connection is None:
                self._connection = self._connect()
                self._commits = None
            (commits,) = self._connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            # The file may come back; the first look at it then says that something has changed.
            self._let_go()
            return
        if commits != self._commits:
            self._commits = commits
            self._waiters.note()

    def _let_go(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None
