"""How are the rows of calls opened, rewritten and found?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, exists, insert, literal_column, or_, select, update

from toolkeeper_contract import ApprovalState, Invocation, State
from toolkeeper_ledger.claimed_row import CHANGED, columns_at_end, remember
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.lease_term import Term
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.rows import instant, invocation_of, invocation_row
from toolkeeper_ledger.schema import approvals, invocations, runs
from toolkeeper_ledger.session_calls import of_session

IDENTITY = ("invocation_id", "session_id", "run_id", "idempotency_key", "opened_at")
"""What a row keeps from its opening to its end."""

_COLUMNS = [
    column
    for column in invocations.columns
    if column.name not in ("leased_at", "lease_expires_at", "retryable", "sealed")
]
_STANDING = Prepared(
    select(
        invocations.c.invocation_id,
        invocations.c.session_id,
        invocations.c.state,
        invocations.c.fence,
        invocations.c.retryable,
    )
    .where(
        or_(
            invocations.c.invocation_id == bindparam("id"),
            invocations.c.idempotency_key == bindparam("key"),
        )
    )
    .order_by(invocations.c.ordinal)
)
_INSERT = Prepared(
    insert(invocations).values(
        {
            column: bindparam(column.name)
            for column in invocations.columns
            if column.name != "ordinal"
        }
    )
)
_UPDATE = Prepared(
    update(invocations)
    .where(
        invocations.c.invocation_id == bindparam("id"),
        invocations.c.state == bindparam("old_state"),
        invocations.c.fence == bindparam("old_fence"),
    )
    .values(
        {
            column: bindparam(column.name)
            for column in invocations.columns
            if column.name not in ("ordinal", *IDENTITY)
        }
    )
)
# Opened or left alone: what stands in the way, and what is missing, is found by who has to tell.
_OPEN = Prepared(
    insert(invocations)
    .from_select(
        [column.name for column in invocations.columns if column.name != "ordinal"],
        select(
            *[
                bindparam(column.name, type_=column.type)
                for column in invocations.columns
                if column.name != "ordinal"
            ]
        ).where(runs.c.run_id == bindparam("run_id"), runs.c.session_id == bindparam("session_id")),
    )
    .prefix_with("OR IGNORE", dialect="sqlite")
)
_RUNS_STILL = update(invocations).where(
    invocations.c.invocation_id == bindparam("id"),
    invocations.c.session_id == bindparam("session"),
    invocations.c.idempotency_key == bindparam("key"),
    invocations.c.state == literal_column(f"'{State.RUNNING.value}'"),
    invocations.c.fence == bindparam("old_fence"),
)
_END = Prepared(
    _RUNS_STILL.values(
        {
            column: bindparam(column.name)
            for column in invocations.columns
            if column.name not in ("ordinal", *IDENTITY)
        }
    )
)
_END_HERE = Prepared(_RUNS_STILL.values({name: bindparam(name) for name in CHANGED}))
_BY_ID = select(*_COLUMNS).where(invocations.c.invocation_id == bindparam("id"))
_BY_KEY = select(*_COLUMNS).where(invocations.c.idempotency_key == bindparam("key"))
_SEALED = select(invocations.c.sealed).where(invocations.c.invocation_id == bindparam("id"))
_RUN = Prepared(select(runs.c.session_id).where(runs.c.run_id == bindparam("run")))
# Spelled as a literal, so that the index of parked rows alone is used.
_IS_PARKED = invocations.c.state == literal_column("'parked'")
_IS_ANSWERED = exists().where(
    approvals.c.approval_id == invocations.c.approval_id,
    approvals.c.state != ApprovalState.PENDING.value,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A row as the ledger holds it, as far as conditional updates ask."""

    invocation_id: str
    session_id: str
    state: str
    fence: int
    retryable: bool


def find_standing(connection: Connection, row: Invocation) -> Standing | None:
    """What stands under the row's id, or else under its idempotency key."""
    names = {"id": row.invocation_id, "key": row.idempotency_key}
    found = [Standing(*values) for values in _STANDING.run(connection, names).fetchall()]
    # The key's holder is the one to know of, when id and key belong to two calls.
    return min(
        found, key=lambda standing: standing.invocation_id == row.invocation_id, default=None
    )


