"""What came of handing a call to its source, once?

The source works in a task of its own. When its time is over, or the turn is, the task is cancelled
and left to itself: whether it ends, goes on or raises, the call has ended, and what comes late is
dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from toolkeeper_pipeline.halt import Halted
from toolkeeper_pipeline.run import Rim, Run


class OutOfTime(Exception):
    """The source did not answer in time."""


class Ends(Exception):
    """The tool raised `error`, which is made to end the program."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Dropped(Exception):
    """The source was cancelled or closed, or did that itself, although nobody had asked for it."""


async def attempt(call: Callable[[], Awaitable[Any]], within: float, run: Run, rim: Rim) -> Any:
    """What the source gives; what it raises, if that is an Exception.

    `within` is in seconds. Otherwise raises OutOfTime, Halted, Ends or Dropped.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not over.done():
            over.set_result(None)

    task = loop.create_task(_told(call, wake))
    timer = loop.call_later(max(within, 0), wake)
    halted = False
    try:
        await run.halt.wait_for(over)
    except Halted:
        halted = True
    finally:
        timer.cancel()
    if not task.done():
        rim.work.leave(task)
        raise Halted if halted else OutOfTime
    value, error = (None, asyncio.CancelledError()) if task.cancelled() else task.result()
    if error is None:
        return value
    if isinstance(error, Exception):
        raise error
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        raise Halted if halted else Dropped
    raise Ends(error)


async def _told(
    call: Callable[[], Awaitable[Any]], wake: Callable[[], None]
) -> tuple[Any, BaseException | None]:
    # As a value: raised in a task, some errors would tear the loop down before a row is written.
    try:
        return await call(), None
    except BaseException as error:
        return None, error
    finally:
        # From here, and not when the task is done: that would be another round of the loop.
        wake()
