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

_ALONE = 16
"""After so many groups of one there is nobody to wait for."""


class GatheringWriter:
    """A `Writer` that runs work in the loop's own thread, at the end of the round.

    Work whose caller has been alone for long runs at once, which spares it two rounds, until two
    come in one round again; so nobody keeps the loop by writing on and on. A caller that is
    cancelled while its work waits takes it back. `close` refuses what waits, and what comes later.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # One ledger may be used from several loops, each in a thread of its own.
        self._waiting: dict[asyncio.AbstractEventLoop, list[Order[Any]]] = {}
        self._served: asyncio.AbstractEventLoop | None = None
        self._alone = 0
        self._closed = False

    async def write(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise closed()
        if self._alone >= _ALONE:
            loop = asyncio.get_running_loop()
            if loop is not self._served and loop not in self._waiting:
                self._served = loop
                loop.call_soon(self._next_round)
                return self._database.write(work)
            self._alone = 0
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

    def _next_round(self) -> None:
        self._served = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        group = [order for order in self._waiting.pop(loop) if not order.answer.cancelled()]
        self._alone = self._alone + 1 if len(group) <= 1 else 0
        if self._closed:
            for order in group:
                order.error = closed()
        else:
            run_group(self._database, group)
        for order in group:
            order.deliver()
