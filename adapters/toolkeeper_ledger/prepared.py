"""How does a statement of the hot path run without being compiled again each time?

SQLAlchemy writes the statement for the dialect, once; after that it runs on the driver's own
cursor. Measured on the pair of commits around a call, that is half of the time.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection
from sqlalchemy.sql import ClauseElement


class Cursor(Protocol):
    """What is used of a driver's cursor."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Prepared:
    """A statement with named parameters only, and plain values in and out.

    Rows come as tuples in the order of the statement's columns; a BOOLEAN may come as 0 or 1.
    """

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._written: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Cursor:
        text, order = self._text(connection)
        cursor = connection.connection.cursor()
        cursor.execute(text, values if order is None else [values[name] for name in order])
        return cursor  # type: ignore[return-value]

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        text, order = self._text(connection)
        connection.connection.cursor().executemany(
            text, rows if order is None else [[row[name] for name in order] for row in rows]
        )

    def _text(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        dialect = connection.dialect
        name = f"{dialect.name}+{dialect.driver}"
        written = self._written.get(name)
        if written is None:
            compiled = self._statement.compile(dialect=dialect)
            order = compiled.positiontup if compiled.positional else None  # type: ignore[attr-defined]
            written = (str(compiled), None if order is None else tuple(order))
            self._written[name] = written
        return written
