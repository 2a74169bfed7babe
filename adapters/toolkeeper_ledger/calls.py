"""How does a call take its place, its lease and its end, each exactly once?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, bindparam, update

from toolkeeper_contract import (
    Approval,
    Event,
    Invocation,
    KeptResult,
    Lease,
    RunError,
    State,
)
from toolkeeper_contract.draft import drafted, replace
from toolkeeper_ledger import grants
from toolkeeper_ledger.approvals import ask, close_unused, find_approval, replaced, spend
from toolkeeper_ledger.call_rows import (
    Standing,
    columns_of,
    end_at_once,
    end_row,
    find_invocation,
    find_sealed,
    find_standing,
    open_at_once,
    open_row,
    rewrite_columns,
    rewrite_row,
)
from toolkeeper_ledger.database import Moved, Withdrawn
from toolkeeper_ledger.endings import (
    fenced_event,
    is_same_end,
    is_twin,
    may_amend,
    may_end,
    may_start,
    superseded,
    superseded_event,
)
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.history import append, lock
from toolkeeper_ledger.lease_term import Term
from toolkeeper_ledger.marking import Marks, mark, to_mark
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.schema import invocations
from toolkeeper_ledger.sessions import keep_results
from toolkeeper_ledger.vouching import asking, settling, vouched

_RENEW = Prepared(
    update(invocations)
    .where(
        invocations.c.invocation_id == bindparam("id"),
        invocations.c.state == bindparam("old_state"),
        invocations.c.fence == bindparam("old_fence"),
    )
    .values(leased_at=bindparam("since"), lease_expires_at=bindparam("until"))
)


@drafted
@dataclass(frozen=True, slots=True)
class Claim:
    """The work of a claim; what it asks can be looked at before it is done."""

    row: Invocation
    expires_at: datetime
    at: datetime
    events: Sequence[Event]
    sealed: bytes | None

    def __call__(self, connection: Connection) -> Lease | None:
        return claim(connection, self.row, self.expires_at, self.at, self.events, self.sealed)


@drafted
@dataclass(frozen=True, slots=True)
class Settle:
    """The work of settling, in the same way."""

    row: Invocation
    at: datetime
    events: Sequence[Event]
    tainted: bool
    private: bool
    kept: Mapping[str, KeptResult] = field(default_factory=dict)

    def __call__(self, connection: Connection) -> bool:
        return settle(
            connection,
            self.row,
            self.at,
            self.events,
            tainted=self.tainted,
            private=self.private,
            kept=self.kept,
        )


def started_row(row: Invocation, fence: int) -> Invocation:
    """The row as it runs under this lease: itself, when it was made so."""
    if (row.state, row.outcome, row.settled_at, row.superseded_by, row.fence) == (
        State.RUNNING,
        None,
        None,
        None,
        fence,
    ):
        return row
    return replace(
        row, state=State.RUNNING, outcome=None, settled_at=None, superseded_by=None, fence=fence
    )


def ended_row(row: Invocation, at: datetime, fence: int) -> Invocation:
    """The row as its end is written, under the newest lease: itself, when it was made so."""
    if row.state is State.SETTLED and row.settled_at is not None and row.fence == fence:
        return row
    return replace(row, state=State.SETTLED, settled_at=row.settled_at or at, fence=fence)


def claim(
    connection: Connection,
    row: Invocation,
    expires_at: datetime,
    at: datetime,
    events: Sequence[Event],
    sealed: bytes | None,
) -> Lease | None:
    lock(connection, row.session_id)
    term = Term(at, expires_at)
    if open_at_once(connection, started_row(row, 1), term=term, sealed=sealed):
        told = _granted(connection, row, at, events)
        append(connection, row.session_id, at, told)
        return Lease(row.invocation_id, 1, expires_at)
    found = find_standing(connection, row)
    if found is not None and found.invocation_id != row.invocation_id:
        holder = find_invocation(connection, found.invocation_id)
        if holder is not None and is_twin(holder, row):
            return None
    standing = _own(found, row)
    if standing is not None and not may_start(standing.state, standing.retryable):
        return None
    fence = 1 if standing is None else standing.fence + 1
    running = started_row(row, fence)
    if standing is None:
        open_row(connection, running, term=term, sealed=sealed)
    else:
        # The sealed arguments stay until the end: a read whose worker dies runs again from them.
        kept = sealed or find_sealed(connection, row.invocation_id)
        _change(connection, running, standing, term=term, sealed=kept)
    told = _granted(connection, row, at, events)
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
    lock(connection, row.session_id)
    standing = _own(find_standing(connection, row), row)
    parked = replace(row, state=State.PARKED)
    if standing is None:
        open_row(connection, parked, sealed=sealed)
    elif standing.retryable:
        parked = replace(parked, fence=standing.fence)
        _change(connection, parked, standing, sealed=sealed)
    else:
        raise conflict(f"call `{row.invocation_id}` is already in the ledger")
    ask(connection, approval)
    append(connection, row.session_id, at, asking(events, approval))


def settle(
    connection: Connection,
    row: Invocation,
    at: datetime,
    events: Sequence[Event],
    *,
    tainted: bool = False,
    private: bool = False,
    kept: Mapping[str, KeptResult] | None = None,
) -> bool:
    marks = Marks(tainted, private)
    marked = to_mark(connection, row.session_id, marks)
    lock(connection, row.session_id, *marked)
    settled = ended_row(row, at, row.fence)
    ended, columns = end_at_once(connection, settled)
    standing = None if ended else _own(find_standing(connection, row), row)
    if standing is None:
        if not ended:
            open_row(connection, settled, columns=columns)
        mark(connection, row.session_id, marked, marks, at)
        append(connection, row.session_id, at, settling(events, settled, columns))
        keep_results(connection, row, kept or {}, at)
        return True
    if not may_end(standing.state, standing.retryable, standing.fence, row.fence):
        if is_same_end(find_invocation(connection, row.invocation_id), row):
            return True
        append(connection, standing.session_id, at, [fenced_event(row, standing.fence)])
        return False
    settled = ended_row(row, at, standing.fence)
    columns = columns_of(settled)
    told = settling(events, settled, columns)
    if not rewrite_columns(connection, columns, standing.state, standing.fence):
        raise Moved
    mark(connection, row.session_id, marked, marks, at)
    if standing.state == State.PARKED:
        told += close_unused(connection, row.invocation_id)
    append(connection, row.session_id, at, told)
    keep_results(connection, row, kept or {}, at)
    return True


def amend(
    connection: Connection,
    approval_id: str,
    row: Invocation,
    approval: Approval,
    sealed: bytes,
    at: datetime,
    events: Sequence[Event],
) -> bool:
    lock(connection, row.session_id)
    standing = _own(find_standing(connection, row), row)
    asked = find_approval(connection, approval_id)
    if not may_amend(
        approval, row, asked, State(standing.state) if standing else None
    ) or not replaced(connection, approval_id, approval):
        raise Withdrawn(False)
    assert standing is not None
    parked = replace(row, state=State.PARKED, fence=standing.fence)
    _change(connection, parked, standing, sealed=sealed)
    ask(connection, approval)
    append(connection, row.session_id, at, asking(events, approval))
    return True


def renew(connection: Connection, lease: Lease, expires_at: datetime, at: datetime) -> bool:
    renewed = _RENEW.run(
        connection,
        {
            "id": lease.invocation_id,
            "old_state": State.RUNNING.value,
            "old_fence": lease.fence,
            "since": instant(at),
            "until": instant(expires_at),
        },
    )
    return renewed.rowcount == 1


def foreign(row: Invocation, holder: str) -> RunError:
    """The conflict of a call whose idempotency key another call holds."""
    return conflict(
        f"the idempotency key of call `{row.invocation_id}` belongs to another call",
        f"read call `{holder}` instead",
    )


def _own(standing: Standing | None, row: Invocation) -> Standing | None:
    """The standing row, if it is this call's; a conflict otherwise."""
    if standing is None:
        return None
    if standing.invocation_id != row.invocation_id:
        raise foreign(row, standing.invocation_id)
    if standing.session_id != row.session_id:
        raise conflict(f"call `{row.invocation_id}` belongs to another session")
    return standing


def _change(
    connection: Connection,
    row: Invocation,
    standing: Standing,
    *,
    term: Term | None = None,
    sealed: bytes | None = None,
) -> None:
    """Rewrites a row that was read in this transaction; Moved when it stands otherwise by now."""
    if not rewrite_row(
        connection,
        row,
        standing.state,
        standing.fence,
        term=term,
        sealed=sealed,
    ):
        raise Moved


def _granted(
    connection: Connection, row: Invocation, at: datetime, events: Sequence[Event]
) -> list[Event]:
    """The events of a call that begins, if what it goes by holds; Withdrawn otherwise."""
    told = list(events)
    if row.grant_id is not None and not grants.holds(connection, row.grant_id, row, at):
        raise Withdrawn(None)
    if row.approval_id is not None:
        told += _use(connection, row, row.approval_id, at)
    return told


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
    ended = superseded(waiting, row.invocation_id, at)
    if end_row(connection, waiting, ended, retryable=False):
        return [vouched(superseded_event(waiting, row.invocation_id), ended)]
    return []
