"""Stage 10: is this process the one that runs the call?

One conditional update opens the row, spends the approval and takes the lease. `Claimed` is the only
state that *execute* accepts, and only this module can make one.
"""

from dataclasses import dataclass

from toolkeeper_contract import Classification, Event, Flag, Invocation, Lease, State, Tool
from toolkeeper_contract.draft import drafted, replace
from toolkeeper_pipeline.record import opening_events
from toolkeeper_pipeline.row import decided_event, row_of
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Approved

_KEY = object()
FIRST_FENCE = 1
"""The token of a call's first lease, as the ledger counts them."""


@drafted
@dataclass(frozen=True, slots=True)
class Claimed:
    """The row is written, the approval is spent, the lease is held: the call may be dispatched."""

    row: Invocation
    tool: Tool
    classification: Classification
    data: bytes
    lease: Lease
    key: object

    def __post_init__(self) -> None:
        # INVARIANT: a claimed call comes from `claim` and from nowhere else.
        if self.key is not _KEY:
            raise TypeError("only `claim` makes a claimed call")


@dataclass(frozen=True, slots=True)
class Lost:
    """Somebody else was first: `twin` is the row as it stands, if it can be read."""

    twin: Invocation | None


async def claim(approved: Approved, run: Run, rim: Rim) -> Claimed | Lost:
    """The right to run this call, or what became of it elsewhere."""
    decided = approved.decided
    frozen = decided.frozen
    recorded = frozen.recorded
    row = row_of(
        recorded,
        run,
        rim,
        tool=frozen.tool,
        frozen=frozen,
        decision=decided.decision,
        approval_id=approved.approval_id,
        grant_id=approved.grant_id,
        attempts=1,
        fence=FIRST_FENCE,
        state=State.RUNNING,
    )
    claimed = Event(
        "call.claimed",
        {"tool": row.tool, "approval_id": approved.approval_id, "grant_id": approved.grant_id},
        run.run_id,
        row.invocation_id,
    )
    decision = decided_event(row, decided.decision, run)
    events = (*opening_events(recorded, run), decision, claimed)
    until = rim.clock.now() + run.limits.lease
    lease = await rim.ledger.claim(row, until, events, sealed=_kept(approved, rim))
    if lease is None:
        twin = await rim.ledger.invocation(row.invocation_id)
        return Lost(twin or await rim.ledger.twin(row.idempotency_key))
    return Claimed(
        row if row.fence == lease.fence else replace(row, fence=lease.fence),
        frozen.tool,
        decided.classification,
        frozen.data,
        lease,
        _KEY,
    )


def _kept(approved: Approved, rim: Rim) -> bytes | None:
    """The frozen arguments of a read whose redacted ones would not do, should its worker die."""
    classification, frozen = approved.decided.classification, approved.decided.frozen
    if not frozen.masked or not may_run_again(classification):
        return None
    return rim.sealer.seal(frozen.data, frozen.recorded.invocation_id)


def may_run_again(classification: Classification) -> bool:
    """Whether a call of this class can be repeated without doing anything twice."""
    return classification.side_effect.reads or Flag.IDEMPOTENT in classification.flags
