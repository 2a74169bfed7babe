"""Who runs the ledger's transactions?

The ledger hands over work, a function of a connection, and waits for its answer. Inline means at
once, in this thread: the cheapest way where a commit costs little. A writer that gathers the work
of many callers into one commit, or a pool of another database, fits the same two methods.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.database import Database

T = TypeVar("T")


class Writer(Protocol):
    """Runs work in a transaction of its own: all of it is done, or none."""

    async def write(self, work: Callable[[Connection], T]) -> T: ...

    async def read(self, work: Callable[[Connection], T]) -> T: ...

    async def close(self) -> None: ...


class InlineWriter:
    """Runs each transaction at once, without leaving the thread or awaiting anything."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, work: Callable[[Connection], T]) -> T:
        return self._database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return self._database.read(work)

    async def close(self) -> None:
        self._database.close()
