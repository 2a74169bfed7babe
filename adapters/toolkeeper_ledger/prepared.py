"""How does a statement of the hot path run without being compiled again each time?

SQLAlchemy writes the statement for the dialect, once; after that it runs on the driver's own
cursor. Measured on the pair of commits around a call, that is half of the time.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

from sqlalchemy import Connection, Dialect
from sqlalchemy.sql import ClauseElement

_Order: TypeAlias = Callable[[Mapping[str, Any]], tuple[Any, ...]]


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
        self._written: dict[type[Dialect], tuple[str, _Order | None]] = {}

    @property
    def clause(self) -> ClauseElement:
        """The statement itself, to be written for another driver."""
        return self._statement

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Cursor:
        text, order = self._text(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(text, values if order is None else order(values))
        return cursor  # type: ignore[return-value]

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        text, order = self._text(connection.dialect)
        connection.connection.cursor().executemany(
            text, rows if order is None else [order(row) for row in rows]
        )

    def _text(self, dialect: Dialect) -> tuple[str, _Order | None]:
        written = self._written.get(type(dialect))
        if written is None:
            compiled = self._statement.compile(dialect=dialect)
            order = compiled.positiontup if compiled.positional else None  # type: ignore[attr-defined]
            written = (str(compiled), None if order is None else _in_order(order))
            self._written[type(dialect)] = written
        return written


def _in_order(names: Sequence[str]) -> _Order:
    """Picks the values of these names, as a tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple([values[name] for name in names])
