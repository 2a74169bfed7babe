"""How does somebody wait until an approval was asked for or answered, without asking all the time?

Waiting is a loop: look, wait, look. A change that comes between a look and the next wait must not
be slept through. Nobody says who they are, so a wait counts as the continuation of the one that had
seen least; at worst somebody looks once too often.
"""

import asyncio
import heapq
import threading
from datetime import timedelta
from typing import Protocol


class Changes(Protocol):
    """Where the ledger's waiting is done."""

    async def wait(self, timeout: timedelta) -> bool:
        """True when something may have changed since the caller looked; False at the timeout."""
        ...

    def note(self) -> None:
        """This process has changed something."""
        ...

    def close(self) -> None: ...


class Waiters:
    """Who waits for changes in this process; `note` may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes = 0
        self._seen: list[int] = []
        self._sleeping: set[asyncio.Future[None]] = set()

    def note(self) -> None:
        with self._lock:
            self._changes += 1
            sleeping, self._sleeping = self._sleeping, set()
        for sleeper in sleeping:
            try:
                sleeper.get_loop().call_soon_threadsafe(_wake, sleeper)
            except RuntimeError:
                continue  # its loop is closed

    async def wait(self, timeout: timedelta) -> bool:
        sleeper = asyncio.get_running_loop().create_future()
        with self._lock:
            seen = heapq.heappop(self._seen) if self._seen else 0
            if self._changes > seen:
                heapq.heappush(self._seen, self._changes)
                return True
            self._sleeping.add(sleeper)
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await sleeper
        except TimeoutError:
            return False
        else:
            seen = self._changes
            return True
        finally:
            with self._lock:
                self._sleeping.discard(sleeper)
                heapq.heappush(self._seen, seen)

    def close(self) -> None:
        """Lets nobody sleep on."""
        self.note()


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)
