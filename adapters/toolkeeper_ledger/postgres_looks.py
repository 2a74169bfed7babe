"""How are rows looked up on a server from the callers' own event loop?

The looks of one round of the loop go together, each a snapshot by itself.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from psycopg.pq.abc import PGresult
from sqlalchemy.dialects import postgresql

from toolkeeper_ledger.group import Order
from toolkeeper_ledger.look import Look
from toolkeeper_ledger.postgres_text import in_bytes, reader
from toolkeeper_ledger.postgres_wire import Batch, Statement, Wire
from toolkeeper_ledger.prepared import Prepared

_DIALECT = postgresql.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


class PostgresLooks:
    """Looks that go over one wire; `hand_over` takes those that were not answered."""

    def __init__(self, wire: Wire, hand_over: Callable[[Sequence[Order[Any]]], None]) -> None:
        self._wire = wire
        self._hand_over = hand_over
        self._texts: dict[Prepared, tuple[str, Sequence[str]]] = {}
        self._readers: dict[Prepared, list[Callable[[bytes], Any]]] = {}
        self._waiting: list[tuple[Order[Any], Statement]] = []

    def take(self, order: Order[Any], look: Look[Any]) -> bool:
        """Whether it goes here."""
        text, names = self._text(look.statement)
        try:
            values = in_bytes([look.values[name] for name in names])
        except UnicodeEncodeError:
            return False
        if not self._waiting:
            order.loop.call_soon(self._send)
        self._waiting.append((order, (text, values)))
        return True

    def give_up(self) -> None:
        """The connection is lost: whoever has not asked yet asks elsewhere."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._hand_over([order for order, _ in waiting])

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            orders = [order for order, _ in waiting]
            self._wire.send([statement for _, statement in waiting], partial(self._heard, orders))

    def _heard(self, orders: Sequence[Order[Any]], batch: Batch) -> None:
        if batch.lost or batch.error is not None:
            self._hand_over(orders)
            return
        for order, result in zip(orders, batch.results, strict=True):
            look: Look[Any] = order.work  # type: ignore[assignment]
            try:
                order.value = look.answer(self._first(look.statement, result))
            except Exception as error:
                order.error = error
            order.deliver()

    def _text(self, statement: Prepared) -> tuple[str, Sequence[str]]:
        found = self._texts.get(statement)
        if found is None:
            compiled = statement.clause.compile(dialect=_DIALECT)
            names = compiled.positiontup or []  # type: ignore[attr-defined]
            found = self._texts[statement] = (str(compiled), names)
        return found

    def _first(self, statement: Prepared, result: PGresult) -> tuple[Any, ...] | None:
        """The first row; None without any."""
        if result.ntuples == 0:
            return None
        readers = self._readers.get(statement)
        if readers is None:
            readers = [reader(result.ftype(column)) for column in range(result.nfields)]
            self._readers[statement] = readers
        value = result.get_value
        row = [value(0, column) for column in range(len(readers))]
        return tuple(
            [None if data is None else read(data) for read, data in zip(readers, row, strict=True)]
        )
