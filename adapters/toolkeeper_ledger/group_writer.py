"""How do many callers share one commit, and none of them block the event loop?

A thread of its own runs the work. What has arrived while it was at the disk is the next group: one
transaction, one commit, in the order of arrival. If anything in a group fails the whole of it is
undone and each work runs alone, so nobody feels another's mistake.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from toolkeeper_contract import Code, RunError
from toolkeeper_ledger.database import Database

T = TypeVar("T")

_LARGEST_GROUP = 64
_READERS = 4


class _Order(Generic[T]):
    """One caller's work, and where its answer goes."""

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


class _Undone(Exception):
    """Raised in a group's transaction to undo it, because one of its works failed."""


class GroupWriter:
    """A `Writer` that runs work in threads: writes in one, gathered, and reads beside them.

    A caller that is cancelled while its work waits takes it back; begun work is finished.
    `close` runs what is waiting, and refuses what comes later.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[_Order[Any]] = deque()
        self._change = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._readers = ThreadPoolExecutor(_READERS, "toolkeeper-read")

    async def write(self, work: Callable[[Connection], T]) -> T:
        order = _Order(work)
        with self._change:
            if self._closed:
                raise RunError(Code.LEDGER_UNAVAILABLE, "the store was closed", "open it again")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="toolkeeper-write", daemon=True
                )
                self._thread.start()
            self._waiting.append(order)
            self._change.notify()
        try:
            return await order.answer
        except asyncio.CancelledError:
            with self._change:
                if not order.begun and order in self._waiting:
                    self._waiting.remove(order)
            raise

    async def read(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise RunError(Code.LEDGER_UNAVAILABLE, "the store was closed", "open it again")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._database.read, work)

    async def close(self) -> None:
        await asyncio.to_thread(self._stop)

    @property
    def queued(self) -> int:
        """How many works are waiting for the next group."""
        return len(self._waiting)

    def _stop(self) -> None:
        with self._change:
            self._closed = True
            self._change.notify()
            thread = self._thread
        if thread is not None:
            thread.join()
        self._readers.shutdown()
        self._database.close()

    def _run(self) -> None:
        while True:
            with self._change:
                while not self._waiting and not self._closed:
                    self._change.wait()
                if not self._waiting:
                    return
                count = min(len(self._waiting), _LARGEST_GROUP)
                group = [self._waiting.popleft() for _ in range(count)]
                for order in group:
                    order.begun = True
            self._do(group)
            _hand_out(group)

    def _do(self, group: Sequence[_Order[Any]]) -> None:
        if len(group) > 1 and self._together(group):
            return
        for order in group:
            try:
                order.value = self._database.write(order.work)
            except BaseException as error:
                order.error = error

    def _together(self, group: Sequence[_Order[Any]]) -> bool:
        """Whether all of the group was done in one transaction; nothing was when not."""

        def work(connection: Connection) -> list[Any]:
            try:
                return [order.work(connection) for order in group]
            except Exception as error:
                raise _Undone from error

        try:
            values = self._database.write(work)
        except (_Undone, RunError):
            return False
        for order, value in zip(group, values, strict=True):
            order.value = value
        return True


def _hand_out(group: Sequence[_Order[Any]]) -> None:
    """Wakes each caller's loop once for all of its callers."""
    loops: dict[asyncio.AbstractEventLoop, list[_Order[Any]]] = {}
    for order in group:
        loops.setdefault(order.loop, []).append(order)
    for loop, orders in loops.items():

        def deliver(orders: Sequence[_Order[Any]] = orders) -> None:
            for order in orders:
                order.deliver()

        try:
            loop.call_soon_threadsafe(deliver)
        except RuntimeError:
            continue  # the loop is closed, and its callers with it
