"""Stage 9: has somebody entitled said yes to exactly this call?

Only this stage raises approvals, and who may answer comes from policy and configuration, never
from arguments. An approval satisfies ASK and nothing else.
"""

from toolkeeper_contract import (
    Approval,
    ApprovalState,
    Binding,
    Code,
    Effect,
    Ending,
    Event,
    Scope,
    State,
)
from toolkeeper_contract.draft import replace
from toolkeeper_pipeline import message
from toolkeeper_pipeline.contents import changed, contents_of
from toolkeeper_pipeline.grant import approvers, granted
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
        return Approved(decided, await _answered(own, decided, run, rim))
    if own is None and decided.decision.effect is Effect.ALLOW:
        return Approved(decided)
    usable = await rim.ledger.usable_approval(binding(frozen, run).digest(), rim.clock.now())
    if (
        usable is not None
        and _entitled(usable, decided, run)
        and not await changed(usable, decided, rim)
    ):
        return Approved(decided, usable.approval_id)
    # A call that waits for an answer of its own is not let through by one to another call.
    grant = await granted(decided, run, rim) if own is None else None
    if grant is not None:
        return Approved(decided, grant_id=grant.grant_id)
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


async def _answered(own: Approval, decided: Decided, run: Run, rim: Rim) -> str:
    def stop(code: Code, text: str) -> Stop:
        return Stop(
            code,
            text,
            frozen=decided.frozen,
            decision=decided.decision,
            approval_id=own.approval_id,
        )

    if own.state is ApprovalState.DENIED:
        raise stop(Code.APPROVAL_REJECTED, message.rejected(own.reason))
    if own.state is not ApprovalState.APPROVED or own.expires_at <= rim.clock.now():
        raise stop(Code.APPROVAL_EXPIRED, message.EXPIRED)
    if not _entitled(own, decided, run):
        # Answered by somebody who is no longer entitled to.
        raise stop(Code.APPROVAL_EXPIRED, message.OUTGROWN)
    if own.binding != binding(decided.frozen, run):
        raise stop(Code.PIN_MISMATCH, message.PIN_MISMATCH)
    pointers = await changed(own, decided, rim)
    if pointers:
        raise stop(Code.APPROVAL_EXPIRED, message.content_changed(pointers))
    return own.approval_id


def _entitled(approval: Approval, decided: Decided, run: Run) -> bool:
    """Whether who answered may answer what is asked now; nothing is, where policy now allows."""
    if decided.decision.effect is Effect.ALLOW:
        return True
    return approval.decided_by in approvers(decided, run)


def _unanswerable(decided: Decided) -> Stop:
    """A question that nobody may answer is no question: the call is denied at once."""
    decision = decided.decision
    denial = replace(
        decision,
        effect=Effect.DENY,
        code=Code.DENIED_POLICY,
        reasons=(*decision.reasons, message.NOBODY),
        asked_by=(),
        scope=Scope.ONCE,
        requester_excluded=False,
    )
    return Stop(Code.DENIED_POLICY, message.denied(denial), frozen=decided.frozen, decision=denial)


async def _park(decided: Decided, run: Run, rim: Rim) -> Parked:
    frozen = decided.frozen
    recorded = frozen.recorded
    names = approvers(decided, run)
    if not names:
        raise _unanswerable(decided)
    operands = await contents_of(decided, rim)
    now = rim.clock.now()
    approval = Approval(
        approval_id=rim.ids.new("apr"),
        invocation_id=recorded.invocation_id,
        run_id=run.run_id,
        binding=binding(frozen, run),
        arguments=frozen.redacted,
        decision=decided.decision,
        approvers=names,
        input_schema=frozen.tool.definition.input_schema,
        asked_at=now,
        expires_at=now + run.limits.approval_expiry,
        operands=operands,
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
            "agent": run.agent,
            "user": run.principal.user,
            "approvers": list(approval.approvers),
            "asked_by": list(decided.decision.asked_by),
            "operands": dict(operands),
            "expires_at": approval.expires_at.isoformat(),
        },
        run.run_id,
        row.invocation_id,
    )
    events = (*opening_events(recorded, run), decided_event(row, decided.decision, run), asked)
    await rim.ledger.park(row, approval, sealed, events)
    return Parked(row)
