"""How do events join their session's chain, and how are they read back?"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    insert,
    literal_column,
    select,
    true,
    union_all,
    update,
)

from toolkeeper_contract import Event, RecordedEvent
from toolkeeper_ledger import outbox
from toolkeeper_ledger.chain import Head, extend
from toolkeeper_ledger.database import Moved
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.group import HOLDING
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.rows import event_of, event_text, instant
from toolkeeper_ledger.schema import IS_REPEATED, events, invocations, sessions

HEADS = "toolkeeper.heads"
"""Where a connection remembers where it left sessions; a stale head only costs a second try."""

_MOST_HEADS = 10_000

_FIND_HEAD = select(sessions.c.head_seq, sessions.c.head_hash).where(
    sessions.c.session_id == bindparam("session")
)
_HEAD = Prepared(_FIND_HEAD.with_for_update(key_share=True))
_HEAD_NOW = Prepared(_FIND_HEAD.with_for_update(key_share=True, nowait=True))
_ADVANCE = Prepared(
    update(sessions)
    .where(
        sessions.c.session_id == bindparam("session"),
        sessions.c.head_seq == bindparam("old_seq"),
        sessions.c.head_hash == bindparam("old_hash"),
    )
    .values(head_seq=bindparam("new_seq"), head_hash=bindparam("new_hash"))
)
_INSERT = Prepared(
    insert(events).values(
        {column: bindparam(column.name) for column in events.columns if column.name != "ordinal"}
    )
)
_OWNER = select(invocations.c.session_id).where(invocations.c.invocation_id == bindparam("id"))
_HEADS = select(sessions.c.session_id, sessions.c.head_seq, sessions.c.head_hash).order_by(
    sessions.c.session_id
)


def lock(connection: Connection, *session_ids: str) -> None:
    """Holds sessions for the rest of the transaction: what it reads of them stays true.

    All works of a session that look before they write begin with this, and always in one order, so
    that no two wait for each other. SQLite's write transactions exclude each other by themselves.
    A work that shares its transaction with others does not wait: it fails, and then runs alone.
    """
    if connection.dialect.name == "sqlite":
        return
    for session_id in sorted(set(session_ids)):
        _head().run(connection, {"session": session_id})


def append(
    connection: Connection, session_id: str, at: datetime, new: Sequence[Event]
) -> list[RecordedEvent]:
    """Writes the events behind the session's head and moves the head, in the caller's transaction.

    RunError(ledger.conflict) when there is no such session: an event is never lost silently.
    """
    if not new:
        return []
    heads: dict[str, Head] | None = connection.info.get(HEADS)
    written_at = instant(at)
    followed = None
    # On a server the head is read to be locked as well.
    if heads and session_id in heads and connection.dialect.name == "sqlite":
        followed = _follow(connection, heads[session_id], written_at, new)
    if followed is None:
        found = _head().run(connection, {"session": session_id}).fetchone()
        if found is None:
            raise conflict(f"session `{session_id}` is not in the ledger", "open the session first")
        followed = _follow(connection, Head(session_id, *found), written_at, new)
    if followed is None:
        raise Moved
    head, recorded = followed
    if heads is not None:
        remember_head(heads, head)
    _INSERT.run_many(connection, [event_row(record) for record in recorded])
    outbox.put(connection, recorded)
    return recorded


def remember_head(heads: dict[str, Head], head: Head) -> None:
    """Keeps where a session was left, of a bounded number of sessions."""
    if len(heads) >= _MOST_HEADS:
        heads.clear()
    heads[head.session_id] = head


def _follow(
    connection: Connection, old: Head, at: str, new: Sequence[Event]
) -> tuple[Head, list[RecordedEvent]] | None:
    """Moves the session's head behind these events; None if it does not stand at `old`."""
    head, recorded = extend(old, at, new)
    moved = _ADVANCE.run(
        connection,
        {
            "session": old.session_id,
            "old_seq": old.seq,
            "old_hash": old.hash,
            "new_seq": head.seq,
            "new_hash": head.hash,
        },
    )
    return (head, recorded) if moved.rowcount == 1 else None


def _head() -> Prepared:
    return _HEAD_NOW if HOLDING.get() else _HEAD


def event_row(record: RecordedEvent) -> dict[str, object]:
    event = record.event
    return {
        "session_id": record.session_id,
        "seq": record.seq,
        "at": record.at,
        "name": event.name,
        "run_id": event.run_id,
        "invocation_id": event.invocation_id,
        "data": event_text(event),
        "hash": record.hash,
    }


def read_events(
    connection: Connection, session_id: str | None, invocation_id: str | None
) -> list[RecordedEvent]:
    """In the order in which they were written; within a session that is the order of `seq`."""
    query: Select[tuple[object, ...]] = select(events)
    if session_id is not None:
        query = query.where(events.c.session_id == session_id)
    if invocation_id is not None:
        query = query.where(events.c.invocation_id == invocation_id)
        if session_id is None:
            query = query.where(_may_tell_of(connection, invocation_id))
    # By `seq` inside one session, so that tampering with the row order does not hide anything.
    order = (events.c.seq,) if session_id is not None else (events.c.ordinal,)
    return [event_of(row) for row in connection.execute(query.order_by(*order)).mappings()]


def _may_tell_of(connection: Connection, invocation_id: str) -> ColumnElement[bool]:
    """Where the events of a call can stand: in its session, and its repetitions anywhere."""
    owner = connection.execute(_OWNER, {"id": invocation_id}).scalar()
    if owner is None:
        return true()  # a call without a row: nothing says where to look
    own = select(events.c.ordinal).where(
        events.c.session_id == owner, events.c.invocation_id == invocation_id
    )
    repeated = select(events.c.ordinal).where(
        literal_column(IS_REPEATED), events.c.invocation_id == invocation_id
    )
    return events.c.ordinal.in_(union_all(own, repeated))


def read_heads(connection: Connection) -> list[Head]:
    """The head of every session, by session id."""
    return [Head(row.session_id, row.head_seq, row.head_hash) for row in connection.execute(_HEADS)]
