"""How does a call keep its lease while it runs?"""

import asyncio
from contextlib import suppress

from toolkeeper_contract import Lease, RunError
from toolkeeper_pipeline.run import Rim, Run


class Renewal:
    """Renews a lease while its call runs; costs one timer where that may be long.

    `held` turns false when somebody else has ended the call, whose lease was over.
    """

    def __init__(self, lease: Lease, run: Run, rim: Rim) -> None:
        self.held = True
        self._lease = lease
        self._run = run
        self._rim = rim
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._period = run.limits.lease.total_seconds() / 3
        self._timer: asyncio.TimerHandle | None = None
        if self._period < run.limits.call_timeout.total_seconds():
            self._timer = self._loop.call_later(self._period, self._start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._renew())

    async def _renew(self) -> None:
        while self.held:
            # A store that is busy now may not be in a third of a lease; the call runs on anyway.
            with suppress(RunError):
                until = self._rim.clock.now() + self._run.limits.lease
                self.held = await self._rim.ledger.renew(self._lease, until)
            await asyncio.sleep(self._period)
