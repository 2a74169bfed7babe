"""How does a function that blocks run without holding up everybody else?"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from toolkeeper_contract import NotDispatched

MAX_LEFT = 16
"""Threads of one function that may run on after their calls were given up."""


class ToolCrashed(Exception):
    """A tool raised something that is made to end a program (SystemExit, say)."""


class Crew:
    """The threads of one function. `left` counts those that nobody waits for any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._left: set[int] = set()
        self._last = 0

    @property
    def left(self) -> int:
        return len(self._left)

    def began(self) -> int:
        with self._lock:
            self._last += 1
            self._running.add(self._last)
            return self._last

    def ended(self, number: int) -> None:
        with self._lock:
            self._running.discard(number)
            self._left.discard(number)

    def leave(self, number: int) -> None:
        with self._lock:
            if number in self._running:
                self._left.add(number)


async def in_thread(function: Callable[..., Any], arguments: dict[str, Any], crew: Crew) -> Any:
    """What `function(**arguments)` gives, run in a thread of its own with this task's context.

    A daemon thread rather than a pool: a function that never returns takes no other's place, and
    does not keep the program from ending. When the caller is cancelled, the thread runs on and
    what it gives is dropped. NotDispatched when no thread can be started.
    """
    loop = asyncio.get_running_loop()
    number = crew.began()
    ended: asyncio.Future[None] = loop.create_future()
    # Not by the future or the callback: the loop, in its debug mode, logs what these hold.
    outcome: list[tuple[Any, BaseException | None]] = []
    context = contextvars.copy_context()

    def deliver() -> None:
        if not ended.done():
            ended.set_result(None)

    def work() -> None:
        value, error = None, None
        try:
            value = context.run(function, **arguments)
        except BaseException as raised:
            error = raised
        finally:
            crew.ended(number)
        outcome.append((value, error))
        # The loop may be closed by now; then nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver)

    try:
        threading.Thread(target=work, name="toolkeeper-tool", daemon=True).start()
    except RuntimeError:
        crew.ended(number)
        raise NotDispatched("no thread could be started") from None
    try:
        await ended
    except asyncio.CancelledError:
        crew.leave(number)
        raise
    value, error = outcome[0]
    if error is not None:
        raise ordinary(error)
    return value


async def on_loop(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What the coroutine function gives.

    KeyboardInterrupt comes through: on the loop it may be the user's own, who ends the program. So
    does GeneratorExit, by which Python takes away a coroutine that nobody waits for.
    """
    try:
        return await function(**arguments)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Raised by the function, not by whoever waits for it: only a failure of this call.
        raise ordinary(error) from error
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise ordinary(error) from error


def ordinary(error: BaseException) -> Exception:
    """The error, as one that ends this call and nothing else."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        return error
    crashed = ToolCrashed(f"the tool raised {type(error).__name__}")
    crashed.__cause__ = error
    return crashed
