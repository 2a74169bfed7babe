"""Which events wait for a sink, in the ledger that has no file?"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from toolkeeper_contract import LONGEST_PAUSE, PATIENCE, Delivery, RecordedEvent
from toolkeeper_ledger.outbox import Subscription
from toolkeeper_ledger.rows import moment


class MemoryOutbox:
    """The same rules as in SQL, on a dictionary."""

    def __init__(self) -> None:
        self._waiting: dict[int, Delivery] = {}
        self._last = 0
        self._subscription = Subscription({})
        self._wake: Callable[[], None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def subscribe(
        self, sinks: Mapping[str, Collection[str]], wake: Callable[[], None] | None
    ) -> None:
        self._subscription = Subscription(sinks)
        self._wake = wake

    def put(self, recorded: Sequence[RecordedEvent]) -> None:
        copies = self._subscription.copies(recorded)
        for sink, record in copies:
            self._last += 1
            self._waiting[self._last] = Delivery(self._last, sink, record, 0, moment(record.at))
        if copies and self._wake is not None:
            self._wake()

    def take(
        self, sinks: Sequence[str], now: datetime, until: datetime, limit: int
    ) -> list[Delivery]:
        for each in list(self._waiting.values()):
            if each.sink in sinks and each.due_at > now + LONGEST_PAUSE:
                self._waiting[each.delivery_id] = replace(each, due_at=now)
        due = sorted(
            (each for each in self._waiting.values() if each.sink in sinks and each.due_at <= now),
            key=lambda each: (each.due_at, each.delivery_id),
        )
        taken = []
        for each in [each for each in due if not self._is_held_back(each)][:limit]:
            begun = replace(each, attempts=each.attempts + 1)
            self._waiting[each.delivery_id] = replace(begun, due_at=until)
            taken.append(begun)
        return taken

    def delivered(self, delivery_id: int) -> None:
        self._waiting.pop(delivery_id, None)

    def postpone(self, delivery_id: int, due_at: datetime, reason: str) -> None:
        there = self._waiting.get(delivery_id)
        if there is not None:
            self._waiting[delivery_id] = replace(there, due_at=due_at, last_error=reason)

    def _is_held_back(self, delivery: Delivery) -> bool:
        event = delivery.event
        return any(
            other.sink == delivery.sink
            and other.event.session_id == event.session_id
            and other.event.seq < event.seq
            and other.attempts < PATIENCE
            for other in self._waiting.values()
        )
