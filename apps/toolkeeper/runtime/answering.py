"""How does an operator's answer reach a parked call?

Answering only decides. What was approved runs when somebody resumes it, in whatever process.
"""

from dataclasses import replace
from datetime import datetime

from toolkeeper_contract import (
    Answer,
    Approval,
    ApprovalState,
    Clock,
    Code,
    Event,
    Ledger,
    RunError,
)


class NotAnswerable(RunError):
    """The approval cannot be answered this way; the message says what state it is in."""


async def find_approval(ledger: Ledger, approval_id: str) -> Approval:
    """The approval of this id. NotAnswerable when there is none."""
    approval = await ledger.approval(approval_id)
    if approval is None:
        raise NotAnswerable(
            Code.LEDGER_CONFLICT,
            f"unknown approval `{approval_id}`",
            "`toolkeeper approvals list --all` shows what there is",
        )
    return approval


async def answer(
    ledger: Ledger,
    clock: Clock,
    approval_id: str,
    state: ApprovalState,
    *,
    by: str | None = None,
    reason: str | None = None,
) -> Approval:
    """Approves or denies one pending approval, once.

    `by` must be among the call's approvers; left out, the only one there is. NotAnswerable for an
    approval that is not pending any more: it says who answered.
    """
    approval = await find_approval(ledger, approval_id)
    name = entitled(approval, by)
    now = clock.now()
    given = Answer(state, name, now, reason)
    data = {"approval_id": approval_id, "state": state.value, "by": name, "reason": reason}
    answered = Event("approval.answered", data, approval.run_id, approval.invocation_id)
    changed = await ledger.answer(approval_id, given, (answered,))
    if changed is not None:
        return changed
    raise not_pending(await find_approval(ledger, approval_id))


def standing(approval: Approval, now: datetime) -> Approval:
    """The approval as it stands at `now`: one whose time is over is expired, reaped or not."""
    open_still = approval.state in (ApprovalState.PENDING, ApprovalState.APPROVED)
    if open_still and approval.expires_at <= now:
        return replace(approval, state=ApprovalState.EXPIRED)
    return approval


def entitled(approval: Approval, by: str | None) -> str:
    """The name to answer under. NotAnswerable when `by` is none of the call's approvers."""
    if by is None:
        return approval.approvers[0]
    if by not in approval.approvers:
        raise NotAnswerable(
            Code.LEDGER_CONFLICT,
            f"`{by}` is not among the approvers of this call",
            "approvers: " + ", ".join(f"`{name}`" for name in approval.approvers),
        )
    return by


def not_pending(approval: Approval) -> NotAnswerable:
    """Why an approval takes no answer any more."""
    state = approval.state
    if state is ApprovalState.PENDING:
        return NotAnswerable(
            Code.LEDGER_CONFLICT,
            f"approval `{approval.approval_id}` expired at {approval.expires_at.isoformat()}",
            "the call has to be made again",
        )
    id = approval.approval_id
    if state is ApprovalState.EXPIRED:
        told = f"approval `{id}` is expired"
    elif state is ApprovalState.SPENT:
        told = f"approval `{id}` is already spent: its call was run"
    else:
        told = f"approval `{id}` is already {state.value} by `{approval.decided_by}`"
    return NotAnswerable(Code.LEDGER_CONFLICT, told, "nothing was changed")
