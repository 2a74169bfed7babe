"""Stage 9: has somebody entitled said yes to exactly this call?

Only this stage raises approvals, and who may answer comes from policy and configuration, never
from arguments. An approval satisfies ASK and nothing else.
"""

from datetime import datetime

from toolkeeper_contract import (
    Approval,
    ApprovalState,
    Binding,
    Code,
    Effect,
    Ending,
    Event,
    State,
)
from toolkeeper_pipeline import message
from toolkeeper_pipeline.record import opening_events
from toolkeeper_pipeline.row import decided_event, row_of
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Approved, Decided, Frozen, Parked, Stop


async def approve(decided: Decided, run: Run, rim: Rim) -> Approved | Parked:
    """Passes what needs no answer or has one; otherwise parks the call with a durable question."""
    frozen = decided.frozen
    parked = frozen.recorded.call.parked
    own = await rim.ledger.approval_of(parked.invocation_id) if parked else None
    if own is not None and own.state is not ApprovalState.PENDING:
        return Approved(decided, _answered(own, decided, run, rim.clock.now()))
    if decided.decision.effect is Effect.ALLOW and own is None:
        return Approved(decided, None)
    usable = await rim.ledger.usable_approval(binding(frozen, run).digest(), rim.clock.now())
    if usable is not None and _entitled(usable, decided, run):
        return Approved(decided, usable.approval_id)
    if parked is not None and parked.state is State.PARKED:
        return Parked(parked)
    return await _park(decided, run, rim)


def binding(frozen: Frozen, run: Run) -> Binding:
    """What an approval of this call is bound to."""
    return Binding(
        tool=frozen.tool.name,
        fingerprint=frozen.tool.fingerprint,
        arguments_digest=frozen.digest,
        user=run.principal.user,
        agent=run.agent,
        session_id=run.session_id,
    )


def approvers(decided: Decided, run: Run) -> tuple[str, ...]:
    """Who may answer: the policy's names, else the agent's, else the session's own user."""
    return decided.decision.approvers or run.approvers or (run.principal.user,)


def _answered(own: Approval, decided: Decided, run: Run, now: datetime) -> str:
    frozen, decision = decided.frozen, decided.decision
    if own.state is ApprovalState.DENIED:
        raise Stop(
            Code.APPROVAL_REJECTED,
            message.rejected(own.reason),
            frozen=frozen,
            decision=decision,
            approval_id=own.approval_id,
        )
    over = own.state is not ApprovalState.APPROVED or own.expires_at <= now
    if over or not _entitled(own, decided, run):
        # Expired, spent elsewhere, or answered by somebody who is no longer entitled to.
        raise Stop(
            Code.APPROVAL_EXPIRED,
            message.EXPIRED if over else message.OUTGROWN,
            frozen=frozen,
            decision=decision,
            approval_id=own.approval_id,
        )
    if own.binding != binding(frozen, run):
        raise Stop(
            Code.PIN_MISMATCH,
            message.PIN_MISMATCH,
            frozen=frozen,
            decision=decision,
            approval_id=own.approval_id,
        )
    return own.approval_id


def _entitled(approval: Approval, decided: Decided, run: Run) -> bool:
    return approval.decided_by in approvers(decided, run)


async def _park(decided: Decided, run: Run, rim: Rim) -> Parked:
    frozen = decided.frozen
    recorded = frozen.recorded
    now = rim.clock.now()
    approval = Approval(
        approval_id=rim.ids.new("apr"),
        invocation_id=recorded.invocation_id,
        run_id=run.run_id,
        binding=binding(frozen, run),
        arguments=frozen.redacted,
        decision=decided.decision,
        approvers=approvers(decided, run),
        input_schema=frozen.tool.definition.input_schema,
        asked_at=now,
        expires_at=now + run.limits.approval_expiry,
    )
    row = row_of(
        recorded,
        run,
        rim,
        tool=frozen.tool,
        frozen=frozen,
        decision=decided.decision,
        approval_id=approval.approval_id,
        state=State.PARKED,
        outcome=Ending.SUSPENDED,
        result=message.PARKED,
    )
    sealed = rim.sealer.seal(frozen.data, recorded.invocation_id)
    asked = Event(
        "approval.asked",
        {
            "approval_id": approval.approval_id,
            "tool": row.tool,
            "approvers": list(approval.approvers),
            "expires_at": approval.expires_at.isoformat(),
        },
        run.run_id,
        row.invocation_id,
    )
    events = (*opening_events(recorded, run), decided_event(row, decided.decision, run), asked)
    await rim.ledger.park(row, approval, sealed, events)
    return Parked(row)
