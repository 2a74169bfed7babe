"""How do statements go to a PostgreSQL server from an event loop, without a thread and a wait?

A batch is one transaction: its statements go out together, and its answers come when the loop sees
that there is something to read. Batches are answered in the order in which they were sent.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import psycopg
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult
from sqlalchemy import Connection

from toolkeeper_ledger.postgres_connection import discard, driver_of

Statement: TypeAlias = tuple[str, Sequence[bytes | None]]
"""Its text with `$1` for parameters, and their values as text."""

# A batch runs on a plan that was made once. One that was made while a table was small must not read
# the whole of it when it has grown.
_SETTINGS = (
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
    " SET enable_bitmapscan = off; SET jit = off"
)

_FAILED = (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED)


def tune(connection: Connection) -> None:
    """Makes a new connection ready to be a wire's."""
    driver_of(connection).execute(_SETTINGS, prepare=False)


@dataclass(slots=True)
class Batch:
    """Statements that were sent; `hear` is told of it once `results` are there, or it is `lost`."""

    hear: Callable[["Batch"], None]
    prepares: list[str] = field(default_factory=list)
    results: list[PGresult] = field(default_factory=list)
    error: PGresult | None = None
    lost: bool = False


class Wire:
    """One connection, used by one event loop alone.

    NotImplementedError when the loop cannot watch a socket.
    """

    def __init__(
        self, connection: Connection, loop: asyncio.AbstractEventLoop, lose: Callable[[], None]
    ) -> None:
        """`lose` is called once when the connection dies, after its batches have heard of it."""
        self._connection = connection
        self._lose = lose
        self._pg = driver_of(connection).pgconn
        self._socket = self._pg.socket
        self._loop = loop
        self._names: dict[str, bytes] = {}
        self._count = 0
        self._sent: deque[Batch] = deque()
        self._open = True
        loop.add_reader(self._socket, self._read)
        self._pg.nonblocking = 1
        self._pg.enter_pipeline_mode()

    @property
    def batches(self) -> int:
        """How many are on their way."""
        return len(self._sent)

    def send(self, statements: Sequence[Statement], hear: Callable[[Batch], None]) -> None:
        """Sends them as a transaction. What goes wrong is told to `hear`, maybe at once."""
        batch = Batch(hear)
        if not self._open:
            batch.lost = True
            hear(batch)
            return
        self._sent.append(batch)
        pg = self._pg
        try:
            for text, values in statements:
                name = self._names.get(text)
                if name is None:
                    name = self._prepare(text)
                    batch.prepares.append(text)
                pg.send_query_prepared(name, values)
            pg.pipeline_sync()
            self._flush()
        except BaseException as error:
            # The end of the next batch would commit those that went out before.
            self.die()
            if not isinstance(error, psycopg.Error):
                raise

    def close(self) -> None:
        """Lets go of the connection; nobody hears of what is on its way."""
        self._sent.clear()
        self._end()

    def _prepare(self, text: str) -> bytes:
        self._count += 1
        name = self._names[text] = b"w%d" % self._count
        self._pg.send_prepare(name, text.encode())
        return name

    def _flush(self) -> None:
        if self._pg.flush():
            self._loop.add_writer(self._socket, self._write)

    def _write(self) -> None:
        try:
            if not self._pg.flush():
                self._loop.remove_writer(self._socket)
        except psycopg.Error:
            self.die()

    def _read(self) -> None:
        heard: list[Batch] = []
        try:
            self._pg.consume_input()
            self._take(heard)
            if self._sent and self._pg.ssl_in_use:
                # What TLS has read ahead of us makes the socket readable no more.
                self._pg.consume_input()
                self._take(heard)
        except psycopg.Error:
            for batch in heard:
                batch.hear(batch)
            self.die()
        else:
            for batch in heard:
                batch.hear(batch)

    def _take(self, heard: list[Batch]) -> None:
        """Takes the results that are there, and the batches that are answered with them."""
        pg, between = self._pg, False
        while self._sent and not pg.is_busy():
            result = pg.get_result()
            if result is None:
                # One stands between two statements; two are the end of everything.
                if between:
                    raise psycopg.OperationalError("the connection was lost")
                between = True
                continue
            between = False
            batch = self._sent[0]
            if result.status == ExecStatus.PIPELINE_SYNC:
                heard.append(self._sent.popleft())
            elif result.status in _FAILED:
                if batch.error is None:
                    batch.error = result
                    # Whether they were prepared before it failed is not worth asking.
                    for text in batch.prepares:
                        self._names.pop(text, None)
            elif result.status == ExecStatus.TUPLES_OK:
                batch.results.append(result)
        if pg.status == ConnStatus.BAD:
            raise psycopg.OperationalError("the connection was lost")

    def die(self) -> None:
        """Lets go of the connection; whoever waits for an answer hears that there is none."""
        if not self._open:
            return
        lost = list(self._sent)
        self._sent.clear()
        self._end()
        for batch in lost:
            batch.lost = True
            batch.hear(batch)
        self._lose()

    def _end(self) -> None:
        if self._open:
            self._open = False
            if not self._loop.is_closed():
                self._loop.remove_reader(self._socket)
                self._loop.remove_writer(self._socket)
            discard(self._connection)
