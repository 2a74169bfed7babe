"""How is a SQLite file's log folded into the file, without callers waiting for the disk?

The log is synced, its pages are written into the file, and that is synced: more than ten
milliseconds every few hundred calls, which is as much as all their commits together take. A thread
does it on a connection of its own, while commits go on. What they add meanwhile is little, and is
folded in between two of them: only a log of which nothing is left begins anew.

Whoever dies in the middle loses nothing: what is not folded in is still in the log.
"""

import sqlite3
import threading
from collections.abc import Callable
from typing import Any

PAGES = {"NORMAL": 8_000, "FULL": 2_000}
"""About as many pages of the log are folded in at a time, by how commits synchronise.

Where every commit is synced, it takes twice as long while the file of the log still grows: it
should begin anew soon, and be written over.
"""

MOST_PAGES = 32_000
"""A log of this length is folded in by the very commit that makes it so long, for all to wait."""

_FIRST = 100
_FEWEST = 16
_FOLD = "PRAGMA wal_checkpoint(PASSIVE)"


class Folding:
    """Counts commits on one connection, and sees to it that the log stays short.

    SQLite does not tell how long its log is before it is folded in; how many commits that takes is
    learnt from the last time. Several processes may fold one log: it is done by one at a time.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], synchronous: str) -> None:
        self._connect = connect
        self._pages = PAGES[synchronous]
        self._commits = 0
        self._due = _FIRST
        self._thread: threading.Thread | None = None

    def committed(self, driver: Any) -> None:
        """Called behind each commit, with a cursor of the connection that has written."""
        self._commits += 1
        if self._thread is not None:
            if not self._thread.is_alive():
                self._thread = None
                self._finish(driver)
        elif self._commits >= self._due:
            thread = threading.Thread(target=self._fold, name="toolkeeper log")
            try:
                thread.start()
            except RuntimeError:
                return  # no thread to be had: what was committed is committed
            self._thread = thread

    def wait(self) -> None:
        """Until nothing is being folded in: the file is closed then, or moved."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _fold(self) -> int:
        """How many pages the log has; 0 where that cannot be said."""
        # A full disk, say, of which the next commit tells: the log stays as it is.
        try:
            connection = self._connect()
            try:
                _, pages, _ = connection.execute(_FOLD).fetchone()
            finally:
                connection.close()
        except sqlite3.Error:
            return 0
        return int(pages)

    def _finish(self, driver: Any) -> None:
        # Nobody commits meanwhile. Until 3.51.3 SQLite can lose what is committed at the moment at
        # which a log of which nothing is left is folded in once more.
        commits, self._commits = self._commits, 0
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            return  # another process is writing, and what was committed is committed
        try:
            pages = self._fold()
        finally:
            driver.execute("ROLLBACK")
        if pages > 0:
            self._due = max(_FEWEST, commits * self._pages // pages)
