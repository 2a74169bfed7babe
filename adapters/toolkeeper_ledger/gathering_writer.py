"""How do the callers of one loop share a commit, without a thread?

Work that arrives in the same round of the event loop is one group: calls that run at the same time
reach the ledger at the same time. A thread would cost two hops a commit, which is more than a
commit to a local file takes.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.database import Database
from toolkeeper_ledger.fault import closed
from toolkeeper_ledger.group import Order, run_group

T = TypeVar("T")


class GatheringWriter:
    """A `Writer` that runs work in the loop's own thread, at the end of the round.

    A caller that is cancelled while its work waits takes it back. `close` refuses what waits, and
    what comes later.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # One ledger may be used from several loops, each in a thread of its own.
        self._waiting: dict[asyncio.AbstractEventLoop, list[Order[Any]]] = {}
        self._closed = False

    async def write(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise closed()
        order = Order(work)
        group = self._waiting.get(order.loop)
        if group is None:
            self._waiting[order.loop] = [order]
            order.loop.call_soon(self._run, order.loop)
        else:
            group.append(order)
        return await order.answer

    async def read(self, work: Callable[[Connection], T]) -> T:
        return self._database.read(work)

    async def close(self) -> None:
        self._closed = True
        self._database.close()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        group = [order for order in self._waiting.pop(loop) if not order.answer.cancelled()]
        if self._closed:
            for order in group:
                order.error = closed()
        else:
            run_group(self._database, group)
        for order in group:
            order.deliver()
