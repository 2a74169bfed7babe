"""Which events wait for a sink, and who takes them next?

An event is put into the outbox by the very transaction that writes it, so that it is waiting if and
only if it happened. Whoever takes it has it for a while; nobody asks which process that was.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from toolkeeper_contract import LONGEST_PAUSE, PATIENCE, Delivery, RecordedEvent
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.rows import event_of, instant, moment
from toolkeeper_ledger.schema import IS_HOLDING_BACK, events, outbox

_WINDOW = 500
"""Due rows that one look goes through; behind one that holds them back they may all be blocked."""

_LONGEST_REASON = 200

_PUT = Prepared(
    insert(outbox).values(
        {column: bindparam(column.name) for column in outbox.columns if column.name != "ordinal"}
    )
)
_IS_DUE = and_(
    outbox.c.sink.in_(bindparam("sinks", expanding=True)), outbox.c.due_at <= bindparam("now")
)
_ANY_DUE = select(outbox.c.ordinal).where(_IS_DUE).limit(1)
_FROM_AHEAD = and_(
    outbox.c.sink.in_(bindparam("sinks", expanding=True)), outbox.c.due_at > bindparam("latest")
)
_ANY_FROM_AHEAD = select(outbox.c.ordinal).where(_FROM_AHEAD).limit(1)
_DUE_NOW = update(outbox).where(_FROM_AHEAD).values(due_at=bindparam("now"))
_first = (
    select(outbox)
    .where(_IS_DUE)
    .order_by(outbox.c.due_at, outbox.c.ordinal)
    .limit(bindparam("window"))
    .subquery("first")
)
_earlier = outbox.alias("earlier")
_READY = (
    select(
        _first.c.ordinal,
        _first.c.sink,
        _first.c.attempts,
        _first.c.due_at,
        _first.c.last_error,
        events.c.seq,
        _first.c.session_id,
        events.c.at,
        events.c.name,
        events.c.run_id,
        events.c.invocation_id,
        events.c.data,
        events.c.hash,
    )
    .select_from(
        _first.outerjoin(
            events,
            and_(events.c.session_id == _first.c.session_id, events.c.seq == _first.c.seq),
        )
    )
    .where(
        ~exists(
            select(_earlier.c.ordinal).where(
                _earlier.c.sink == _first.c.sink,
                _earlier.c.session_id == _first.c.session_id,
                _earlier.c.seq < _first.c.seq,
                # Spelled as in the partial index, which alone keeps this look short.
                literal_column(f"earlier.{IS_HOLDING_BACK}"),
            )
        )
    )
    .order_by(_first.c.due_at, _first.c.ordinal)
    .limit(bindparam("most"))
)
_TAKE = (
    update(outbox)
    .where(outbox.c.ordinal == bindparam("id"), outbox.c.due_at == bindparam("was_due"))
    .values(attempts=outbox.c.attempts + 1, due_at=bindparam("until"))
)
_DONE = delete(outbox).where(outbox.c.ordinal == bindparam("id"))
_POSTPONE = (
    update(outbox)
    .where(outbox.c.ordinal == bindparam("id"))
    .values(due_at=bindparam("until"), last_error=bindparam("why"))
)
_COUNT = select(func.count()).select_from(outbox)

assert f"attempts < {PATIENCE}" == IS_HOLDING_BACK


class Subscription:
    """Which sinks want which events; `put` counts what a transaction has put into outboxes."""

    def __init__(self, sinks: Mapping[str, Collection[str]]) -> None:
        self._wanted: dict[str, list[str]] = {}
        for sink, names in sinks.items():
            for name in names:
                self._wanted.setdefault(name, []).append(sink)
        self.put = 0

    def wants_any(self, names: Iterable[str]) -> bool:
        """Whether a sink wants an event of one of these names."""
        return any(name in self._wanted for name in names)

    def copies(self, recorded: Iterable[RecordedEvent]) -> list[tuple[str, RecordedEvent]]:
        """Each event with each sink that wants it, in the order of the events."""
        found = [
            (sink, record)
            for record in recorded
            for sink in self._wanted.get(record.event.name, ())
        ]
        self.put += len(found)
        return found


_CURRENT: ContextVar[Subscription | None] = ContextVar("subscription", default=None)


@contextmanager
def subscribed(subscription: Subscription) -> Iterator[None]:
    """What sinks want, for the work of one transaction: it is done in one thread, at one go."""
    token = _CURRENT.set(subscription)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def put(connection: Connection, recorded: Sequence[RecordedEvent]) -> None:
    """Puts the events that a sink wants into its outbox, in the caller's transaction."""
    subscription = _CURRENT.get()
    if subscription is None:
        return
    copies = subscription.copies(recorded)
    if copies:
        _PUT.run_many(connection, [_row(sink, record) for sink, record in copies])


def _row(sink: str, record: RecordedEvent) -> dict[str, object]:
    return {
        "sink": sink,
        "session_id": record.session_id,
        "seq": record.seq,
        "attempts": 0,
        "due_at": record.at,
        "last_error": None,
    }


def anything_due(connection: Connection, sinks: Sequence[str], now: datetime) -> bool:
    """Whether one of these sinks has something that is due; a look that takes no write lock."""
    values = _times(sinks, now)
    return any(connection.execute(look, values).first() for look in (_ANY_DUE, _ANY_FROM_AHEAD))


def take(
    connection: Connection, sinks: Sequence[str], now: datetime, until: datetime, limit: int
) -> list[Delivery]:
    """What is due now, each for whoever calls this until `until`.

    What a clock that has been set back since gave another time is due as well.
    """
    values = _times(sinks, now)
    if connection.execute(_ANY_FROM_AHEAD, values).first():
        connection.execute(_DUE_NOW, values)
    taken = []
    ready = connection.execute(_READY, {**values, "window": _WINDOW, "most": limit})
    for row in ready.mappings().all():
        if row["seq"] is None:
            # Its event was pruned: there is nothing left to tell.
            connection.execute(_DONE, {"id": row["ordinal"]})
            continue
        mine = {"id": row["ordinal"], "was_due": row["due_at"], "until": instant(until)}
        if connection.execute(_TAKE, mine).rowcount == 1:
            taken.append(
                Delivery(
                    delivery_id=row["ordinal"],
                    sink=row["sink"],
                    event=event_of(row),
                    attempts=row["attempts"] + 1,
                    due_at=moment(row["due_at"]),
                    last_error=row["last_error"],
                )
            )
    return taken


def _times(sinks: Sequence[str], now: datetime) -> dict[str, object]:
    return {"sinks": list(sinks), "now": instant(now), "latest": instant(now + LONGEST_PAUSE)}


def delivered(connection: Connection, delivery_id: int) -> None:
    connection.execute(_DONE, {"id": delivery_id})


def postpone(connection: Connection, delivery_id: int, due_at: datetime, reason: str) -> None:
    values = {"id": delivery_id, "until": instant(due_at), "why": reason[:_LONGEST_REASON]}
    connection.execute(_POSTPONE, values)


def count(connection: Connection) -> int:
    """Events in all outboxes, of whatever sink."""
    return connection.execute(_COUNT).scalar_one()