def columns_of(
    row: Invocation,
    *,
    term: Term | None = None,
    retryable: bool = False,
    sealed: bytes | None = None,
) -> dict[str, Any]:
    """All columns of a row, those too that only the ledger knows."""
    columns = invocation_row(row)
    columns["leased_at"] = instant(term.since) if term else None
    columns["lease_expires_at"] = instant(term.until) if term else None
    columns["retryable"] = retryable
    columns["sealed"] = sealed
    return columns


def open_row(
    connection: Connection,
    row: Invocation,
    *,
    term: Term | None = None,
    sealed: bytes | None = None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Opens a call's row; `columns` are its columns where they were made already."""
    owner = _RUN.run(connection, {"run": row.run_id}).fetchone()
    if owner is None or owner[0] != row.session_id:
        raise conflict(
            f"run `{row.run_id}` of session `{row.session_id}` is not in the ledger",
            "begin the run first",
        )
    _INSERT.run(connection, columns or columns_of(row, term=term, sealed=sealed))


def open_at_once(
    connection: Connection, row: Invocation, *, term: Term, sealed: bytes | None
) -> bool:
    """Opens a call's row in one statement, if its run is there and nobody has its id or its key.

    False where nothing was written, which says nothing about why; always on a server.
    """
    if connection.dialect.name != "sqlite":
        return False
    columns = columns_of(row, term=term, sealed=sealed)
    opened = _OPEN.run(connection, columns).rowcount == 1
    if opened:
        remember(connection, row, columns)
    return opened


def end_at_once(connection: Connection, row: Invocation) -> tuple[bool, dict[str, Any]]:
    """Ends the row if it runs, in its session and under its fence; and its columns in any case.

    False where nothing was written.
    """
    columns = columns_at_end(connection, row)
    statement = _END if columns is None else _END_HERE
    if columns is None:
        columns = columns_of(row)
    columns["id"], columns["session"] = row.invocation_id, row.session_id
    columns["key"], columns["old_fence"] = row.idempotency_key, row.fence
    # A call that never began has no fence.
    return row.fence > 0 and statement.run(connection, columns).rowcount == 1, columns


def rewrite_row(
    connection: Connection,
    row: Invocation,
    old_state: str,
    old_fence: int,
    *,
    term: Term | None = None,
    retryable: bool = False,
    sealed: bytes | None = None,
) -> bool:
    """Rewrites all but a row's identity, if it is still in that state under that fence."""
    columns = columns_of(row, term=term, retryable=retryable, sealed=sealed)
    return rewrite_columns(connection, columns, old_state, old_fence)


def rewrite_columns(
    connection: Connection, columns: Mapping[str, Any], old_state: str, old_fence: int
) -> bool:
    """The same with the row's columns, as `columns_of` gives them."""
    values = {
        **columns,
        "id": columns["invocation_id"],
        "old_state": old_state,
        "old_fence": old_fence,
    }
    return _UPDATE.run(connection, values).rowcount == 1


def end_row(connection: Connection, old: Invocation, new: Invocation, *, retryable: bool) -> bool:
    """Ends a row that nobody else ends; the sealed arguments stay only for another run."""
    sealed = None
    if retryable:
        sealed = connection.execute(_SEALED, {"id": old.invocation_id}).scalar()
    return rewrite_row(
        connection, new, old.state.value, old.fence, retryable=retryable, sealed=sealed
    )


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
    answered: bool = False,
    retryable: bool = False,
    leased_until: str | None = None,
) -> list[Invocation]:
    """Rows in the order in which they were opened.

    `answered` with `parked` finds those whose question is pending no more. `leased_until` finds
    leases that are over by then, the longest over first.
    """
    query = select(*_COLUMNS)
    if session_id is not None and (parked or retryable):
        # There are few of them, in all sessions together.
        query = query.where(invocations.c.session_id == session_id)
    elif session_id is not None:
        query = query.where(of_session(session_id))
    if run_id is not None:
        query = query.where(invocations.c.run_id == run_id)
    if parked:
        query = query.where(_IS_PARKED)
    if answered:
        query = query.where(_IS_ANSWERED)
    if retryable:
        query = query.where(invocations.c.retryable)
    if leased_until is not None:
        query = query.where(invocations.c.lease_expires_at <= leased_until)
        query = query.order_by(invocations.c.lease_expires_at)
    found = connection.execute(query.order_by(invocations.c.ordinal)).mappings()
    return [invocation_of(row) for row in found]
