"""How does a new call begin, and a running one end, in one message to a PostgreSQL server?

One statement moves the session's head, writes the row and its events, and fails as a whole when any
of it stands otherwise than was supposed: then the work is done step by step. Heads are remembered
from commit to commit, so that nothing is read. That leaves one message for a call's beginning and
one for its end, also for those of many callers at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, Connection, Table
from sqlalchemy.dialects import postgresql

from toolkeeper_contract import Event, Lease, State
from toolkeeper_ledger.call_rows import IDENTITY, columns_of, find_invocation
from toolkeeper_ledger.calls import Claim, Settle, ended_row, started_row
from toolkeeper_ledger.chain import Head, extend
from toolkeeper_ledger.history import event_row
from toolkeeper_ledger.lease_term import Term
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.schema import events, invocations
from toolkeeper_ledger.subscribed_writer import Subscribed
from toolkeeper_ledger.vouching import settling

_MOST_EVENTS = 8
_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]
_ROW = [column for column in invocations.columns if column.name != "ordinal"]
_CHANGING = [column for column in _ROW if column.name not in IDENTITY]
_EVENT = [column for column in events.columns if column.name != "ordinal"]


def _values_of(columns: Sequence["Column[Any]"]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    # Plain strings: a column's name is one that remembers whether it is quoted.
    return itemgetter(*["".join(column.name) for column in columns])


_row_values, _changing_values, _event_values = map(_values_of, (_ROW, _CHANGING, _EVENT))


@dataclass(frozen=True, slots=True)
class Message:
    """A statement with `$1` for parameters, the head after it, and what the work then answers.

    The values are as the columns have them; every one is sent as text, because a driver that names
    a number's type by its size makes a statement of its own of each.
    """

    text: str
    values: Sequence[Any]
    head: Head
    answer: Any


def plain(work: object) -> Claim | Settle | None:
    """The work itself, if it may be done at once; None for any other work."""
    if isinstance(work, Subscribed):
        inner = plain(work.work)
        if inner is None or work.subscription.wants_any(event.name for event in inner.events):
            return None
        return inner
    if isinstance(work, Claim) and work.row.approval_id is None and work.row.grant_id is None:
        return work
    if isinstance(work, Settle) and work.row.fence > 0 and not work.kept:
        return work
    return None


def message_of(work: Claim | Settle, head: Head) -> Message | None:
    """The statement that does the work if its session's head is this one."""
    return _beginning(work, head) if isinstance(work, Claim) else _ending(work, head)


def done_before(work: Claim | Settle, connection: Connection) -> Any:
    """The answer of work that may have been committed although nobody heard it; None if not.

    Only its own caller writes what is looked for, so that nobody else's is taken for it.
    """
    row = find_invocation(connection, work.row.invocation_id)
    if row is None or row.session_id != work.row.session_id:
        return None
    if isinstance(work, Claim):
        begun = (row.state, row.fence, row.opened_at) == (State.RUNNING, 1, work.row.opened_at)
        return Lease(row.invocation_id, 1, work.expires_at) if begun else None
    ended = (row.state, row.fence, row.settled_at) == (
        State.SETTLED,
        work.row.fence,
        work.row.settled_at or work.at,
    )
    return True if ended else None


def _beginning(work: Claim, head: Head) -> Message | None:
    row = started_row(work.row, 1)
    after, told = _told(work.row.session_id, head, instant(work.at), work.events)
    if not told:
        return None
    term = Term(work.at, work.expires_at)
    columns = columns_of(row, term=term, sealed=work.sealed)
    values = [head.session_id, head.seq, head.hash, after.seq, after.hash]
    values += _row_values(columns)
    values += told
    answer = Lease(row.invocation_id, 1, work.expires_at)
    return Message(_begin_text(len(work.events)), values, after, answer)


