"""How is an approval asked, answered, spent and closed, each exactly once?"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from toolkeeper_contract import Answer, Approval, ApprovalState, Event, Invocation
from toolkeeper_ledger.endings import UNUSED, expired_event
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.history import append, lock
from toolkeeper_ledger.rows import approval_of, approval_row, instant
from toolkeeper_ledger.schema import approvals

_OPEN = tuple(state.value for state in UNUSED)
_BY_ID = select(approvals).where(approvals.c.approval_id == bindparam("id"))
_OF_CALL = (
    select(approvals)
    .where(approvals.c.invocation_id == bindparam("invocation"))
    .order_by(approvals.c.ordinal.desc())
)
_USABLE = (
    select(approvals)
    .where(
        approvals.c.binding == bindparam("wanted"),
        approvals.c.state == ApprovalState.APPROVED.value,
        approvals.c.expires_at > bindparam("at"),
    )
    .order_by(approvals.c.asked_at, approvals.c.ordinal)
    .limit(1)
)
_DUE = (
    select(approvals)
    .where(approvals.c.state.in_(_OPEN), approvals.c.expires_at <= bindparam("at"))
    .order_by(approvals.c.ordinal)
)
_ANSWER = (
    update(approvals)
    .where(
        approvals.c.approval_id == bindparam("id"),
        approvals.c.state == ApprovalState.PENDING.value,
        approvals.c.expires_at > bindparam("at"),
    )
    .values(
        state=bindparam("new_state"),
        decided_at=bindparam("at"),
        decided_by=bindparam("by"),
        reason=bindparam("why"),
    )
)
_SPEND = (
    update(approvals)
    .where(
        approvals.c.approval_id == bindparam("id"),
        approvals.c.session_id == bindparam("session"),
        approvals.c.state == ApprovalState.APPROVED.value,
        approvals.c.expires_at > bindparam("at"),
    )
    .values(state=ApprovalState.SPENT.value, spent_by=bindparam("by"))
)
_EXPIRE = (
    update(approvals)
    .where(approvals.c.approval_id == bindparam("id"), approvals.c.state == bindparam("was"))
    .values(state=ApprovalState.EXPIRED.value)
)


def ask(connection: Connection, approval: Approval) -> None:
    """Writes the question of a call that is being parked."""
    if find_approval(connection, approval.approval_id) is not None:
        raise conflict(f"approval `{approval.approval_id}` is already in the ledger")
    connection.execute(insert(approvals), approval_row(approval))


def answer(
    connection: Connection,
    approval_id: str,
    answer: Answer,
    at: datetime,
    events: Sequence[Event],
) -> Approval | None:
    """From pending to answered, once; None when it was not pending or its time is over."""
    asked = find_approval(connection, approval_id)
    if asked is None:
        return None
    lock(connection, asked.binding.session_id)
    decided = connection.execute(
        _ANSWER,
        {
            "id": approval_id,
            "at": instant(answer.at),
            "new_state": answer.state.value,
            "by": answer.by,
            "why": answer.reason,
        },
    )
    if decided.rowcount != 1:
        return None
    approval = find_approval(connection, approval_id)
    assert approval is not None
    append(connection, approval.binding.session_id, at, events)
    return approval


def replaced(connection: Connection, approval_id: str, approval: Approval) -> bool:
    """From pending to denied, because the same approver has approved other arguments."""
    assert approval.decided_at is not None
    denied = connection.execute(
        _ANSWER,
        {
            "id": approval_id,
            "at": instant(approval.decided_at),
            "new_state": ApprovalState.DENIED.value,
            "by": approval.decided_by,
            "why": approval.reason,
        },
    )
    return denied.rowcount == 1


def spend(connection: Connection, approval_id: str, row: Invocation, at: datetime) -> bool:
    """From approved to spent, by one call; False when somebody was first or it ran out."""
    spent = connection.execute(
        _SPEND,
        {
            "id": approval_id,
            "session": row.session_id,
            "at": instant(at),
            "by": row.invocation_id,
        },
    )
    return spent.rowcount == 1


def close_unused(connection: Connection, invocation_id: str) -> list[Event]:
    """Expires what a call had asked for and no longer needs, so that nobody answers it."""
    told: list[Event] = []
    for row in connection.execute(_OF_CALL, {"invocation": invocation_id}).mappings().all():
        approval = approval_of(row)
        if approval.state in UNUSED and expire(connection, approval):
            told.append(expired_event(approval, "call_ended"))
    return told


def expire(connection: Connection, approval: Approval) -> bool:
    """From pending or approved to expired; False when it was answered or spent meanwhile."""
    ended = connection.execute(_EXPIRE, {"id": approval.approval_id, "was": approval.state.value})
    return ended.rowcount == 1


def find_approval(connection: Connection, approval_id: str) -> Approval | None:
    row = connection.execute(_BY_ID, {"id": approval_id}).mappings().first()
    return None if row is None else approval_of(row)


def find_approval_of(connection: Connection, invocation_id: str) -> Approval | None:
    """The newest approval that a call asked for."""
    row = connection.execute(_OF_CALL, {"invocation": invocation_id}).mappings().first()
    return None if row is None else approval_of(row)


def usable_approval(connection: Connection, binding: str, now: datetime) -> Approval | None:
    row = connection.execute(_USABLE, {"wanted": binding, "at": instant(now)}).mappings().first()
    return None if row is None else approval_of(row)


def due_approvals(connection: Connection, now: datetime) -> list[Approval]:
    """Pending and approved ones whose time is over."""
    found = connection.execute(_DUE, {"at": instant(now)}).mappings().all()
    return [approval_of(row) for row in found]


def read_approvals(connection: Connection, *, pending_only: bool) -> list[Approval]:
    query = select(approvals)
    if pending_only:
        query = query.where(approvals.c.state == ApprovalState.PENDING.value)
    found = connection.execute(query.order_by(approvals.c.asked_at, approvals.c.ordinal))
    return [approval_of(row) for row in found.mappings()]
