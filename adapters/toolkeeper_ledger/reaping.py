"""What has run out, and what becomes of the calls that it leaves behind?

Anyone may reap: nothing here asks which process had held a lease (nor could it, after a restart
under another name).
"""

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from toolkeeper_contract import Event, State
from toolkeeper_ledger.approvals import due_approvals, expire
from toolkeeper_ledger.call_rows import end_row, find_invocation, read_invocations
from toolkeeper_ledger.endings import expired, expired_event, reaped, reaped_event
from toolkeeper_ledger.history import append, lock
from toolkeeper_ledger.lease_term import Term
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.schema import invocations
from toolkeeper_ledger.vouching import vouched

_AHEAD = select(
    invocations.c.invocation_id,
    invocations.c.fence,
    invocations.c.leased_at,
    invocations.c.lease_expires_at,
).where(
    invocations.c.lease_expires_at > bindparam("at"),
    invocations.c.leased_at > bindparam("at"),
)
_COUNT_ANEW = (
    update(invocations)
    .where(
        invocations.c.invocation_id == bindparam("id"),
        invocations.c.state == State.RUNNING.value,
        invocations.c.fence == bindparam("old_fence"),
        invocations.c.lease_expires_at == bindparam("old_until"),
    )
    .values(leased_at=bindparam("since"), lease_expires_at=bindparam("until"))
)


def anything_due(connection: Connection, now: datetime) -> bool:
    """Whether reaping would change anything; a look that takes no write lock."""
    return (
        bool(due_approvals(connection, now))
        or bool(read_invocations(connection, leased_until=instant(now)))
        or bool(_taken_ahead(connection, now))
    )


def reap(connection: Connection, now: datetime, at: datetime) -> list[Event]:
    """Ends everything whose time is over by `now`, and gives the events that say so.

    A lease that was taken on a clock that has been set back since is counted from `now` on.
    """
    for name, fence, until, term in _taken_ahead(connection, now):
        connection.execute(
            _COUNT_ANEW,
            {
                "id": name,
                "old_fence": fence,
                "old_until": until,
                "since": instant(term.since),
                "until": instant(term.until),
            },
        )
    told: dict[str, list[Event]] = {}
    due = {approval.binding.session_id for approval in due_approvals(connection, now)}
    due |= {row.session_id for row in read_invocations(connection, leased_until=instant(now))}
    lock(connection, *due)
    for approval in due_approvals(connection, now):
        if approval.binding.session_id not in due or not expire(connection, approval):
            continue
        event = expired_event(approval, "time")
        row = find_invocation(connection, approval.invocation_id)
        if row is not None and row.state is State.PARKED:
            ended = expired(row, at)
            if end_row(connection, row, ended, retryable=False):
                event = vouched(event, ended)
        told.setdefault(approval.binding.session_id, []).append(event)
    for row in read_invocations(connection, leased_until=instant(now)):
        if row.session_id not in due:
            continue  # due since the look: whoever reaps next
        outcome = reaped(row, at)
        if end_row(connection, row, outcome.row, retryable=outcome.retryable):
            event = vouched(reaped_event(row, outcome), outcome.row)
            told.setdefault(row.session_id, []).append(event)
    for session_id, events in told.items():
        append(connection, session_id, at, events)
    return [event for events in told.values() for event in events]


def _taken_ahead(connection: Connection, now: datetime) -> list[tuple[str, int, str, Term]]:
    """Ids, fences and ends of leases that a clock ahead of `now` gave, and what becomes of them."""
    found: list[tuple[str, int, str, Term]] = []
    for row in connection.execute(_AHEAD, {"at": instant(now)}):
        held = Term(
            datetime.fromisoformat(row.leased_at), datetime.fromisoformat(row.lease_expires_at)
        )
        term = held.counted_anew(now)
        if term is not None:
            found.append((row.invocation_id, row.fence, row.lease_expires_at, term))
    return found
