"""How does a row end when nobody who ran it ends it?

Pure: both stores ask here, so they cannot come to different answers.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from toolkeeper_contract import (
    Answer,
    Approval,
    ApprovalState,
    Code,
    Ending,
    Event,
    Flag,
    Grant,
    Invocation,
    Scope,
    SideEffect,
    State,
)


@dataclass(frozen=True, slots=True)
class Reaped:
    """A row whose lease is over, as it ends; `retryable` says that it may run once more."""

    row: Invocation
    retryable: bool


def superseded(row: Invocation, by: str, at: datetime) -> Invocation:
    """A parked row whose approval was spent by the equal call `by`.

    It did not run and nothing was wrong with it: refused, without a code.
    """
    return replace(
        row,
        state=State.SETTLED,
        outcome=Ending.REFUSED,
        code=None,
        result="an equal call has used this call's approval; its result is that call's",
        is_error=True,
        superseded_by=by,
        settled_at=at,
    )


def expired(row: Invocation, at: datetime) -> Invocation:
    """A parked row whose approval ran out."""
    return replace(
        row,
        state=State.SETTLED,
        outcome=Ending.REFUSED,
        code=Code.APPROVAL_EXPIRED,
        result="the approval that this call waited for has expired; it was not run",
        is_error=True,
        settled_at=at,
    )


def reaped(row: Invocation, at: datetime) -> Reaped:
    """A running row whose lease is over: its worker is gone, or will be too late.

    The fence goes up, so that a late write of the old lease is recognised. A read or an idempotent
    call may run again, unless an approval was spent on it: that one was for a single execution.
    """
    harmless = _reads(row.side_effect) or Flag.IDEMPOTENT.value in row.flags
    ended = replace(
        row,
        state=State.SETTLED,
        outcome=Ending.FAILED,
        code=Code.FAILED if harmless else Code.FAILED_UNKNOWN_OUTCOME,
        result=(
            "the call was interrupted and gave no result"
            if harmless
            else "the call was interrupted; whether it took effect is not known"
        ),
        is_error=True,
        fence=row.fence + 1,
        settled_at=at,
    )
    return Reaped(ended, retryable=harmless and row.approval_id is None)


def _reads(side_effect: str | None) -> bool:
    return side_effect in set(SideEffect) and SideEffect(side_effect).reads


def is_twin(standing: Invocation, row: Invocation) -> bool:
    """Whether the holder of a row's idempotency key is the same call under another id.

    The same key with another tool or other arguments is no twin: a conflict.
    """
    return standing.invocation_id != row.invocation_id and (
        standing.tool,
        standing.arguments_digest,
    ) == (row.tool, row.arguments_digest)


def may_amend(
    approval: Approval, row: Invocation, asked: Approval | None, state: State | None
) -> bool:
    """Whether `approval` may take the place of `asked`, for the same call while it waits.

    ValueError when `approval` is not answered: nobody would be left to answer it.
    """
    if approval.state is not ApprovalState.APPROVED or approval.decided_at is None:
        raise ValueError("an approval for other arguments is an approved one")
    return (
        asked is not None
        and state is State.PARKED
        and asked.state is ApprovalState.PENDING
        and asked.expires_at > approval.decided_at
        and asked.invocation_id == approval.invocation_id == row.invocation_id
    )


def check_answer(approval_id: str, answer: Answer, grant: Grant | None) -> None:
    """ValueError for what is no answer, or no grant that this answer gives."""
    if answer.state not in (ApprovalState.APPROVED, ApprovalState.DENIED):
        raise ValueError("an answer approves or denies")
    if grant is None:
        return
    if answer.state is not ApprovalState.APPROVED:
        raise ValueError("only an approval can open a grant")
    if grant.approval_id != approval_id or grant.granted_by != answer.by:
        raise ValueError("a grant is given with its own approval, by whoever answers that")
    if grant.scope is Scope.ONCE or (grant.scope is Scope.SESSION) != bool(grant.session_id):
        raise ValueError("a grant is for one named session or always")


def may_start(state: str, retryable: bool) -> bool:
    """Whether a call that is in the ledger may be claimed: it waits, or may run once more."""
    return state == State.PARKED or retryable


def may_end(state: str, retryable: bool, newest: int, fence: int) -> bool:
    """Whether a row in this state may be ended by the holder of `fence`.

    A parked row has no holder. A reaped one that may run again can be refused instead, by someone
    who has seen that it was reaped.
    """
    if state == State.PARKED:
        return True
    return (state == State.RUNNING or retryable) and fence == newest


def is_same_end(stored: Invocation | None, row: Invocation) -> bool:
    """Whether `row` is the end that is stored, written before by who did not hear of it."""
    return (
        stored is not None
        and row.settled_at is not None
        and (stored.state, stored.session_id, stored.fence, stored.settled_at)
        == (State.SETTLED, row.session_id, row.fence, row.settled_at)
        and (stored.outcome, stored.code, stored.result) == (row.outcome, row.code, row.result)
    )


def superseded_event(row: Invocation, by: str) -> Event:
    return _of(row, "call.superseded", {"tool": row.tool, "superseded_by": by})


def reaped_event(row: Invocation, reaped: Reaped) -> Event:
    code = reaped.row.code
    return _of(
        row,
        "lease.reaped",
        {
            "tool": row.tool,
            "fence": row.fence,
            "code": code.value if code else None,
            "retryable": reaped.retryable,
        },
    )


def fenced_event(row: Invocation, newest: int) -> Event:
    """A late write of `row` was dropped, because lease `newest` is newer or the row has ended."""
    return _of(row, "call.fenced", {"tool": row.tool, "fence": row.fence, "newest": newest})


def expired_event(approval: Approval, reason: str) -> Event:
    """`reason` is `time` or, when the call ended without using the approval, `call_ended`."""
    return Event(
        "approval.expired",
        {
            "approval_id": approval.approval_id,
            "tool": approval.binding.tool,
            "was": approval.state.value,
            "reason": reason,
        },
        run_id=approval.run_id,
        invocation_id=approval.invocation_id,
    )


UNUSED = (ApprovalState.PENDING, ApprovalState.APPROVED)
"""The states of an approval that can still be used, or become usable."""


def _of(row: Invocation, name: str, data: dict[str, object]) -> Event:
    return Event(name, data, run_id=row.run_id, invocation_id=row.invocation_id)
