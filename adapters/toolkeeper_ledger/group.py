"""How does the work of several callers share one transaction?

One commit for all of it, in the order of arrival. If anything in a group fails the whole of it is
undone and each work runs alone, so nobody feels another's mistake; a store that is not there is
everybody's.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from toolkeeper_contract import Code, RunError
from toolkeeper_ledger.database import Database

T = TypeVar("T")

HOLDING: ContextVar[bool] = ContextVar("holding", default=False)
"""Whether an earlier work of the group may hold rows, so that nothing must be waited for."""


class Order(Generic[T]):
    """One caller's work, and where its answer goes; made on the caller's loop."""

    __slots__ = ("answer", "begun", "error", "loop", "value", "work")

    def __init__(self, work: Callable[[Connection], T]) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[T] = self.loop.create_future()
        self.begun = False
        self.value: Any = None
        self.error: BaseException | None = None

    def deliver(self) -> None:
        """On the caller's loop. A caller that has been cancelled is not there to hear it."""
        if self.answer.done():
            return
        if self.error is not None:
            self.answer.set_exception(self.error)
        else:
            self.answer.set_result(self.value)


class Undone(Exception):
    """Raised in a group's transaction to undo it, because one of its works failed."""


def run_group(database: Database, group: Sequence[Order[Any]]) -> None:
    """Does the work of all, and leaves each its value or its error; delivers nothing."""
    if len(group) > 1 and _together(database, group):
        return
    for order in group:
        try:
            order.value = database.write(order.work)
        except BaseException as error:
            order.error = error


class Together:
    """The works of a group, one after the other on one connection."""

    __slots__ = ("works",)

    def __init__(self, works: Sequence[Callable[[Connection], Any]]) -> None:
        self.works = works

    def __call__(self, connection: Connection) -> list[Any]:
        before = HOLDING.set(False)
        answers = []
        try:
            for work in self.works:
                answers.append(work(connection))
                HOLDING.set(True)
        except Exception as error:
            raise Undone from error
        finally:
            HOLDING.reset(before)
        return answers


def _together(database: Database, group: Sequence[Order[Any]]) -> bool:
    """Whether every order of the group has its answer; nothing was done when not."""
    try:
        values = database.write(Together([order.work for order in group]))
    except Undone:
        return False
    except RunError as error:
        if error.code is not Code.LEDGER_UNAVAILABLE:
            return False
        # Waited for once, and not again for each of them.
        for order in group:
            order.error = error
        return True
    for order, value in zip(group, values, strict=True):
        order.value = value
    return True
