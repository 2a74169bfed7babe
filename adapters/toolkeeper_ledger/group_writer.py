"""How do many callers share one commit, and none of them block the event loop?

A thread of its own runs the work. What has arrived while it was at the disk is the next group: one
transaction, one commit.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.database import Database
from toolkeeper_ledger.fault import closed
from toolkeeper_ledger.group import Order, run_group
from toolkeeper_ledger.look import Look, Looks

T = TypeVar("T")

_LARGEST_GROUP = 64
_READERS = 4


class GroupWriter:
    """A `Writer` that runs work in threads: writes in one, gathered, and reads beside them.

    A caller that is cancelled while its work waits takes it back; begun work is finished.
    `close` runs what is waiting, and refuses what comes later.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[Order[Any]] = deque()
        self._change = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._looking: dict[asyncio.AbstractEventLoop, list[Order[Any]]] = {}
        self._readers = ThreadPoolExecutor(_READERS, "toolkeeper-read")

    async def write(self, work: Callable[[Connection], T]) -> T:
        order = Order(work)
        self.take(order)
        try:
            return await order.answer
        except asyncio.CancelledError:
            self.forget(order)
            raise

    def take(self, order: Order[Any]) -> None:
        """Puts the order behind those that wait. RunError(ledger.unavailable) after `close`."""
        with self._change:
            if self._closed:
                raise closed()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="toolkeeper-write", daemon=True
                )
                self._thread.start()
            self._waiting.append(order)
            self._change.notify()

    def forget(self, order: Order[Any]) -> None:
        """Takes it back, unless it was begun."""
        with self._change:
            if not order.begun and order in self._waiting:
                self._waiting.remove(order)

    async def read(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise closed()
        if isinstance(work, Look):
            return await self._look(work)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._database.read, work)

    async def _look(self, look: Look[T]) -> T:
        """Looks that are asked for in the same round of a loop go to a thread together."""
        order = Order(look)
        orders = self._looking.get(order.loop)
        if orders is None:
            self._looking[order.loop] = [order]
            order.loop.call_soon(self._send_looks, order.loop)
        else:
            orders.append(order)
        return await order.answer

    def _send_looks(self, loop: asyncio.AbstractEventLoop) -> None:
        self.look(self._looking.pop(loop))

    def look(self, orders: Sequence[Order[Any]]) -> None:
        """Looks for all of them in a thread."""
        try:
            self._readers.submit(self._look_for, orders)
        except RuntimeError:
            for order in orders:
                order.error = closed()
                order.deliver()

    def _look_for(self, orders: Sequence[Order[Any]]) -> None:
        try:
            if len(orders) == 1:
                orders[0].value = self._database.read(orders[0].work)
            else:
                looks = Looks([order.work for order in orders])  # type: ignore[misc]
                for order, value in zip(orders, self._database.read(looks), strict=True):
                    order.value = value
        except BaseException as error:
            for order in orders:
                order.error = error
        _hand_out(orders)

    def in_a_reader(self, do: Callable[[], None]) -> None:
        """Does something beside the loop; RuntimeError after `close`."""
        self._readers.submit(do)

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
            run_group(self._database, group)
            _hand_out(group)


def _hand_out(group: Sequence[Order[Any]]) -> None:
    """Wakes each caller's loop once for all of its callers."""
    loops: dict[asyncio.AbstractEventLoop, list[Order[Any]]] = {}
    for order in group:
        loops.setdefault(order.loop, []).append(order)
    for loop, orders in loops.items():

        def deliver(orders: Sequence[Order[Any]] = orders) -> None:
            for order in orders:
                order.deliver()

        try:
            loop.call_soon_threadsafe(deliver)
        except RuntimeError:
            continue  # the loop is closed, and its callers with it
