"""How does a call take its place, its lease and its end, each exactly once?"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import (
    Connection,
    RowMapping,
    bindparam,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from toolkeeper_contract import Approval, Event, Invocation, Lease, State
from toolkeeper_ledger.approvals import ask, close_unused, find_approval, spend
from toolkeeper_ledger.database import Moved, Withdrawn
from toolkeeper_ledger.endings import fenced_event, may_end, superseded, superseded_event
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.history import append
from toolkeeper_ledger.rows import instant, invocation_of, invocation_row
from toolkeeper_ledger.schema import invocations, runs

_IDENTITY = ("invocation_id", "session_id", "run_id", "idempotency_key", "opened_at")
"""What a row keeps from its opening to its end."""

_COLUMNS = [
    column
    for column in invocations.columns
    if column.name not in ("lease_expires_at", "retryable", "sealed")
]
_STANDING = select(
    invocations.c.invocation_id,
    invocations.c.session_id,
    invocations.c.state,
    invocations.c.fence,
    invocations.c.retryable,
).where(
    or_(
        invocations.c.invocation_id == bindparam("id"),
        invocations.c.idempotency_key == bindparam("key"),
    )
)
_INSERT = insert(invocations)
_UPDATE = (
    update(invocations)
    .where(
        invocations.c.invocation_id == bindparam("id"),
        invocations.c.state == bindparam("old_state"),
        invocations.c.fence == bindparam("old_fence"),
    )
    .values(
        {
            column: bindparam(f"new_{column.name}")
            for column in invocations.columns
            if column.name not in ("ordinal", *_IDENTITY)
        }
    )
)
_RENEW = (
    update(invocations)
    .where(
        invocations.c.invocation_id == bindparam("id"),
        invocations.c.state == State.RUNNING.value,
        invocations.c.fence == bindparam("old_fence"),
    )
    .values(lease_expires_at=bindparam("until"))
)
_BY_ID = select(*_COLUMNS).where(invocations.c.invocation_id == bindparam("id"))
_BY_KEY = select(*_COLUMNS).where(invocations.c.idempotency_key == bindparam("key"))
_SEALED = select(invocations.c.sealed).where(invocations.c.invocation_id == bindparam("id"))
_RUN = select(runs.c.session_id).where(runs.c.run_id == bindparam("run"))
# Spelled as a literal, so that the index of parked rows alone is used.
_IS_PARKED = invocations.c.state == literal_column("'parked'")


def claim(
    connection: Connection,
    row: Invocation,
    expires_at: datetime,
    at: datetime,
    events: Sequence[Event],
    sealed: bytes | None,
) -> Lease | None:
    standing = _standing(connection, row)
    fence = 1
    if standing is not None:
        if not _may_start(standing):
            return None
        fence = standing["fence"] + 1
    running = replace(
        row, state=State.RUNNING, outcome=None, settled_at=None, superseded_by=None, fence=fence
    )
    told = list(events)
    until = instant(expires_at)
    if standing is None:
        _open(connection, running, lease_expires_at=until, sealed=sealed)
    else:
        # The sealed arguments stay until the end: a read whose worker dies runs again from them.
        kept = sealed or connection.execute(_SEALED, {"id": row.invocation_id}).scalar()
        _change(connection, running, standing, lease_expires_at=until, sealed=kept)
    if row.approval_id is not None:
        told += _use(connection, row, row.approval_id, at)
    if standing is not None:
        told += close_unused(connection, row.invocation_id)
    append(connection, row.session_id, at, told)
    return Lease(row.invocation_id, fence, expires_at)


def park(
    connection: Connection,
    row: Invocation,
    approval: Approval,
    sealed: bytes,
    at: datetime,
    events: Sequence[Event],
) -> None:
    standing = _standing(connection, row)
    parked = replace(row, state=State.PARKED)
    if standing is None:
        _open(connection, parked, sealed=sealed)
    elif _is_again(standing):
        parked = replace(parked, fence=standing["fence"])
        _change(connection, parked, standing, sealed=sealed)
    else:
        raise conflict(f"call `{row.invocation_id}` is already in the ledger")
    ask(connection, approval)
    append(connection, row.session_id, at, events)


def settle(connection: Connection, row: Invocation, at: datetime, events: Sequence[Event]) -> bool:
    standing = _standing(connection, row)
    settled = replace(row, state=State.SETTLED, settled_at=row.settled_at or at)
    if standing is None:
        _open(connection, settled)
        append(connection, row.session_id, at, events)
        return True
    if not may_end(standing["state"], standing["retryable"], standing["fence"], row.fence):
        append(connection, standing["session_id"], at, [fenced_event(row, standing["fence"])])
        return False
    told = list(events)
    _change(connection, replace(settled, fence=standing["fence"]), standing)
    if standing["state"] == State.PARKED:
        told += close_unused(connection, row.invocation_id)
    append(connection, row.session_id, at, told)
    return True


def renew(connection: Connection, lease: Lease, expires_at: datetime) -> bool:
    renewed = connection.execute(
        _RENEW,
        {"id": lease.invocation_id, "old_fence": lease.fence, "until": instant(expires_at)},
    )
    return renewed.rowcount == 1


def end(connection: Connection, old: Invocation, new: Invocation, *, retryable: bool) -> bool:
    """Ends a row that nobody else ends; the sealed arguments stay only for another run."""
    sealed = None
    if retryable:
        sealed = connection.execute(_SEALED, {"id": old.invocation_id}).scalar()
    return _rewrite(connection, new, old.state.value, old.fence, retryable=retryable, sealed=sealed)


def find_invocation(connection: Connection, invocation_id: str) -> Invocation | None:
    row = connection.execute(_BY_ID, {"id": invocation_id}).mappings().first()
    return None if row is None else invocation_of(row)


def find_twin(connection: Connection, key: str) -> Invocation | None:
    row = connection.execute(_BY_KEY, {"key": key}).mappings().first()
    return None if row is None else invocation_of(row)


def find_sealed(connection: Connection, invocation_id: str) -> bytes | None:
    sealed = connection.execute(_SEALED, {"id": invocation_id}).scalar()
    return None if sealed is None else bytes(sealed)


def read_invocations(
    connection: Connection,
    *,
    session_id: str | None = None,
    run_id: str | None = None,
    parked: bool = False,
    retryable: bool = False,
    leased_until: str | None = None,
) -> list[Invocation]:
    """Rows in the order in which they were opened; `leased_until` finds leases that are over."""
    query = select(*_COLUMNS)
    if session_id is not None:
        query = query.where(invocations.c.session_id == session_id)
    if run_id is not None:
        query = query.where(invocations.c.run_id == run_id)
    if parked:
        query = query.where(_IS_PARKED)
    if retryable:
        query = query.where(invocations.c.retryable)
    if leased_until is not None:
        query = query.where(invocations.c.lease_expires_at <= leased_until)
    found = connection.execute(query.order_by(invocations.c.ordinal)).mappings()
    return [invocation_of(row) for row in found]


def _standing(connection: Connection, row: Invocation) -> RowMapping | None:
    """What the ledger holds under the row's id; a conflict when its key is somebody else's."""
    found = (
        connection.execute(_STANDING, {"id": row.invocation_id, "key": row.idempotency_key})
        .mappings()
        .all()
    )
    for other in found:
        if other["invocation_id"] != row.invocation_id:
            raise conflict(
                f"the idempotency key of call `{row.invocation_id}` belongs to another call",
                f"read call `{other['invocation_id']}` instead",
            )
        if other["session_id"] != row.session_id:
            raise conflict(f"call `{row.invocation_id}` belongs to another session")
    return found[0] if found else None


def _may_start(standing: RowMapping) -> bool:
    return standing["state"] == State.PARKED or _is_again(standing)


def _is_again(standing: RowMapping | None) -> bool:
    return standing is not None and bool(standing["retryable"])


def _open(
    connection: Connection,
    row: Invocation,
    *,
    lease_expires_at: str | None = None,
    sealed: bytes | None = None,
) -> None:
    owner = connection.execute(_RUN, {"run": row.run_id}).scalar()
    if owner != row.session_id:
        raise conflict(
            f"run `{row.run_id}` of session `{row.session_id}` is not in the ledger",
            "begin the run first",
        )
    values = invocation_row(row)
    values["lease_expires_at"] = lease_expires_at
    values["retryable"] = False
    values["sealed"] = sealed
    connection.execute(_INSERT, values)


def _change(
    connection: Connection,
    row: Invocation,
    standing: RowMapping,
    *,
    lease_expires_at: str | None = None,
    sealed: bytes | None = None,
) -> None:
    """Rewrites a row that was read in this transaction; Moved when it stands otherwise by now."""
    if not _rewrite(
        connection,
        row,
        standing["state"],
        standing["fence"],
        lease_expires_at=lease_expires_at,
        sealed=sealed,
    ):
        raise Moved


def _rewrite(
    connection: Connection,
    row: Invocation,
    old_state: str,
    old_fence: int,
    *,
    lease_expires_at: str | None = None,
    retryable: bool = False,
    sealed: bytes | None = None,
) -> bool:
    """Rewrites all but a row's identity, if it is still in that state under that fence."""
    values = {f"new_{name}": value for name, value in invocation_row(row).items()}
    for name in _IDENTITY:
        del values[f"new_{name}"]
    values["new_lease_expires_at"] = lease_expires_at
    values["new_retryable"] = retryable
    values["new_sealed"] = sealed
    values["id"] = row.invocation_id
    values["old_state"] = old_state
    values["old_fence"] = old_fence
    return connection.execute(_UPDATE, values).rowcount == 1


def _use(connection: Connection, row: Invocation, approval_id: str, at: datetime) -> list[Event]:
    """Spends the approval, and ends the equal call that had asked for it."""
    if not spend(connection, approval_id, row, at):
        raise Withdrawn(None)
    approval = find_approval(connection, approval_id)
    assert approval is not None
    if approval.invocation_id == row.invocation_id:
        return []
    waiting = find_invocation(connection, approval.invocation_id)
    if waiting is None or waiting.state is not State.PARKED:
        return []
    if end(connection, waiting, superseded(waiting, row.invocation_id, at), retryable=False):
        return [superseded_event(waiting, row.invocation_id)]
    return []
