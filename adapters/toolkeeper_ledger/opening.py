"""Is this file a ledger of ours, and of a version that we can use?

Nothing is written into a file before it is known to be ours or empty. Several processes may create
or upgrade one store at once: the first does it, in one transaction, and a store whose upgrade fails
is the old one. Who only reads changes nothing, so an older store is refused to them.
"""

import os
import sqlite3
import time
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from toolkeeper_contract import Clock, ConfigError
from toolkeeper_ledger.fault import NOT_A_DATABASE, at_opening, fault_of, is_busy
from toolkeeper_ledger.location import SYNCHRONOUS
from toolkeeper_ledger.migrating import bring_up, check_current, foreign_tables, supported
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.schema import VERSION, schema_version
from toolkeeper_ledger.sqlite_database import SqliteDatabase

_MAGIC = b"SQLite format 3\0"
_NO_HELPER_FILES = ("SQLITE_CANTOPEN", "SQLITE_READONLY")


def open_database(
    path: Path,
    *,
    clock: Clock,
    read_only: bool,
    create: bool,
    synchronous: str,
    busy_timeout: float,
) -> SqliteDatabase:
    """The store at `path`, created where it is missing and may be.

    ConfigError when it is not there, not a database, somebody else's, of a newer version, or not
    ours to read or write. RunError(ledger.unavailable) when it is locked or its disk fails.
    """
    if synchronous.upper() not in SYNCHRONOUS:
        raise ConfigError(
            f"the store's `synchronous` cannot be `{synchronous}`", "use NORMAL or FULL"
        )
    created = _check_path(path, create=create and not read_only)
    database = SqliteDatabase(
        path,
        read_only=read_only,
        synchronous=synchronous.upper(),
        busy_timeout=busy_timeout,
    )
    try:
        _prepare(database, clock, busy_timeout)
        database.watch_version()
    except BaseException as error:
        database.close()
        if created:
            _remove_empty(path)
        if isinstance(error, DBAPIError | sqlite3.Error):
            raise at_opening(fault_of(error), str(path)) from None
        raise
    return database


def _check_path(path: Path, *, create: bool) -> bool:
    """Makes an empty file where there is none and `create`; says whether it did."""
    if path.is_dir():
        raise ConfigError(f"the store `{path}` is a folder", "name a file in it")
    try:
        present = path.exists()
    except OSError:
        present = False
    if present:
        if not path.is_file():
            raise ConfigError(f"the store `{path}` is not a file", "name a file")
        try:
            with path.open("rb") as file:
                start = file.read(len(_MAGIC))
        except OSError:
            raise ConfigError(
                f"the store `{path}` cannot be read", "check who may read the file"
            ) from None
        if start and start != _MAGIC:
            # SQLite itself takes a very short file for an empty database, and writes over it.
            raise at_opening(NOT_A_DATABASE, str(path))
        return False
    if not create:
        raise ConfigError(
            f"the store `{path}` is not there",
            "check the path; `toolkeeper run` and `call` create a store, reading does not",
        )
    if not path.parent.is_dir():
        raise ConfigError(
            f"the store's folder `{path.parent}` is not there", "create it, or name another"
        )
    try:
        # 0600: the rows are redacted, but they still tell what people did.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        raise ConfigError(
            f"the store `{path}` cannot be created", "check who may write its folder"
        ) from None
    return True


def _remove_empty(path: Path) -> None:
    # Only what this process made, and only while nothing stands in it.
    try:
        if path.stat().st_size == 0:
            path.unlink()
    except OSError:
        pass


def _prepare(database: SqliteDatabase, clock: Clock, busy_timeout: float) -> None:
    version = _first_look(database)
    if database.read_only:
        if version is None:
            raise ConfigError(
                f"the store `{database.path}` is empty", "run a session first; reading makes none"
            )
        check_current(version, str(database.path))
        return
    database.raw(lambda connection: _use_wal(connection, busy_timeout))
    if version is not None:
        database.raw(_check_writable)
    if version != VERSION:
        at = instant(clock.now())
        database.write(lambda connection: bring_up(connection, at, str(database.path)))


def _first_look(database: SqliteDatabase) -> int | None:
    """The store's version; None when it is empty."""
    path = str(database.path)
    try:
        return database.raw(lambda connection: _version_of(connection, path))
    except sqlite3.OperationalError as error:
        name = error.sqlite_errorname or ""
        log = Path(f"{path}-wal")
        if not (database.read_only and name.startswith(_NO_HELPER_FILES) and not log.exists()):
            raise
        # A store in a folder that we may not write, with no log beside it: nobody is writing it,
        # so the file alone is the whole truth.
        database.read_as_archive()
        return database.raw(lambda connection: _version_of(connection, path))


def _version_of(connection: sqlite3.Connection, path: str) -> int | None:
    names = {
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
    }
    if not names:
        return None
    if schema_version.name not in names:
        raise foreign_tables(path)
    row = connection.execute(
        f"SELECT version FROM {schema_version.name} ORDER BY version DESC LIMIT 1"
    ).fetchone()
    return supported(row[0] if row else None, path)


def _use_wal(connection: sqlite3.Connection, busy_timeout: float) -> None:
    # SQLite does not wait by itself for this one change, so several creators have to.
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                return
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
            continue
        if mode != "wal":
            raise ConfigError(
                "the store's disk cannot share memory between processes",
                "keep the store on a local disk",
            )
        return


def _check_writable(connection: sqlite3.Connection) -> None:
    # SQLite opens a file that may only be read without a word; this begins a write and drops it.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")
