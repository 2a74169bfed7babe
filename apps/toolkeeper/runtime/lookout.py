"""Who outside sees what an open keeper does: sinks that are told, telemetry that is measured?"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from toolkeeper.runtime.configuration import Configuration
from toolkeeper.runtime.notifying import Notifications
from toolkeeper_contract import Clock, ConfigError, Event, EventSink, Ledger, RunError

if TYPE_CHECKING:
    from toolkeeper_telemetry import Telemetry

_LOOK = 15.0
"""Seconds between two looks at what waits; metrics are collected less often."""

_FLUSH = 10.0
"""Seconds that closing waits for a collector that does not answer."""


class Lookout:
    """Opened with the keeper's ledger and closed before it. Costs nothing where nobody looks."""

    def __init__(
        self,
        configuration: Configuration,
        clock: Clock,
        *,
        sinks: Sequence[EventSink] = (),
        telemetry: "Telemetry | None" = None,
    ) -> None:
        """`telemetry` is the program's own; the configured one is opened where there is none."""
        self._configuration = configuration
        self._clock = clock
        self._notifications = Notifications(configuration, clock, sinks)
        self._given = telemetry
        self._telemetry: Telemetry | None = None
        self._looking: asyncio.Task[None] | None = None

    @property
    def observer(self) -> "Telemetry | None":
        """Who watches calls."""
        return self._telemetry

    def watch(self) -> None:
        """Before anything is written: whoever is configured sees all of it."""
        configured = self._configuration.telemetry
        if self._given is not None:
            self._telemetry = self._given
        elif configured is not None:
            self._telemetry = _configured(self._configuration)

    async def open(self, ledger: Ledger) -> None:
        """Reaps what expired, tells of it, and begins to deliver and to look."""
        self._notifications.open(ledger)
        reaped = await ledger.reap(self._clock.now())
        self.reaped(reaped)
        self._notifications.start()
        if self._telemetry is not None:
            self._telemetry.watch_queue(getattr(ledger, "waiting_writes", None))
            await self._look(ledger)
            self._looking = asyncio.get_running_loop().create_task(self._keep_looking(ledger))

    def reaped(self, events: Sequence[Event]) -> None:
        """What a reaper has written."""
        if self._telemetry is not None:
            self._telemetry.reaped(events)

    async def close(self) -> None:
        """Lets what is on the way arrive, for a short time."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None
        await self._notifications.close()
        telemetry, self._telemetry = self._telemetry, None
        if telemetry is not None and self._given is None:
            # Its exporter waits in threads of its own, so it is closed in one as well.
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(telemetry.close), _FLUSH)

    async def _keep_looking(self, ledger: Ledger) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            await self._look(ledger)

    async def _look(self, ledger: Ledger) -> None:
        # A store that is gone for a while is no reason to stop looking.
        with suppress(RunError):
            backlog = await ledger.backlog(self._clock.now())
            if self._telemetry is not None:
                self._telemetry.show_backlog(backlog, self._clock.now)


def _configured(configuration: Configuration) -> "Telemetry":
    section = configuration.telemetry
    assert section is not None
    try:
        from toolkeeper_telemetry import open_telemetry
    except ImportError:
        raise ConfigError(
            "`telemetry` needs the extra `otel`, which is not installed",
            "run `pip install 'toolkeeper[otel]'`, or remove the section",
            file=configuration.file,
            key="telemetry",
        ) from None
    return open_telemetry(
        section.otlp,
        headers=section.headers,
        service=section.service,
        interval=section.interval,
    )
