"""Who runs the ledger's transactions?

The ledger hands over work, a function of a connection, and waits for its answer. Callers at the
same time share a commit: in the loop's own thread where the store is a local file, in a thread of
its own where a commit is a round trip to a server.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")


class Writer(Protocol):
    """Runs work in a transaction: all of it is done, or none."""

    async def write(self, work: Callable[[Connection], T]) -> T: ...

    async def read(self, work: Callable[[Connection], T]) -> T: ...

    async def close(self) -> None: ...
