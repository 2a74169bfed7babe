"""How does one short transaction run on a SQLite file?

Write transactions begin with BEGIN IMMEDIATE, so that a read that leads to a write never meets a
snapshot that is out of date; readers see one snapshot.
"""

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from toolkeeper_contract import Code, RunError
from toolkeeper_ledger.claimed_row import MEMORY
from toolkeeper_ledger.database import TRIES, Moved, Withdrawn
from toolkeeper_ledger.engine_log import OPTIONS
from toolkeeper_ledger.fault import GONE, conflict, fault_of, unavailable
from toolkeeper_ledger.folding import MOST_PAGES, Folding
from toolkeeper_ledger.history import HEADS
from toolkeeper_ledger.look import Look
from toolkeeper_ledger.look_memory import LookMemory, leaves_sessions
from toolkeeper_ledger.migrating import UPGRADED
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.schema import VERSION, schema_version
from toolkeeper_ledger.versioned_look import VersionedLook

T = TypeVar("T")


class SqliteDatabase:
    """One SQLite file, with a connection to write and one to read.

    `busy_timeout` is in seconds: how long a transaction waits for another process's write.
    `synchronous` is NORMAL (survives the death of the process) or FULL (of the power too).
    """

    def __init__(
        self, path: Path, *, read_only: bool, synchronous: str, busy_timeout: float
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._synchronous = synchronous
        self._busy_timeout = busy_timeout
        self._lock = threading.RLock()
        self._immutable = False
        self._file: tuple[int, int] | None = None
        self._watching = False
        self._tables: int | None = None
        # Transactions begin and end on the driver, as written here: the engine's own bookkeeping
        # takes longer than the rest of a commit, twice for every call.
        self._engine = create_engine(
            "sqlite://",
            creator=self.connect,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            **OPTIONS,
        )
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._folding = Folding(self.connect, synchronous)
        self._looks: dict[Prepared, VersionedLook] = {}
        self._memory = LookMemory()

    def write(self, work: Callable[[Connection], T]) -> T:
        if self.read_only:
            raise RunError(
                Code.LEDGER_UNAVAILABLE, "the store was opened to be read only", "open it to write"
            )
        for _ in range(TRIES):
            try:
                return self._write_once(work)
            except (IntegrityError, sqlite3.IntegrityError, Moved):
                continue
        raise conflict("the record contradicts one that is already in the ledger")

    def read(self, work: Callable[[Connection], T]) -> T:
        with self._lock:
            try:
                if isinstance(work, Look):
                    look: Look[T] = work
                    if self._writer is None:
                        return self._look(look)
                    return self._memory.answer(self._writer, look, lambda: self._look(look))
                reader = self._reading()
                driver = reader.connection.cursor()
                driver.execute("BEGIN")
                try:
                    self._check_tables(driver)
                    return work(reader)
                finally:
                    self._undo(driver)
            except (DBAPIError, sqlite3.Error) as error:
                self._drop()
                raise unavailable(fault_of(error)) from None

    def _reading(self) -> Connection:
        self._check_file()
        if self._reader is None:
            self._reader = self._engine.connect()
        return self._reader

    def _look(self, look: Look[T]) -> T:
        reader = self._reading()
        versioned = self._looks.get(look.statement)
        if versioned is None:
            versioned = self._looks[look.statement] = VersionedLook(look.statement)
        try:
            version, found = versioned.run(reader, look.values)
        except sqlite3.Error:
            # Of another version's tables the statement may be none.
            self._check_tables(reader.connection.cursor())
            raise
        if self._watching and version != VERSION:
            raise unavailable(UPGRADED)
        return look.answer(found)

    def raw(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` on a driver connection of its own, outside any transaction."""
        connection = self.connect()
        try:
            return work(connection)
        finally:
            connection.close()

    def close(self) -> None:
        with self._lock:
            self._drop()
            self._engine.dispose()

    def _write_once(self, work: Callable[[Connection], T]) -> T:
        with self._lock:
            try:
                if self._writer is None:
                    self._check_file()
                    self._writer = self._engine.connect()
                    self._writer.info.update({HEADS: {}, MEMORY: {}})
                driver = self._writer.connection.cursor()
                driver.execute("BEGIN IMMEDIATE")
                try:
                    self._check_tables(driver)
                    answer = work(self._writer)
                    if not leaves_sessions(work):
                        self._memory.forget()
                    # Commit into a file that somebody has moved away, and the row is lost.
                    self._check_file()
                    self._commit(driver)
                    return answer
                except BaseException:
                    self._undo(driver)
                    raise
            except Withdrawn as withdrawn:
                return withdrawn.answer  # type: ignore[return-value]
            except (IntegrityError, sqlite3.IntegrityError):
                raise
            except (DBAPIError, sqlite3.Error) as error:
                self._drop()
                raise unavailable(fault_of(error)) from None
            except UnicodeEncodeError:
                raise RunError(
                    Code.LEDGER_UNAVAILABLE, "a record holds text that cannot be kept"
                ) from None

    def _commit(self, driver: Any) -> None:
        driver.execute("COMMIT")
        self._folding.committed(driver)

    def _undo(self, driver: Any) -> None:
        # A transaction that met a full disk, say, is over by itself.
        if driver.connection.in_transaction:
            driver.execute("ROLLBACK")

    def connect(self) -> sqlite3.Connection:
        """A driver connection of the caller's own, in no transaction."""
        address = f"file:{quote(str(self.path.absolute()))}?mode={self._mode()}"
        if self._immutable:
            address += "&immutable=1"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=self._busy_timeout,
            isolation_level=None,  # the driver must not begin transactions of its own
            check_same_thread=False,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {MOST_PAGES}")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        if self.read_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _mode(self) -> str:
        """How the file is opened; whoever only reads is held to it by `query_only` as well.

        SQLite puts helper files beside the store for every reader, and only a connection that might
        have written takes them away again. So a reader may open the file that way too, where there
        is no log yet: looking leaves nothing behind then. Where there is one, somebody is writing
        or has died, and it is theirs to fold in.
        """
        if self.read_only and (self._immutable or Path(f"{self.path}-wal").exists()):
            return "ro"
        return "rw"

    def read_as_archive(self) -> None:
        """Reads the file alone from now on: for a folder in which no helper files can be made."""
        with self._lock:
            self._drop()
            self._immutable = True

    def watch_version(self) -> None:
        """From now on every transaction looks first whether the tables are still of our version."""
        self._watching = True

    def _check_tables(self, cursor: Any) -> None:
        if not self._watching:
            return
        # SQLite counts changes of the tables; the version is read only where the count is another.
        (tables,) = cursor.execute("PRAGMA schema_version").fetchone()
        if tables == self._tables:
            return
        (version,) = cursor.execute(f"SELECT max(version) FROM {schema_version.name}").fetchone()
        if version != VERSION:
            raise unavailable(UPGRADED)
        self._tables = tables

    def _check_file(self) -> None:
        try:
            status = os.stat(self.path)
        except OSError:
            raise unavailable(GONE) from None
        file = (status.st_dev, status.st_ino)
        if self._file is None:
            self._file = file
        elif self._file != file:
            raise unavailable(GONE)

    def _drop(self) -> None:
        """Lets go of both connections; the next transaction makes new ones."""
        self._folding.wait()
        self._memory.forget()
        for connection in (self._writer, self._reader):
            if connection is not None:
                connection.invalidate()
                connection.close()
        self._writer = self._reader = None
