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
    Grant,
    Ledger,
    RunError,
    Scope,
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
    grant: Grant | None = None,
) -> Approval:
    """Approves or denies one pending approval, once.

    `by` must be among the call's approvers; left out, the first of them. `grant` is given with the
    answer. NotAnswerable for an approval that is not pending any more: it says who answered, and
    when.
    """
    approval = await find_approval(ledger, approval_id)
    name = entitled(approval, by)
    now = clock.now()
    given = Answer(state, name, now, reason)
    data = {
        "approval_id": approval_id,
        "state": state.value,
        "by": name,
        "reason": reason,
        "scope": (grant.scope if grant else Scope.ONCE).value,
        "grant_id": grant.grant_id if grant else None,
    }
    events = [Event("approval.answered", data, approval.run_id, approval.invocation_id)]
    if grant is not None:
        events.append(given_event(grant, approval))
    changed = await ledger.answer(approval_id, given, events, grant=grant)
    if changed is not None:
        return changed
    raise not_pending(await find_approval(ledger, approval_id))


def standing(approval: Approval, now: datetime) -> Approval:
    """The approval as it stands at `now`: one whose time is over is expired, reaped or not."""
    open_still = approval.state in (ApprovalState.PENDING, ApprovalState.APPROVED)
    if open_still and approval.expires_at <= now:
        return replace(approval, state=ApprovalState.EXPIRED)
    return approval


def given_event(grant: Grant, approval: Approval) -> Event:
    """What is told of a grant, in the session in which it is given."""
    data = {
        "grant_id": grant.grant_id,
        "approval_id": approval.approval_id,
        "scope": grant.scope.value,
        "tool": grant.tool,
        "condition": grant.condition,
        "rules": list(grant.rules),
        "expires_at": grant.expires_at.isoformat(),
        "by": grant.granted_by,
    }
    return Event("grant.given", data, approval.run_id, approval.invocation_id)


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
    when = approval.decided_at.isoformat(timespec="seconds") if approval.decided_at else "?"
    if state is ApprovalState.EXPIRED:
        told = f"approval `{id}` is expired"
    elif state is ApprovalState.SPENT:
        told = (
            f"approval `{id}` is already spent: `{approval.decided_by}` approved it at {when}, and "
            "its call was run"
        )
    else:
        told = f"approval `{id}` is already {state.value} by `{approval.decided_by}`, at {when}"
    return NotAnswerable(Code.LEDGER_CONFLICT, told, "nothing was changed")
