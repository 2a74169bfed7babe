"""How is one row looked up, for many callers at once, without a transaction around it?

A call looks at its session before every step. One statement is a snapshot by itself: to a server
it goes alone, and those of many callers go together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.prepared import Prepared

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look(Generic[T]):
    """`answer` of the first row that `statement` finds with `values`; of None without one."""

    statement: Prepared
    values: Mapping[str, Any]
    answer: Callable[[Any], T]

    def __call__(self, connection: Connection) -> T:
        return self.answer(self.statement.run(connection, self.values).fetchone())


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks of several callers; their answers in the same order."""

    looks: Sequence[Look[Any]]

    def __call__(self, connection: Connection) -> list[Any]:
        return [look(connection) for look in self.looks]
