"""Who outside is told of what this keeper's ledger writes, while the keeper is open?"""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.assembly import open_store
from toolkeeper.runtime.clock import SystemClock
from toolkeeper.runtime.configuration import Configuration, load_configuration
from toolkeeper.runtime.log import Log
from toolkeeper_contract import Clock, ConfigError, EventSink, Ledger

if TYPE_CHECKING:
    from toolkeeper_sinks import Courier, Round, WebhookSink

_LOG = Log(__name__)

GRACE = 3.0
"""Seconds that closing waits for what is on the way; the rest is for the next process."""


class Notifications:
    """The couriers of all configured sinks, and of those that the program brings itself."""

    def __init__(
        self, configuration: Configuration, clock: Clock, sinks: Sequence[EventSink] = ()
    ) -> None:
        """ConfigError when two sinks have one name."""
        names = [each.name for each in configuration.notifications]
        names += [sink.name for sink in sinks]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(
                    f"there are two sinks by the name `{name}`", "give each a name of its own"
                )
        self._configuration = configuration
        self._clock = clock
        self._sinks = tuple(sinks)
        self._owned: list[WebhookSink] = []
        self._couriers: list[Courier] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._ledger: Ledger | None = None

    def open(self, ledger: Ledger) -> None:
        """From now on, what the sinks want is kept for them."""
        self._ledger = ledger
        self._couriers = [*self._configured(ledger), *self._given(ledger)]
        # Only where there are sinks: a ledger of the program's own may know nothing of them.
        if self._couriers:
            ledger.subscribe(
                {courier.sink.name: courier.sink.events for courier in self._couriers}, self._wake
            )

    def start(self) -> None:
        """Begins to deliver, beside whatever else this event loop does."""
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(courier.run(), name=f"courier of {courier.sink.name}")
            for courier in self._couriers
        ]

    async def deliver_due(self) -> Mapping[str, "Round"]:
        """Delivers once what is due now; by the sink's name, what came of it."""
        rounds = await asyncio.gather(*(courier.deliver_due() for courier in self._couriers))
        return {
            courier.sink.name: made for courier, made in zip(self._couriers, rounds, strict=True)
        }

    async def close(self, grace: float = GRACE) -> None:
        """Waits up to `grace` seconds for what is due and on the way, then lets go."""
        tasks, self._tasks = self._tasks, []
        for courier in self._couriers:
            courier.stop()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for sink in self._owned:
            await sink.close()
        if self._couriers and self._ledger is not None:
            self._ledger.subscribe({})
        self._owned, self._couriers, self._ledger = [], [], None

    def _wake(self) -> None:
        for courier in self._couriers:
            courier.wake()

    def _configured(self, ledger: Ledger) -> list["Courier"]:
        if not self._configuration.notifications:
            return []
        # Loaded for who notifies somebody: the HTTP client is a large library.
        from toolkeeper_sinks import Courier, Schedule, SigningSecret, WebhookSink

        couriers = []
        for each in self._configuration.notifications:
            sink = WebhookSink(
                each.url,
                SigningSecret.of(each.secret),
                each.events,
                name=each.name,
                timeout=each.timeout,
                now=self._clock.now,
            )
            self._owned.append(sink)
            schedule = Schedule(give_up_after=timedelta(seconds=each.give_up_after))
            couriers.append(
                Courier(
                    sink,
                    ledger,
                    self._clock,
                    chance=random.random,
                    schedule=schedule,
                    # The sink's own bound comes first, and says it better.
                    timeout=each.timeout + 1.0,
                    log=_LOG,
                )
            )
        return couriers

    def _given(self, ledger: Ledger) -> list["Courier"]:
        if not self._sinks:
            return []
        from toolkeeper_sinks import Courier

        return [
            Courier(sink, ledger, self._clock, chance=random.random, log=_LOG)
            for sink in self._sinks
        ]


@asynccontextmanager
async def open_notifications(path: str | Path) -> AsyncIterator[tuple[Ledger, Notifications]]:
    """The store of the configuration at `path` and its sinks; what expired is reaped first."""
    configuration = load_configuration(Path(path), os.environ)
    clock = SystemClock()
    notifications = Notifications(configuration, clock)
    ledger, _ = open_store(configuration, clock=clock, create=False)
    try:
        notifications.open(ledger)
        await ledger.reap(clock.now())
        yield ledger, notifications
    finally:
        await notifications.close()
        await ledger.close()


async def drop(ledger: Ledger, name: str) -> "Round":
    """Gives up all that waits for the sink `name`, which need not be configured any more."""
    from toolkeeper_sinks import Courier

    return await Courier(_Nobody(name), ledger, SystemClock(), chance=random.random).drop()


class _Nobody:
    """A sink that is there in name only."""

    events: Collection[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    async def deliver(self, event: Any) -> None:
        raise AssertionError("what is dropped is not delivered")
