"""Which works go to a server from the caller's own event loop, and which in threads?

What a call does goes on connections that the loop watches: its two commits, and the look at its
session before. Everything else, and whatever fails there, is a thread's.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.fault import closed
from toolkeeper_ledger.group import Order
from toolkeeper_ledger.group_writer import GroupWriter
from toolkeeper_ledger.look import Look
from toolkeeper_ledger.postgres_calls import plain
from toolkeeper_ledger.postgres_database import PostgresDatabase
from toolkeeper_ledger.postgres_home import Home

T = TypeVar("T")


class PostgresWriter:
    """A `Writer` on a PostgreSQL database. What it promises is what `GroupWriter` does."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._threads = GroupWriter(database)
        self._lock = threading.Lock()
        self._home: Home | None = None
        self._closed = False

    async def write(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise closed()
        order = Order(work)
        lane = None
        inner = None if self._database.read_only else plain(work)
        home = None if inner is None else self._at_home(order.loop)
        if inner is not None and home is not None:
            lane = home.lane
            if lane is None:
                home.ask()
            elif not lane.take(order, inner):
                lane = None
        if lane is None:
            self._threads.take(order)
        try:
            return await order.answer
        except asyncio.CancelledError:
            if lane is None or not lane.forget(order):
                self._threads.forget(order)
            raise

    async def read(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise closed()
        if isinstance(work, Look):
            order: Order[T] = Order(work)
            home = self._at_home(order.loop)
            if home is not None:
                if home.looks is None:
                    home.ask()
                elif home.looks.take(order, work):
                    return await order.answer
        return await self._threads.read(work)

    @property
    def queued(self) -> int:
        """How many works are waiting for the next group."""
        lane = self._home.lane if self._home is not None else None
        return self._threads.queued + (0 if lane is None else lane.queued)

    async def close(self) -> None:
        self._closed = True
        home, self._home = self._home, None
        if home is not None:
            if home.loop is asyncio.get_running_loop():
                await home.finish()
            elif home.loop.is_running():
                finishing = asyncio.run_coroutine_threadsafe(home.finish(), home.loop)
                await asyncio.wrap_future(finishing)
            else:
                home.drop()
        await self._threads.close()

    def _at_home(self, loop: asyncio.AbstractEventLoop) -> Home | None:
        """The connections of this loop; None while those of another one are in use."""
        home = self._home
        if home is not None and home.loop is loop:
            return home
        with self._lock:
            home = self._home
            if home is not None and not home.loop.is_closed():
                return home if home.loop is loop else None
            if home is not None:
                home.drop()
            self._home = Home(loop, self._database, self._threads)
            return self._home
