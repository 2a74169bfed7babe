"""How does a worker take up calls as soon as they are answered?

It sleeps until the ledger says that something changed; it does not ask again and again. Any number
of workers may watch one ledger: which of them runs a call is decided by its claim.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.log import Log
from toolkeeper.runtime.resumption import Attempt, attempt, ready
from toolkeeper_contract import Code, RunError
from toolkeeper_pipeline import reap

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper

_LOG = Log(__name__)

ROUND = timedelta(seconds=15)
"""The longest sleep: leases and approvals that run out tell nobody."""

_FIRST_PAUSE = timedelta(seconds=15)
_LONGEST_PAUSE = timedelta(minutes=10)
_STORE_PAUSE = timedelta(seconds=1)


@dataclass(slots=True)
class _Waiting:
    """Calls that could not go on when they were tried: when to try again, and how long after."""

    until: dict[str, float] = field(default_factory=dict)
    pause: dict[str, timedelta] = field(default_factory=dict)

    def put(self, id: str, now: float) -> bool:
        """Whether this is the first time."""
        first = id not in self.pause
        pause = _FIRST_PAUSE if first else min(self.pause[id] * 2, _LONGEST_PAUSE)
        self.pause[id] = pause
        self.until[id] = now + pause.total_seconds()
        return first

    def keep(self, ids: set[str]) -> None:
        """Forgets all others."""
        for id in self.pause.keys() - ids:
            del self.pause[id], self.until[id]


async def watch(
    keeper: "Toolkeeper", stop: asyncio.Event, *, parallel: int = 8
) -> AsyncIterator[Attempt]:
    """Takes up what can go on, and tells of each call once, until `stop` is set.

    At most `parallel` calls run at once. A call whose server or configuration is in the way stays
    parked and is tried again with growing pauses. What runs when `stop` is set comes to its end
    first. A store that is gone for a while is waited for.
    """
    running: dict[asyncio.Task[Attempt], str] = {}
    waiting = _Waiting()
    stopped = asyncio.ensure_future(stop.wait())
    loop = asyncio.get_running_loop()
    try:
        while not stop.is_set():
            await _start_ready(keeper, running, waiting, parallel)
            change = asyncio.ensure_future(_changed(keeper))
            await asyncio.wait({change, stopped, *running}, return_when=asyncio.FIRST_COMPLETED)
            await _end(change)
            for made in _over(running):
                if made.outcome is not None or waiting.put(made.row.invocation_id, loop.time()):
                    yield made
        while running:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for made in _over(running):
                yield made
    finally:
        await _end(stopped)
        for task in running:
            await _end(task)


async def _start_ready(
    keeper: "Toolkeeper",
    running: dict[asyncio.Task[Attempt], str],
    waiting: _Waiting,
    parallel: int,
) -> None:
    loop = asyncio.get_running_loop()
    with _store_may_be_gone():
        await reap(keeper.rim)
        rows = await ready(keeper.ledger)
        waiting.keep({row.invocation_id for row in rows})
        for row in rows:
            id = row.invocation_id
            if len(running) >= parallel:
                break
            if id not in running.values() and waiting.until.get(id, 0.0) <= loop.time():
                running[loop.create_task(attempt(keeper, row))] = id


async def _changed(keeper: "Toolkeeper") -> None:
    """Sleeps until something changes; a moment only while the store is gone."""
    try:
        await keeper.ledger.changed(ROUND)
    except RunError as error:
        if error.code is not Code.LEDGER_UNAVAILABLE:
            raise
        await asyncio.sleep(_STORE_PAUSE.total_seconds())


def _over(running: dict[asyncio.Task[Attempt], str]) -> list[Attempt]:
    """The attempts that are over; one that met a store that is gone is made again later."""
    made = []
    for task in [task for task in running if task.done()]:
        del running[task]
        with _store_may_be_gone():
            made.append(task.result())
    return made


@contextmanager
def _store_may_be_gone() -> Iterator[None]:
    """What a store that is gone interrupts is begun again later; it is said, not raised."""
    try:
        yield
    except RunError as error:
        if error.code is not Code.LEDGER_UNAVAILABLE:
            raise
        _LOG.warning("watch.store_unavailable", reason=error.message)


async def _end(task: "asyncio.Future[Any]") -> None:
    """Ends a task; what it raised is raised here, unless it was ended."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()
