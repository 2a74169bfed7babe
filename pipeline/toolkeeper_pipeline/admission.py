"""May this call begin now, or does it wait for others?

A turn has a number of slots, and a tool or server that says so has a lane: calls of one lane never
overlap in a process, and run in the order of the step. Who waits for a lane takes no slot. Nothing
has been decided by then, so what is decided afterwards holds for the moment when the call runs.
"""

import asyncio
from contextvars import ContextVar, Token
from types import TracebackType

from toolkeeper_contract import Code
from toolkeeper_pipeline import message
from toolkeeper_pipeline.halt import Halted
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Recorded, Stop

_HELD: ContextVar[tuple["Admission", ...]] = ContextVar("toolkeeper_admissions", default=())
"""What the calls hold that led here: a tool may call back into its keeper."""


class Admission:
    """The right to run one call; to be used as a context manager.

    Entering raises Stop when the turn was cancelled meanwhile, and for a call that a tool makes
    into its own lane, which would wait for itself.
    """

    def __init__(self, recorded: Recorded, run: Run, rim: Rim) -> None:
        tool = rim.registry().tools.get(recorded.tool_name)
        self._lane = tool.lane if tool is not None else None
        self._run = run
        self._lanes = rim.work.lanes
        self._taken: list[asyncio.Lock | asyncio.Semaphore] = []
        self._token: Token[tuple[Admission, ...]] | None = None
        self._open = False

    async def __aenter__(self) -> None:
        run, lane = self._run, self._lane
        above = [held for held in _HELD.get() if held._open]
        if lane is not None and any(held._lane == lane for held in above):
            raise Stop(Code.UNAVAILABLE, message.INSIDE_ITSELF)
        try:
            if lane is not None:
                await self._take(self._lanes.setdefault(lane, asyncio.Lock()))
            # A tool that calls back has a slot; its calls would wait for what it holds itself.
            if not any(held._run.run_id == run.run_id for held in above):
                await self._take(run.slots)
            if run.halt.asked:
                raise Halted
        except Halted:
            self._give_back()
            raise Stop(Code.UNAVAILABLE, message.CANCELLED) from None
        self._open = True
        self._token = _HELD.set((*_HELD.get(), self))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._token is not None
        _HELD.reset(self._token)
        self._open = False
        self._give_back()

    async def _take(self, what: asyncio.Lock | asyncio.Semaphore) -> None:
        if isinstance(what, asyncio.Semaphore) and not what.locked():
            await what.acquire()  # at once: a lock that is free may still be promised to others
        else:
            await self._run.halt.wait_for(what.acquire())
        self._taken.append(what)

    def _give_back(self) -> None:
        while self._taken:
            self._taken.pop().release()
