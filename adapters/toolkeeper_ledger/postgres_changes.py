"""How does a process notice that another one has changed something in the same PostgreSQL database?

Whoever asks for or answers an approval notifies in the same commit; a thread with a connection of
its own listens. When that connection dies it is made anew, and whoever waits looks once in between.
"""

import contextlib
import selectors
import socket
import threading
from datetime import timedelta
from typing import Any

import psycopg
from sqlalchemy.exc import DBAPIError

from toolkeeper_ledger.announcing import CHANNEL
from toolkeeper_ledger.changes import Waiters
from toolkeeper_ledger.postgres_connection import discard, driver_of
from toolkeeper_ledger.postgres_database import PostgresDatabase

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class PostgresChanges:
    """`Changes` of one database; nothing is opened before somebody waits."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._waiters = Waiters()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._stop: socket.socket | None = None

    async def wait(self, timeout: timedelta) -> bool:
        self._start()
        return await self._waiters.wait(timeout)

    def note(self) -> None:
        """Nothing to do: the notification of the commit comes back to this process as well."""

    def close(self) -> None:
        with self._lock:
            self._closed = True
            stop, thread = self._stop, self._thread
            self._stop = None
        if stop is not None and thread is not None:
            stop.close()
            thread.join()
        self._waiters.close()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._closed:
                self._stop, stopped = socket.socketpair()
                self._thread = threading.Thread(
                    target=self._run, args=(stopped,), name="toolkeeper-listen", daemon=True
                )
                self._thread.start()

    def _run(self, stopped: socket.socket) -> None:
        pause = _FIRST_PAUSE
        with stopped, selectors.DefaultSelector() as selector:
            selector.register(stopped, selectors.EVENT_READ)
            while True:
                with contextlib.suppress(DBAPIError, psycopg.Error, OSError):
                    connection = self._database.connect_once()
                    try:
                        driver = driver_of(connection)
                        driver.execute(f"LISTEN {CHANNEL}")
                        pause = _FIRST_PAUSE
                        self._waiters.note()  # whatever was missed
                        if self._listen(driver, selector, stopped):
                            return
                    finally:
                        discard(connection)
                if selector.select(pause):
                    return
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _listen(
        self,
        driver: "psycopg.Connection[Any]",
        selector: selectors.BaseSelector,
        stopped: socket.socket,
    ) -> bool:
        """True when it was told to stop; psycopg.Error when the connection dies."""
        server = driver.fileno()
        selector.register(server, selectors.EVENT_READ)
        try:
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if stopped in ready:
                    return True
                for _ in driver.notifies(timeout=0):
                    self._waiters.note()
        finally:
            selector.unregister(server)
