"""How much is waiting, without looking at what is done?

Each count is of one index that holds only what it counts, so it costs the same however long the
ledger has grown. Of the settled calls only those are found by their outcome that did not complete;
the others are what is left of all, which are counted on a narrow index.
"""

from datetime import datetime

from sqlalchemy import Connection, bindparam, case, func, literal_column, select

from toolkeeper_contract import ApprovalState, Backlog, Ending
from toolkeeper_ledger import outbox
from toolkeeper_ledger.rows import instant, moment
from toolkeeper_ledger.schema import IS_MISSED, approvals, invocations

# Each condition is spelled as in the partial index that answers it.
_MISSED = (
    select(invocations.c.outcome, func.count())
    .where(literal_column(IS_MISSED))
    .group_by(invocations.c.outcome)
)
_ALL = select(func.count()).select_from(invocations)
_PENDING = select(func.count(), func.min(approvals.c.asked_at)).where(
    approvals.c.state == ApprovalState.PENDING.value, approvals.c.expires_at > bindparam("now")
)
_PARKED = select(func.count()).where(invocations.c.state == literal_column("'parked'"))
_RUNNING = select(
    func.count(),
    func.coalesce(
        func.sum(case((invocations.c.lease_expires_at <= bindparam("now"), 1), else_=0)), 0
    ),
).where(literal_column("lease_expires_at IS NOT NULL"))
_RETRYABLE = select(func.count()).where(invocations.c.retryable)


def read_backlog(connection: Connection, now: datetime) -> Backlog:
    """The counts of one moment. An approval whose time is over does not wait any more."""
    at = {"now": instant(now)}
    missed = {row[0]: row[1] for row in connection.execute(_MISSED)}
    pending, oldest = connection.execute(_PENDING, at).one()
    running, overdue = connection.execute(_RUNNING, at).one()
    parked = connection.execute(_PARKED.select_from(invocations)).scalar_one()
    ended = connection.execute(_ALL).scalar_one() - parked - running
    outcomes = {outcome: count for outcome, count in missed.items() if outcome is not None}
    if ended > sum(missed.values()):
        outcomes[Ending.COMPLETED.value] = ended - sum(missed.values())
    return Backlog(
        calls=dict(sorted(outcomes.items())),
        pending_approvals=pending,
        oldest_pending=moment(oldest) if oldest else None,
        parked=parked,
        running=running,
        overdue=int(overdue),
        retryable=connection.execute(_RETRYABLE.select_from(invocations)).scalar_one(),
        undelivered=outbox.count(connection),
    )
