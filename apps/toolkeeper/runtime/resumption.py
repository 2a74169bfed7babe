"""How does a parked call go on, in this process or another?"""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkeeper.runtime.session import Session
from toolkeeper_contract import (
    ApprovalState,
    Code,
    Invocation,
    Ledger,
    Outcome,
    Registry,
    RunError,
    SourceState,
    State,
    ToolkeeperError,
    canonical_bytes,
    digest_bytes,
)
from toolkeeper_pipeline import Call, govern, outcome_of
from toolkeeper_planner import require_current

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper


class NotResumable(RunError):
    """There is nothing under this id to resume."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of taking up one call.

    `outcome` is how it ended (or had ended before). Without one the call stays as it was: `error`
    says what of the wiring is in the way; where it is None too, the tool's source cannot be reached
    now, and nothing is lost.
    """

    row: Invocation
    outcome: Outcome | None = None
    error: ToolkeeperError | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What resuming brought about.

    `outcomes` are of the calls that came to an end (or ended before). `unreachable` are rows whose
    source cannot be reached now: they stay parked, and nothing is lost. `blocked` are attempts that
    the wiring of this moment does not let through; they stay parked as well.
    """

    outcomes: tuple[Outcome, ...] = ()
    unreachable: tuple[Invocation, ...] = ()
    blocked: tuple[Attempt, ...] = ()


async def resume_one(keeper: "Toolkeeper", id: str) -> Taken:
    """Takes up the call of an approval or invocation id; one that ended gives its stored outcome.

    Nothing is taken up while the approval waits for its answer. NotResumable for an unknown id;
    ConfigError when the session's agent is gone.
    """
    taken = _taken([attempt async for attempt in attempts(keeper, id)])
    for attempt in taken.blocked:
        assert attempt.error is not None
        raise attempt.error
    return taken


async def resume_all(keeper: "Toolkeeper") -> Taken:
    """Takes up every parked call that was answered, oldest first, and reads that were reaped."""
    return _taken([attempt async for attempt in attempts(keeper)])


async def attempts(keeper: "Toolkeeper", id: str | None = None) -> AsyncIterator[Attempt]:
    """Takes up one call, or all that can go on, and tells of each as soon as it is over."""
    if id is None:
        for row in await ready(keeper.ledger):
            yield await attempt(keeper, row)
        return
    row = await _row(keeper, id)
    again = {each.invocation_id for each in await keeper.ledger.retryable()}
    if row.state is State.PARKED:
        approval = await keeper.ledger.approval_of(row.invocation_id)
        if approval is None or approval.state is ApprovalState.PENDING:
            return
        if approval.state is ApprovalState.SPENT:
            # Somebody else took it up since it was read.
            row = await _row(keeper, row.invocation_id)
    if row.state is not State.PARKED and row.invocation_id not in again:
        yield Attempt(row, outcome_of(row))
    else:
        yield await attempt(keeper, row)


async def ready(ledger: Ledger) -> list[Invocation]:
    """The calls that can go on: parked ones that were answered, then reaped reads."""
    return [*await ledger.parked(answered=True), *await ledger.retryable()]


def _taken(made: Sequence[Attempt]) -> Taken:
    return Taken(
        tuple(each.outcome for each in made if each.outcome),
        tuple(each.row for each in made if not each.outcome and not each.error),
        tuple(each for each in made if each.error),
    )


async def attempt(keeper: "Toolkeeper", row: Invocation) -> Attempt:
    """Takes up one call that is ready. RunError when the ledger cannot be used."""
    try:
        session = await keeper.resumed_session(row.session_id)
        registry = await keeper.relisted(keeper.agent(session.record.agent))
        approval = await keeper.ledger.approval_of(row.invocation_id)
        denied = approval is not None and approval.state is not ApprovalState.APPROVED
        if not denied and _is_gone(row, registry):
            return Attempt(row)
        return Attempt(row, await _govern(keeper, session, row))
    except ToolkeeperError as error:
        if error.code is Code.LEDGER_UNAVAILABLE:
            raise
        return Attempt(row, error=error)


def _is_gone(row: Invocation, registry: Registry) -> bool:
    # A tool that is missing because its server is down comes back; one that was removed does not.
    return row.tool not in registry.tools and any(
        status.state is not SourceState.OK and row.tool.startswith(f"mcp.{status.name}.")
        for status in registry.sources
    )


async def _govern(keeper: "Toolkeeper", session: Session, row: Invocation) -> Outcome:
    ledger = keeper.ledger
    run = await ledger.run(row.run_id)
    plan = await ledger.plan(run.plan_digest) if run else None
    frozen = await _frozen(keeper, row)
    if frozen is None:
        # They are kept until the call ends: somebody else may have taken it up since it was read.
        newest = await ledger.invocation(row.invocation_id)
        if newest is not None and (newest.state, newest.fence) != (row.state, row.fence):
            return outcome_of(newest)
    if run is None or plan is None or frozen is None:
        raise RunError(
            Code.LEDGER_CONFLICT,
            f"the ledger lacks what invocation `{row.invocation_id}` needs to go on",
            "`toolkeeper audit show` tells what is known of it",
        )
    require_current(plan)
    call = Call(
        call_id=row.call_id,
        name=row.tool,
        # Parsed, as they were when they were frozen: their canonical text may be longer than any
        # text that was sent.
        arguments=json.loads(frozen),
        step=row.step,
        position=row.position,
        parked=row,
    )
    # Decided by what is known now: an answer that came late must not rest on what was known then.
    under = session.run_under(run, plan, await session.facts())
    (outcome,) = await govern([call], under, keeper.rim)
    await session.tell_above()
    return outcome


async def _frozen(keeper: "Toolkeeper", row: Invocation) -> bytes | None:
    """The frozen arguments: sealed ones, else those of the row where nothing of them was masked."""
    sealed = await keeper.ledger.sealed(row.invocation_id)
    if sealed is not None:
        return keeper.rim.sealer.open(sealed, row.invocation_id)
    kept = canonical_bytes(row.arguments)
    return kept if digest_bytes(kept) == row.arguments_digest else None


async def _row(keeper: "Toolkeeper", id: str) -> Invocation:
    row = await keeper.ledger.invocation(id)
    if row is None:
        approval = await keeper.ledger.approval(id)
        row = await keeper.ledger.invocation(approval.invocation_id) if approval else None
    if row is None:
        raise NotResumable(
            Code.LEDGER_CONFLICT,
            f"unknown approval or invocation `{id}`",
            "`toolkeeper approvals list` shows what waits",
        )
    return row
