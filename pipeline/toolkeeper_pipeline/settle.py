"""How does a call end that was not dispatched by us?"""

from toolkeeper_contract import (
    Code,
    Completed,
    Ending,
    Failed,
    Invocation,
    Outcome,
    Refused,
    RunError,
    State,
    Suspended,
    digest,
)
from toolkeeper_contract.draft import replace
from toolkeeper_pipeline import message
from toolkeeper_pipeline.claim import Lost
from toolkeeper_pipeline.record import idempotency_key, opening_events
from toolkeeper_pipeline.row import decided_event, loading_events, row_of, settled_event
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Recorded, Stop


async def refuse(recorded: Recorded, stop: Stop, run: Run, rim: Rim) -> Outcome:
    """Writes the row of a call that a stage ended; a call that never ran leaves a row as well."""
    call = recorded.call
    if call.parked is None and (call.idempotency_key is not None or run.again):
        # Keys that can be asked for are held by what ran or may run.
        own = idempotency_key(replace(call, idempotency_key=None), run)
        recorded = replace(recorded, key=digest([own, recorded.invocation_id]))
    row = row_of(
        recorded,
        run,
        rim,
        tool=stop.tool,
        frozen=stop.frozen,
        decision=stop.decision,
        approval_id=stop.approval_id,
        outcome=Ending.REFUSED,
        code=stop.code,
        result=stop.text,
        is_error=True,
        settled_at=rim.clock.now(),
    )
    told = stop.decision and row.decision
    decided = (decided_event(row, told, run),) if told else ()
    events = (
        *opening_events(recorded, run),
        *decided,
        settled_event(row),
        *loading_events(row, run),
    )
    if not await rim.ledger.settle(row, events):
        # A parked call that somebody else took up in the meantime: its row tells how it ended.
        return outcome_of(elsewhere(Lost(await rim.ledger.invocation(row.invocation_id))))
    return Refused(row)


async def give_up(recorded: Recorded, run: Run, rim: Rim) -> Outcome:
    """Ends a call that was not dispatched, wherever it stood when it had to stop."""
    row = await rim.ledger.invocation(recorded.invocation_id)
    if row is None:
        return await refuse(recorded, Stop(Code.UNAVAILABLE, message.CANCELLED), run, rim)
    if row.state is State.RUNNING and recorded.call.parked is None:
        # Nobody else knows this id, so the lease is ours.
        row = replace(
            row,
            state=State.SETTLED,
            outcome=Ending.FAILED,
            code=Code.UNAVAILABLE,
            result=message.CANCELLED,
            is_error=True,
            bytes=len(message.CANCELLED),
            settled_at=rim.clock.now(),
        )
        await rim.ledger.settle(row, (settled_event(row),))
    return outcome_of(row)


def elsewhere(lost: Lost) -> Invocation:
    """The row of the call's twin: the same call, taken up by somebody else."""
    if lost.twin is None:
        raise RunError(
            Code.LEDGER_CONFLICT,
            "the call could not be claimed and no other row stands for it",
            "send the call again",
        )
    return lost.twin


def outcome_of(row: Invocation) -> Outcome:
    """The outcome that a row tells; a row that is still running is reported as such."""
    if row.outcome is Ending.COMPLETED:
        return Completed(row)
    if row.outcome is Ending.REFUSED:
        return Refused(row)
    if row.outcome is Ending.FAILED:
        return Failed(row)
    if row.outcome is Ending.SUSPENDED:
        return Suspended(row)
    return Suspended(replace(row, outcome=Ending.SUSPENDED, result=message.RUNNING))
