"""Which calls are under way in this process, and how are they stopped?

Every model step runs here. Its calls are tasks of their own, which a cancelled caller does not take
with it: they are halted, write down how they ended, and only then is the caller let go.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolkeeper_pipeline.halt import Halt

T = TypeVar("T")

GRACE = 0.5
"""Seconds that tools which were given up may take to end, twice, when the keeper closes."""


@dataclass(eq=False, slots=True)
class Step:
    """The calls of one model step, while they run; `over` once all of them have ended."""

    session_id: str
    run_id: str
    halt: Halt = field(default_factory=Halt)
    over: bool = False
    _waiting: asyncio.Event | None = None

    async def ended(self) -> None:
        """Waits until all of them have."""
        if not self.over:
            self._waiting = self._waiting or asyncio.Event()
            await self._waiting.wait()

    def end(self) -> None:
        self.over = True
        if self._waiting is not None:
            self._waiting.set()


_INSIDE: ContextVar[tuple[Step, ...]] = ContextVar("toolkeeper_steps", default=())
"""The steps whose calls led here: a tool may call back into its keeper."""


class _Ends:
    """Tells when all calls of a step have ended: `reached` is done then."""

    def __init__(self, count: int, reached: asyncio.Future[None]) -> None:
        self.reached = reached
        self._running = self._noted = count

    async def after(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs one of the calls."""
        try:
            return await call()
        finally:
            # From here, and not when the task is done: that would be another round of the loop.
            self._running -= 1
            if not self._running:
                self._reach()

    def note(self, task: asyncio.Task[Any]) -> None:
        """Counts a task that is done; one that was cancelled at once has never run its call."""
        self._noted -= 1
        if not self._noted:
            self._reach()

    def _reach(self) -> None:
        if not self.reached.done():
            self.reached.set_result(None)


class Work:
    """What one keeper is doing now. `lanes` keep calls apart that must not overlap."""

    def __init__(self) -> None:
        self.lanes: dict[str, asyncio.Lock] = {}
        self._steps: set[Step] = set()
        self._left: set[asyncio.Task[Any]] = set()

    async def step(
        self,
        step: Step,
        calls: Sequence[Callable[[], Coroutine[Any, Any, T]]],
    ) -> list[T]:
        """What the calls give, in their order. Every one has ended when this returns or raises.

        When the caller is cancelled, the calls are halted and the cancellation goes on once they
        have ended, however often it is repeated. What a call raises is raised after the others
        have ended.
        """
        if not calls:
            return []
        loop = asyncio.get_running_loop()
        ends = _Ends(len(calls), loop.create_future())
        inside = _INSIDE.set((*_INSIDE.get(), step))
        try:
            tasks = [loop.create_task(ends.after(call)) for call in calls]
        finally:
            _INSIDE.reset(inside)
        for task in tasks:
            task.add_done_callback(ends.note)
        self._steps.add(step)
        cancelled: asyncio.CancelledError | None = None
        try:
            try:
                await ends.reached
            except asyncio.CancelledError as error:
                step.halt.ask()
                cancelled = error
            while not all([task.done() for task in tasks]):
                try:
                    await asyncio.wait(tasks)
                except asyncio.CancelledError as error:
                    cancelled = error
        finally:
            self._steps.discard(step)
            step.end()
        # Asked for all of them, so that none is reported as never looked at.
        failures = [None if task.cancelled() else task.exception() for task in tasks]
        if cancelled is not None:
            raise cancelled
        for failure in failures:
            if failure is not None:
                raise failure
        return [task.result() for task in tasks]

    async def stop(self, *, session_id: str | None = None, run_id: str | None = None) -> None:
        """Halts the steps of a session, of a run, or all of them, and waits until they have ended.

        Steps whose own calls ask for it are not waited for.
        """
        steps = [
            step
            for step in self._steps
            if session_id in (None, step.session_id) and run_id in (None, step.run_id)
        ]
        for step in steps:
            step.halt.ask()
        inside = _INSIDE.get()
        for step in steps:
            if step not in inside:
                await step.ended()

    def leave(self, task: asyncio.Task[Any]) -> None:
        """Gives up a tool: it is cancelled, and whatever it still does or gives is dropped."""
        self._left.add(task)
        task.add_done_callback(self._left.discard)
        task.cancel()

    async def close(self) -> None:
        """Stops everything. Tools that do not end although they were cancelled are let go."""
        await self.stop()
        for _ in range(2):
            if self._left:
                await asyncio.wait(self._left, timeout=GRACE)
            for task in self._left:
                task.cancel()
        for task in list(self._left):
            # It would hold up the loop's end for ever, and with it the program's.
            asyncio.tasks._unregister_task(task)
            task._log_destroy_pending = False  # type: ignore[attr-defined]
