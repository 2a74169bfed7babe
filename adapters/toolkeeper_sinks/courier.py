"""How do the events in one sink's outbox get to it?

At least once: a delivery is struck off after the sink has taken it, so whoever dies in between is
followed by somebody who delivers it again, under the same id.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from toolkeeper_contract import (
    LONGEST_PAUSE,
    Clock,
    Delivery,
    Event,
    EventSink,
    Ledger,
    RunError,
    Undelivered,
)
from toolkeeper_sinks.schedule import SCHEDULE, Schedule

ABANDONED = "delivery.abandoned"
DROPPED = "dropped by the operator"
_AT_ONCE = 8
"""Deliveries on the way at the same time, each of another session."""

_HELD = timedelta(seconds=60)
"""How long a delivery is nobody else's; longer than any sink may take."""

_LOOK_AGAIN = 15.0
"""Seconds after which another process's events are looked for."""


class Log(Protocol):
    """Where a courier tells what went wrong: names, counts and reasons of ours."""

    def info(self, event: str, **values: Any) -> None: ...

    def warning(self, event: str, **values: Any) -> None: ...


class Silence:
    """A log that nobody reads."""

    def info(self, event: str, **values: Any) -> None:
        """Tells nobody."""

    def warning(self, event: str, **values: Any) -> None:
        """Tells nobody."""


SILENCE = Silence()


class Fate(StrEnum):
    """What became of one attempt."""

    DELIVERED = "delivered"
    POSTPONED = "postponed"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Round:
    """What came of delivering what was due: how many were taken, put off, given up."""

    delivered: int = 0
    postponed: int = 0
    abandoned: int = 0

    @classmethod
    def of(cls, fates: Counter[Fate]) -> "Round":
        return cls(**{fate.value: number for fate, number in fates.items()})


class Courier:
    """Delivers to one sink.

    `timeout` is in seconds, for one attempt; `chance` gives numbers from 0 up to 1, for the pauses.
    """

    def __init__(
        self,
        sink: EventSink,
        ledger: Ledger,
        clock: Clock,
        *,
        chance: Callable[[], float],
        schedule: Schedule = SCHEDULE,
        timeout: float = 10.0,
        log: Log = SILENCE,
    ) -> None:
        self.sink = sink
        self._log = log
        self._ledger = ledger
        self._clock = clock
        self._chance = chance
        self._schedule = schedule
        self._timeout = timeout
        self._woken = asyncio.Event()
        self._stopping = False
        self._next: datetime | None = None

    def wake(self) -> None:
        """There is something new in the outbox."""
        self._woken.set()

    def stop(self) -> None:
        """Lets `run` end once it has tried what is due."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        """Delivers until it is stopped; a store that fails meanwhile is only waited for."""
        while True:
            stopping = self._stopping
            self._woken.clear()
            try:
                await self.deliver_due()
            except RunError as error:
                self._log.warning("delivery.waiting", sink=self.sink.name, code=error.code.value)
            if stopping:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), self._pause())

    async def deliver_due(self) -> Round:
        """Delivers all that is due now, or becomes so meanwhile. RunError when the store fails."""
        fates: Counter[Fate] = Counter()
        self._next = None
        while taken := await self._take():
            ended = await asyncio.gather(*map(self._deliver, taken), return_exceptions=True)
            # Each of them has ended before a store that failed for one of them ends the round.
            for fate in ended:
                if isinstance(fate, BaseException):
                    raise fate
                fates[fate] += 1
        return Round.of(fates)

    async def drop(self) -> Round:
        """Gives up everything in the outbox, due or not, at an operator's word."""
        fates: Counter[Fate] = Counter()
        never = self._clock.now() + timedelta(days=36_500)
        name = self.sink.name
        while taken := await self._ledger.take_deliveries([name], never, never + _HELD, _AT_ONCE):
            for each in taken:
                fates[await self._abandon(each, DROPPED)] += 1
        return Round.of(fates)

    async def _take(self) -> Sequence[Delivery]:
        now = self._clock.now()
        held = max(_HELD, timedelta(seconds=3 * self._timeout))
        until = now + min(held, LONGEST_PAUSE)
        return await self._ledger.take_deliveries([self.sink.name], now, until, _AT_ONCE)

    async def _deliver(self, delivery: Delivery) -> Fate:
        try:
            async with asyncio.timeout(self._timeout):
                await self.sink.deliver(delivery.event)
        except Undelivered as fault:
            return await self._failed(delivery, fault.reason, final=fault.final)
        except TimeoutError:
            return await self._failed(delivery, "it did not answer in time")
        except asyncio.CancelledError:
            # This process ends; the next one need not wait until nobody holds it any more.
            now = self._clock.now()
            await self._ledger.postpone(delivery.delivery_id, now, "the sender ended meanwhile")
            raise
        except Exception as error:
            # A sink of the program's own: its words may quote what they like, its type may not.
            return await self._failed(delivery, f"it raised {type(error).__name__}")
        await self._ledger.delivered(delivery.delivery_id)
        return Fate.DELIVERED

    async def _failed(self, delivery: Delivery, reason: str, *, final: bool = False) -> Fate:
        now = self._clock.now()
        happened_at = datetime.fromisoformat(delivery.event.at)
        due = self._schedule.next_attempt(delivery.attempts, happened_at, now, self._chance)
        if final or due is None:
            return await self._abandon(delivery, reason)
        await self._ledger.postpone(delivery.delivery_id, due, reason)
        self._next = min(due, self._next or due)
        self._log.info(
            "delivery.postponed",
            sink=delivery.sink,
            told=delivery.event.event.name,
            attempts=delivery.attempts,
            reason=reason,
        )
        return Fate.POSTPONED

    async def _abandon(self, delivery: Delivery, reason: str) -> Fate:
        """Never silently: the ledger tells who was not told of what."""
        record = delivery.event
        data = {
            "sink": delivery.sink,
            "seq": record.seq,
            "told": record.event.name,
            "attempts": delivery.attempts,
            "reason": reason,
        }
        # That somebody was not told of an abandoned delivery is no news: two sinks that are gone
        # would go on for ever telling each other.
        if record.event.name != ABANDONED:
            abandoned = Event(ABANDONED, data, record.event.run_id, record.event.invocation_id)
            # In this order: after a crash in between it is told twice rather than never.
            await self._ledger.append(record.session_id, [abandoned])
        await self._ledger.delivered(delivery.delivery_id)
        if reason != DROPPED:
            self._log.warning(ABANDONED, session_id=record.session_id, **data)
        return Fate.ABANDONED

    def _pause(self) -> float:
        """Seconds until there may be something to do."""
        if self._next is None:
            return _LOOK_AGAIN
        return min(max((self._next - self._clock.now()).total_seconds(), 0.0), _LOOK_AGAIN)
