"""Whom does it mark what a session reads?

The session itself, and whoever delegated it, directly or not: they read its answer. All of them in
the commit that tells of the reading, so that no worker can die in between. A fork marks nobody that
it came from; one of a delegated session still answers to those that delegated that one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Boolean, Connection, bindparam, or_, select, update

from toolkeeper_contract import Event
from toolkeeper_ledger.history import append, lock
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.rows import loads
from toolkeeper_ledger.schema import events, sessions
from toolkeeper_ledger.story import OPENED

READ = "session.read"
"""The event that a session has read what marks it, in or through the session that `by` names."""

_STANDING = Prepared(
    select(
        sessions.c.tainted, sessions.c.private, sessions.c.parent, sessions.c.granted.is_not(None)
    ).where(sessions.c.session_id == bindparam("session"))
)
_FIRST = Prepared(
    select(events.c.name, events.c.data).where(
        events.c.session_id == bindparam("session"), events.c.seq == bindparam("number")
    )
)
_MARK = Prepared(
    update(sessions)
    .where(sessions.c.session_id == bindparam("session"))
    .values(
        tainted=or_(sessions.c.tainted, bindparam("taints", type_=Boolean)),
        private=or_(sessions.c.private, bindparam("discloses", type_=Boolean)),
    )
)


@dataclass(frozen=True, slots=True)
class Marks:
    """What a session has read: untrusted text, private text."""

    tainted: bool = False
    private: bool = False

    def __bool__(self) -> bool:
        return self.tainted or self.private

    def within(self, other: "Marks") -> bool:
        """Whether all of these stand in `other`."""
        return self.tainted <= other.tainted and self.private <= other.private

    def told_by(self, session_id: str) -> Event:
        """The event for those above the session that has read it."""
        return Event(READ, {"by": session_id, "tainted": self.tainted, "private": self.private})


@dataclass(frozen=True, slots=True)
class Standing:
    """A session's marks, and where it comes from; `granted`: under what a delegator gave."""

    marks: Marks
    parent: str | None
    granted: bool


def read_in(told: Sequence[Event]) -> Marks:
    """The marks that these events tell of."""
    read = [event.data for event in told if event.name == READ]
    return Marks(
        any(data.get("tainted") is True for data in read),
        any(data.get("private") is True for data in read),
    )


def lacking(
    session_id: str,
    marks: Marks,
    standing: Callable[[str], Standing | None],
    is_delegated: Callable[[str], bool],
) -> Iterator[str]:
    """The sessions that have yet to be marked: this one, then those above it, upwards."""
    seen: set[str] = set()
    name: str | None = session_id if marks else None
    concerned = True
    while name is not None and name not in seen:
        seen.add(name)
        found = standing(name)
        if found is None:
            return
        if concerned:
            if marks.within(found.marks):
                return  # and so it is above
            yield name
        concerned = found.granted and is_delegated(name)
        name = found.parent if found.granted else None


def to_mark(connection: Connection, session_id: str, marks: Marks) -> list[str]:
    """The sessions that have yet to be marked; what another transaction adds does no harm."""
    if not marks:
        return []
    return list(
        lacking(
            session_id,
            marks,
            lambda name: _standing(connection, name),
            lambda name: _is_delegated(connection, name),
        )
    )


def mark(
    connection: Connection, session_id: str, lacking: Sequence[str], marks: Marks, at: datetime
) -> None:
    """Marks these sessions, and tells those above this one why; a mark is only ever set."""
    for name in lacking:
        values = {"session": name, "taints": marks.tainted, "discloses": marks.private}
        _MARK.run(connection, values)
        if name != session_id:
            append(connection, name, at, [marks.told_by(session_id)])


def append_marking(
    connection: Connection, session_id: str, at: datetime, told: Sequence[Event]
) -> None:
    """Writes the events, and marks whom they mark."""
    marks = read_in(told)
    sessions_to_mark = to_mark(connection, session_id, marks)
    if sessions_to_mark:
        lock(connection, session_id, *sessions_to_mark)
    append(connection, session_id, at, told)
    mark(connection, session_id, sessions_to_mark, marks, at)


def is_delegation(name: str, data: object) -> bool:
    """Whether a session whose first event this is was delegated, and not forked."""
    if name != OPENED or not isinstance(data, Mapping):
        return False
    return isinstance(data.get("delegated_by"), str)


def _standing(connection: Connection, session_id: str) -> Standing | None:
    row = _STANDING.run(connection, {"session": session_id}).fetchone()
    if row is None:
        return None
    tainted, private, parent, granted = row
    return Standing(Marks(bool(tainted), bool(private)), parent, bool(granted))


def _is_delegated(connection: Connection, session_id: str) -> bool:
    row = _FIRST.run(connection, {"session": session_id, "number": 1}).fetchone()
    # Its events were pruned: whoever may have delegated it is marked rather than not.
    return row is None or is_delegation(row[0], loads(row[1]))
