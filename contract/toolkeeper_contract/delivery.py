"""Who else is told what happened, and when was that tried?

Events that a sink wants are put into its outbox in the commit that writes them, and stay there
until the sink has taken them: each is delivered at least once, also after a crash.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from toolkeeper_contract.event import RecordedEvent

PATIENCE = 5
"""Attempts until an event that a sink does not take no longer holds back those behind it."""

LONGEST_PAUSE = timedelta(hours=1)
"""No delivery is held or put off for longer; one that is due later has it from another clock."""


class Undelivered(Exception):
    """A sink could not take an event now; it stays in the outbox. `reason` holds no secret.

    `final`: trying again is of no use (the receiver said that it is gone).
    """

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.final = final


class EventSink(Protocol):
    """Somebody who is told of events, outside the ledger.

    `name` tells its outbox from others' and stays the same over restarts. `events` are the names of
    the events that it wants.
    """

    @property
    def name(self) -> str: ...

    @property
    def events(self) -> Collection[str]: ...

    async def deliver(self, event: RecordedEvent) -> None:
        """Takes one event. Undelivered when it is to be tried again later."""
        ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event in the outbox of one sink; `attempts` were begun, the next not before `due_at`."""

    delivery_id: int
    sink: str
    event: RecordedEvent
    attempts: int
    due_at: datetime
    last_error: str | None = None
