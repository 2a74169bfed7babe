"""What is asked of one connection to a PostgreSQL server, beside what SQLAlchemy asks?"""

from typing import Any

import psycopg
from sqlalchemy import Connection

# One message to the server: the transaction's number is known before anything is written.
_BEGIN = "BEGIN; SELECT pg_current_xact_id()::text"
_LOOK = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def driver_of(connection: Connection) -> "psycopg.Connection[Any]":
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver


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


def is_lost(connection: Connection) -> bool:
    return connection.invalidated or bool(driver_of(connection).closed)


def discard(connection: Connection) -> None:
    connection.invalidate()
    connection.close()