def _ending(work: Settle, head: Head) -> Message | None:
    row = ended_row(work.row, work.at, work.row.fence)
    columns = columns_of(row)
    story = settling(work.events, row, columns)
    after, told = _told(work.row.session_id, head, instant(work.at), story)
    if not told:
        return None
    values = [head.session_id, head.seq, head.hash, after.seq, after.hash]
    values += [work.tainted, work.private, row.invocation_id]
    values += _changing_values(columns)
    values += told
    return Message(_end_text(len(story)), values, after, True)


def _told(session_id: str, head: Head, at: str, story: Sequence[Event]) -> tuple[Head, list[Any]]:
    """The head after these events, and the values of their rows; no values where too many."""
    if not 0 < len(story) <= _MOST_EVENTS:
        return head, []
    after, recorded = extend(head, at, story)
    values: list[Any] = []
    for record in recorded:
        values += _event_values(event_row(record))
    return after, values


class _Places:
    """Numbers the parameters of a statement."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self, column: "Column[Any]") -> str:
        return self.typed(column.type.compile(dialect=_DIALECT))

    def typed(self, name: str) -> str:
        self._last += 1
        return f"${self._last}::{name}"


def _cached(write: Callable[[int], str]) -> Callable[[int], str]:
    texts: dict[int, str] = {}

    def text(count: int) -> str:
        if count not in texts:
            texts[count] = write(count)
        return texts[count]

    return text


def _head(place: _Places, marks: bool) -> str:
    session, old_seq, old_hash, seq, hash_ = (
        place.typed(name) for name in ("varchar", "integer", "varchar", "integer", "varchar")
    )
    marked = alone = ""
    if marks:
        tainted, private = place.typed("boolean"), place.typed("boolean")
        marked = f", tainted = tainted OR {tainted}, private = private OR {private}"
        # What a delegated session reads first marks others as well, which is done step by step.
        alone = f" AND (granted IS NULL OR {tainted} <= tainted AND {private} <= private)"
    return (
        f"WITH head AS (UPDATE sessions SET head_seq = {seq}, head_hash = {hash_}{marked}"
        f" WHERE session_id = {session} AND head_seq = {old_seq} AND head_hash = {old_hash}"
        f"{alone} RETURNING session_id)"
    )


def _story(place: _Places, count: int) -> str:
    rows = ", ".join(f"({', '.join(place(column) for column in _EVENT)})" for _ in range(count))
    names = _names(events)
    return (
        f"told AS (INSERT INTO events ({names}) SELECT story.* FROM head,"
        f" (VALUES {rows}) AS story ({names}) ORDER BY story.seq)"
    )


def _names(table: Table) -> str:
    return ", ".join(column.name for column in table.columns if column.name != "ordinal")


# Nothing is divided by one, and by nothing it cannot be: that undoes the statement.
_ALL_OR_NOTHING = "SELECT 1 / (SELECT count(*) FROM written)"


@_cached
def _begin_text(count: int) -> str:
    place = _Places()
    head = _head(place, marks=False)
    values = ", ".join(place(column) for column in _ROW)
    run = 6 + [column.name for column in _ROW].index("run_id")
    return (
        f"{head}, written AS (INSERT INTO invocations ({_names(invocations)}) SELECT {values}"
        f" FROM head, runs WHERE runs.run_id = ${run}::varchar"
        " AND runs.session_id = head.session_id RETURNING 1),"
        f" {_story(place, count)} {_ALL_OR_NOTHING}"
    )


@_cached
def _end_text(count: int) -> str:
    place = _Places()
    head = _head(place, marks=True)
    invocation = place.typed("varchar")
    changes = ", ".join(f"{column.name} = {place(column)}" for column in _CHANGING)
    fence = 9 + [column.name for column in _CHANGING].index("fence")
    return (
        f"{head}, written AS (UPDATE invocations SET {changes} FROM head"
        f" WHERE invocation_id = {invocation} AND invocations.session_id = head.session_id"
        f" AND state = 'running' AND fence = ${fence}::integer RETURNING 1),"
        f" {_story(place, count)} {_ALL_OR_NOTHING}"
    )
