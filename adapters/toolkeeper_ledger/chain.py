"""Was a session's history changed after it was written?

Each event's hash covers the hash before it, so a change anywhere breaks every later link. A head
that is kept elsewhere also finds a tail that was cut off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolkeeper_contract import Event, RecordedEvent, digest

GENESIS = "0" * 64
"""The hash before a session's first event."""


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


def verify(
    events: Sequence[RecordedEvent], head: Head, kept: Head | None = None
) -> ChainFault | None:
    """The first fault of one session's history, or None when every link holds.

    `events` are all of the session's, in the order of `seq`, and `head` is where the session says
    that they end. `kept` is an older head that was kept elsewhere: it finds a history that was cut
    or rewritten together with its head.
    """
    previous = GENESIS
    for index, record in enumerate(events):
        seq = index + 1
        if not _holds(previous, seq, head.session_id, record):
            return ChainFault(head.session_id, seq, _diagnose(previous, index, head, events))
        if seq > head.seq:
            return ChainFault(head.session_id, seq, FaultKind.INSERTED)
        previous = record.hash
        for end in (head, kept):
            if end is not None and end.seq == seq and end.hash != previous:
                return ChainFault(head.session_id, seq, FaultKind.CHANGED)
    if len(events) < max(head.seq, kept.seq if kept else 0):
        return ChainFault(head.session_id, len(events) + 1, FaultKind.REMOVED)
    return None


def _holds(previous: str, seq: int, session_id: str, record: RecordedEvent) -> bool:
    return (
        record.seq == seq
        and record.session_id == session_id
        and _fits(previous, seq, session_id, record)
    )


def _fits(previous: str, seq: int, session_id: str, record: RecordedEvent) -> bool:
    """Whether the record was written as number `seq` after `previous`, however it is numbered."""
    return link(previous, seq, session_id, record.at, record.event) == record.hash


def _diagnose(previous: str, index: int, head: Head, events: Sequence[RecordedEvent]) -> FaultKind:
    """What most likely happened at `index`, where the chain breaks.

    Renumbering does not hide it: a record's hash tells as which number it was written.
    """
    record, later, seq = events[index], events[index + 1 :], index + 1
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
    if record.seq > seq:
        return FaultKind.REMOVED
    if record.seq < seq:
        return FaultKind.INSERTED
    if later:
        # Renumbered after a removal: the next link holds, under a higher number.
        ahead = range(seq + 2, max(head.seq, len(events)) + 2)
        if any(_fits(record.hash, number, owner, later[0]) for number in ahead):
            return FaultKind.REMOVED
    return FaultKind.CHANGED
