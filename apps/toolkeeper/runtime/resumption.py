"""How does a parked call go on, in this process or another?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkeeper.runtime.session import Session
from toolkeeper_contract import (
    ApprovalState,
    Code,
    Invocation,
    Outcome,
    Registry,
    RunError,
    SourceState,
    State,
)
from toolkeeper_pipeline import Call, govern, outcome_of

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper

ANSWERED = (ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.EXPIRED)


class NotResumable(RunError):
    """There is nothing under this id to resume."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What resuming brought about.

    `outcomes` are of the calls that came to an end (or ended before). `unreachable` are rows whose
    source cannot be listed now: they stay parked, and nothing is lost.
    """

    outcomes: tuple[Outcome, ...] = ()
    unreachable: tuple[Invocation, ...] = ()


async def resume_one(keeper: "Toolkeeper", id: str) -> Taken:
    """Takes up the call of an approval or invocation id; one that ended gives its stored outcome.

    Nothing is taken up while the approval waits for its answer. NotResumable for an unknown id.
    """
    row = await _row(keeper, id)
    if row.state is not State.PARKED:
        return Taken((outcome_of(row),))
    return await _take_up(keeper, [row])


async def resume_all(keeper: "Toolkeeper") -> Taken:
    """Takes up every parked call that was answered, oldest first."""
    return await _take_up(keeper, await keeper.ledger.parked())


async def _take_up(keeper: "Toolkeeper", rows: Sequence[Invocation]) -> Taken:
    outcomes: list[Outcome] = []
    unreachable: list[Invocation] = []
    for row in rows:
        approval = await keeper.ledger.approval_of(row.invocation_id)
        if approval is None or approval.state not in ANSWERED:
            continue
        session = await keeper.resumed_session(row.session_id)
        registry = await keeper.refreshed(keeper.agent(session.record.agent))
        if approval.state is ApprovalState.APPROVED and _is_gone(row, registry):
            unreachable.append(row)
        else:
            outcomes.append(await _govern(keeper, session, row))
    return Taken(tuple(outcomes), tuple(unreachable))


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
    sealed = await ledger.sealed(row.invocation_id)
    if run is None or plan is None or sealed is None:
        raise RunError(
            Code.LEDGER_CONFLICT,
            f"the ledger lacks what invocation `{row.invocation_id}` needs to go on",
            "`toolkeeper audit show` tells what is known of it",
        )
    frozen = keeper.rim.sealer.open(sealed, row.invocation_id)
    call = Call(
        call_id=row.call_id,
        name=row.tool,
        arguments=frozen.decode("utf-8"),
        step=row.step,
        position=row.position,
        parked=row,
    )
    return await govern(call, session.run_under(run.run_id, plan, session.enabled_now), keeper.rim)


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
