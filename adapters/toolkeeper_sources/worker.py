"""How does a function that blocks run without holding up everybody else?"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class ToolCrashed(Exception):
    """A tool raised something that is made to end a program (SystemExit, KeyboardInterrupt)."""


async def in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What `function(**arguments)` gives, run in a thread of its own with this task's context.

    A daemon thread rather than a pool: a function that never returns takes no other's place, and
    does not keep the program from ending. When the caller is cancelled, the thread runs on and
    what it gives is dropped.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(value: Any, error: BaseException | None) -> None:
        if not outcome.done():
            outcome.set_result((value, error))

    def work() -> None:
        value, error = None, None
        try:
            value = context.run(function, **arguments)
        except BaseException as raised:
            error = raised
        # The loop may be closed by now; then nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, value, error)

    threading.Thread(target=work, name="toolkeeper-tool", daemon=True).start()
    value, error = await outcome
    if error is not None:
        raise ordinary(error)
    return value


async def on_loop(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What the coroutine function gives."""
    try:
        return await function(**arguments)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Raised by the function, not by whoever waits for it: only a failure of this call.
        raise ordinary(error) from error
    except Exception:
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
