"""Which connections does an event loop watch itself, and what if they die?

Two for the commits of calls and one for looks. They are made in a thread when the loop has done a
few of these, belong to it alone, and are made anew when they die; until then there are none.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from toolkeeper_contract import RunError
from toolkeeper_ledger.group_writer import GroupWriter
from toolkeeper_ledger.postgres_connection import discard
from toolkeeper_ledger.postgres_database import PostgresDatabase
from toolkeeper_ledger.postgres_lane import Lane
from toolkeeper_ledger.postgres_looks import PostgresLooks
from toolkeeper_ledger.postgres_wire import Wire, tune

FEW = 4
"""Who asks no more often than this needs no connections of its own."""

CONNECTIONS = 3

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two attempts to connect, each twice as long as the one before."""

_MOMENT = 0.001


class Home:
    """The connections of one loop. Used on that loop, but for `drop` when it runs no more."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, database: PostgresDatabase, threads: GroupWriter
    ) -> None:
        self.loop = loop
        self.lane: Lane | None = None
        self.looks: PostgresLooks | None = None
        self._database = database
        self._threads = threads
        self._wires: list[Wire] = []
        self._asked = 0
        self._is_opening = False
        self._next = 0.0
        self._pause = _FIRST_PAUSE
        self._closed = False

    def ask(self) -> None:
        """Somebody would use a connection of the loop that is not there."""
        self._asked += 1
        if self._asked <= FEW or self._is_opening or self._closed:
            return
        if time.monotonic() >= self._next:
            with contextlib.suppress(RuntimeError):
                self._threads.in_a_reader(self._connect)
                self._is_opening = True

    async def finish(self) -> None:
        """Returns when nothing is on its way any more, and the connections are closed."""
        self._closed = True
        while any(wire.batches for wire in self._wires) or (self.lane and self.lane.queued):
            await asyncio.sleep(_MOMENT)
        self.drop()

    def drop(self) -> None:
        """Closes the connections; what is on its way is heard of by nobody."""
        self._closed = True
        wires, self._wires = self._wires, []
        self.lane = self.looks = None
        for wire in wires:
            wire.close()

    def _connect(self) -> None:
        """In a thread: connections for the loop, or none where that fails."""
        made: list[Connection] = []
        try:
            for _ in range(CONNECTIONS):
                made.append(self._database.connect_once())
                tune(made[-1])
        except (DBAPIError, psycopg.Error, RunError):
            # Whoever writes in a thread meets the same, and waits or says why.
            _discard(made)
            made = []
        try:
            self.loop.call_soon_threadsafe(self._arrive, made)
        except RuntimeError:
            _discard(made)

    def _arrive(self, made: Sequence[Connection]) -> None:
        self._is_opening = False
        self._next = time.monotonic() + self._pause
        if self._closed or not made:
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            _discard(made)
            return
        self._pause = _FIRST_PAUSE
        try:
            self._wires = [Wire(each, self.loop, self._lose) for each in made]
        except NotImplementedError:
            # Such a loop cannot watch a socket: everything is the threads'.
            self._closed = True
            _discard(made)
            return
        *writing, looking = self._wires
        self.lane = Lane(writing, self._database.heads, self._threads.take)
        self.looks = PostgresLooks(looking, self._threads.look)

    def _lose(self) -> None:
        """One of them died: a server that has gone has taken the others as well."""
        wires, self._wires = self._wires, []
        lane, looks = self.lane, self.looks
        self.lane = self.looks = None
        for wire in wires:
            wire.die()
        if lane is not None:
            lane.give_up()
        if looks is not None:
            looks.give_up()


def _discard(made: Sequence[Connection]) -> None:
    for connection in made:
        discard(connection)
