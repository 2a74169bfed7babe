"""Was a session's history changed after it was written?

Each event's hash covers the hash before it, so a change anywhere breaks every later link. A head
that is kept elsewhere also finds a tail that was cut off. Only whoever can rewrite a whole history
together with every head that is kept of it is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolkeeper_contract import Event, RecordedEvent, digest
from toolkeeper_contract.draft import drafted

GENESIS = "0" * 64
"""The hash before a session's first event."""

PRUNED = "session.pruned"
"""The event that stands for everything before it: `through` is its last seq, `hash` its hash."""


@drafted
@dataclass(frozen=True, slots=True)
class Head:
    """The newest event of a session; `seq` is 0 and `hash` is GENESIS when it has none."""

    session_id: str
    seq: int = 0
    hash: str = GENESIS


class FaultKind(StrEnum):
    """What became of an event."""

    CHANGED = "changed"
    REMOVED = "removed"
    INSERTED = "inserted"
    REORDERED = "reordered"


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first place, counted from 1, where the history is not as it was written."""

    session_id: str
    seq: int
    kind: FaultKind


def link(previous: str, seq: int, session_id: str, at: str, event: Event) -> str:
    """The hash of an event that follows `previous` as number `seq`."""
    return digest(
        [
            previous,
            seq,
            session_id,
            at,
            event.name,
            event.run_id,
            event.invocation_id,
            dict(event.data),
        ]
    )


def extend(head: Head, at: str, events: Sequence[Event]) -> tuple[Head, list[RecordedEvent]]:
    """The events as they follow `head`, and the head after them."""
    recorded: list[RecordedEvent] = []
    seq, previous = head.seq, head.hash
    for event in events:
        seq += 1
        previous = link(previous, seq, head.session_id, at, event)
        recorded.append(RecordedEvent(seq, head.session_id, at, event, previous))
    return Head(head.session_id, seq, previous), recorded


class Walk:
    """Follows one session's history event by event, in the order of `seq`.

    `head` is where the session says that its history ends; `kept` are older heads that were kept
    elsewhere: they find a history that was cut or rewritten together with its head. A history that
    was pruned begins with the event that says so, which holds the hash that it follows.
    """

    def __init__(self, head: Head, kept: Sequence[Head] = ()) -> None:
        self.head = head
        self.seq, self.previous = 0, GENESIS
        self.pruned = Head(head.session_id)
        self._kept = kept

    def step(self, record: RecordedEvent) -> bool:
        """Whether the next event holds; where it does not, the walk stays before it."""
        start = self._pruned_by(record) if self.seq == 0 else None
        before = start or Head(self.head.session_id, self.seq, self.previous)
        seq = before.seq + 1
        if (
            seq > self.head.seq
            or not _holds(before.hash, seq, self.head.session_id, record)
            or not self._are_met((before, Head(before.session_id, seq, record.hash)))
        ):
            return False
        if start is not None:
            self.pruned = start
        self.seq, self.previous = seq, record.hash
        return True

    def fault(self, record: RecordedEvent, later: Sequence[RecordedEvent]) -> ChainFault:
        """What is wrong with the event at which `step` has stopped; `later` are all behind it."""
        head, seq = self.head, self.seq + 1
        if self.seq == 0 and record.event.name == PRUNED:
            return ChainFault(head.session_id, record.seq, FaultKind.CHANGED)
        if _holds(self.previous, seq, head.session_id, record):
            kind = FaultKind.INSERTED if seq > head.seq else FaultKind.CHANGED
        else:
            kind = _diagnose(self.previous, seq, head, record, later)
        return ChainFault(head.session_id, seq, kind)

    def end(self) -> ChainFault | None:
        """What is missing behind the last event."""
        owed = max([self.head.seq, *(head.seq for head in self._kept)])
        if self.seq < owed:
            return ChainFault(self.head.session_id, self.seq + 1, FaultKind.REMOVED)
        return None

    def unknown(self) -> list[Head]:
        """The kept heads of which nothing can be said: what they are about was pruned."""
        return [head for head in self._kept if 0 < head.seq < self.pruned.seq]

    def _pruned_by(self, record: RecordedEvent) -> Head | None:
        event = record.event
        seq, hash = event.data.get("through"), event.data.get("hash")
        if event.name != PRUNED or not isinstance(seq, int) or not isinstance(hash, str):
            return None
        return Head(self.head.session_id, seq, hash) if seq == record.seq - 1 else None

    def _are_met(self, passed: Sequence[Head]) -> bool:
        return not any(
            mine.seq == other.seq and mine.hash != other.hash
            for mine in passed
            for other in (self.head, *self._kept)
        )


def verify(
    events: Sequence[RecordedEvent], head: Head, kept: Head | Sequence[Head] | None = None
) -> ChainFault | None:
    """The first fault of one session's history, or None when every link holds.

    `events` are all of the session's, in the order of `seq`; `head` and `kept` as for `Walk`.
    """
    walk = Walk(head, [kept] if isinstance(kept, Head) else kept or ())
    for index, record in enumerate(events):
        if not walk.step(record):
            return walk.fault(record, events[index + 1 :])
    return walk.end()


def _holds(previous: str, seq: int, session_id: str, record: RecordedEvent) -> bool:
    return (
        record.seq == seq
        and record.session_id == session_id
        and _fits(previous, seq, session_id, record)
    )


def _fits(previous: str, seq: int, session_id: str, record: RecordedEvent) -> bool:
    """Whether the record was written as number `seq` after `previous`, however it is numbered."""
    try:
        return link(previous, seq, session_id, record.at, record.event) == record.hash
    except (TypeError, ValueError):
        return False  # something stands there that no event has


def _diagnose(
    previous: str, seq: int, head: Head, record: RecordedEvent, later: Sequence[RecordedEvent]
) -> FaultKind:
    """What most likely happened at `seq`, where the chain breaks.

    Renumbering does not hide it: a record's hash tells as which number it was written.
    """
    owner = head.session_id
    if record.session_id != owner or seq > head.seq:
        return FaultKind.INSERTED
    if _fits(previous, seq, owner, record):
        return FaultKind.CHANGED  # only its number was
    if any(_fits(previous, seq, owner, other) for other in later):
        # The right one comes later. Was this one written behind one of the later ones (which have
        # moved by one place at most), or never?
        moved = any(
            _fits(other.hash, number, owner, record)
            for place, other in enumerate(later, start=seq + 1)
            for number in (place, place + 1)
        )
        return FaultKind.REORDERED if moved else FaultKind.INSERTED
    if not isinstance(record.seq, int):
        return FaultKind.CHANGED
    if record.seq > seq:
        return FaultKind.REMOVED
    if record.seq < seq:
        return FaultKind.INSERTED
    if later:
        # Renumbered after a removal: the next link holds, under a higher number.
        ahead = range(seq + 2, max(head.seq, seq + len(later)) + 2)
        if any(_fits(record.hash, number, owner, later[0]) for number in ahead):
            return FaultKind.REMOVED
    return FaultKind.CHANGED
