"""How do calls that wait hear that they are to stop?

Cancelling a turn must not tear a transaction in two. So nobody cancels a call as it stands: it
looks here where it waits for something that nobody misses, and writes its end by itself.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Halted(Exception):
    """The call is to stop; what it waited for was given up."""


class Halt:
    """Whether the calls of one model step are to stop. For the event loop that runs them."""

    def __init__(self) -> None:
        self.asked = False
        self._waiting: set[asyncio.Task[Any]] = set()

    def ask(self) -> None:
        """Stops whoever waits here, now or later. Asking again changes nothing."""
        if self.asked:
            return
        self.asked = True
        for task in list(self._waiting):
            task.cancel()

    async def wait_for(self, waiting: "Coroutine[Any, Any, T] | asyncio.Future[T]") -> T:
        """What `waiting` gives. Raises Halted when the call is to stop, which gives it up.

        A task that is cancelled here by somebody else (a loop that shuts down) is halted as well.
        """
        if self.asked:
            if not isinstance(waiting, asyncio.Future):
                waiting.close()
            raise Halted
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            return await waiting
        except asyncio.CancelledError:
            # The end of the call is still to be written, and that waits for the ledger.
            while task.cancelling():
                task.uncancel()
            raise Halted from None
        finally:
            self._waiting.discard(task)
