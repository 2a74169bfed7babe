"""What does the ledger ask of a database?

To run a function of a connection in one transaction. Everything is synchronous: a transaction
cannot span an await. Who calls it, and from which thread, is the writer's business.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")

TRIES = 4
"""How often work that was overtaken runs, before it is a conflict."""


class Withdrawn(Exception):
    """Raised inside a transaction to undo all of it; `answer` is what the transaction gives."""

    def __init__(self, answer: object = None) -> None:
        super().__init__()
        self.answer = answer


class Moved(Exception):
    """Raised inside a transaction when what it had read was changed by another one meanwhile."""


class Database(Protocol):
    """A store of one kind, with its connections."""

    @property
    def read_only(self) -> bool: ...

    def write(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` in one transaction, commits it and gives its answer.

        Anything raised undoes the whole transaction. RunError when the store fails. Work that was
        overtaken (`Moved`, a unique key that somebody else has just taken) runs again from its
        beginning, to see what is there now.
        """
        ...

    def read(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` on one snapshot of the store."""
        ...

    def close(self) -> None: ...
