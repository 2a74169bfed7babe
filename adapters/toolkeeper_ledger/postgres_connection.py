"""What is asked of one connection to a PostgreSQL server, beside what SQLAlchemy asks?"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection

from toolkeeper_ledger.fault import unavailable
from toolkeeper_ledger.migrating import LOCK_KEY, UPGRADED
from toolkeeper_ledger.schema import VERSION, schema_version

# One message to the server: the transaction's number is known before anything is written.
_BEGIN = "BEGIN; SELECT pg_current_xact_id()::text"
_LOOK = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def driver_of(connection: Connection) -> "psycopg.Connection[Any]":
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver


def check_version(driver: "psycopg.Connection[Any]") -> None:
    """RunError when the store was upgraded by a newer release; one that is going on is waited for.

    Asked of every new connection: an upgrade ends those that are there.
    """
    driver.execute("SELECT pg_advisory_lock_shared(%s)", [LOCK_KEY])
    try:
        query = f"SELECT max(version) FROM {schema_version.name}"
        found = driver.execute(query).fetchone()
        # By this name an upgrade knows whom it has to end.
        driver.execute(f"SET application_name = 'toolkeeper {VERSION}'")
    finally:
        driver.execute("SELECT pg_advisory_unlock_shared(%s)", [LOCK_KEY])
    if found != (VERSION,):
        raise unavailable(UPGRADED)


def begin(connection: Connection) -> str:
    """Begins a transaction that writes, and gives its number."""
    cursor = driver_of(connection).execute(_BEGIN, prepare=False)
    cursor.nextset()
    (number,) = cursor.fetchone() or ("",)
    return str(number)


def begin_to_read(connection: Connection) -> None:
    """Begins a transaction that sees one snapshot."""
    driver_of(connection).execute(_LOOK, prepare=False)


def commit(connection: Connection) -> None:
    driver_of(connection).execute("COMMIT", prepare=False)


@contextmanager
def pipelined(driver: "psycopg.Connection[Any]") -> Iterator[None]:
    """What is executed inside goes out together. The error of the block is the one that is raised,
    and the driver has none of its own to tell its log."""
    failed: BaseException | None = None
    try:
        with driver.pipeline():
            try:
                yield
            except BaseException as error:
                failed = error
    except psycopg.Error:
        if failed is None:
            raise
    if failed is not None:
        raise failed


def is_lost(connection: Connection) -> bool:
    return connection.invalidated or bool(driver_of(connection).closed)


def discard(connection: Connection) -> None:
    connection.invalidate()
    connection.close()
