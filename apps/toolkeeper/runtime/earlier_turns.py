"""What did an earlier turn show?"""

from toolkeeper.runtime.rendering import Rendering
from toolkeeper.runtime.sight import Sight, identities
from toolkeeper_contract import Code, Ledger, Plan, Registry, RunError, RunRecord
from toolkeeper_planner import require_current
from toolkeeper_wire import NameCodec

_HINT = "restore the store from a backup, or open a new session"


async def plan_of(ledger: Ledger, run: RunRecord) -> Plan:
    """The plan that `run` started with. RunError when the ledger has lost it."""
    plan = await ledger.plan(run.plan_digest)
    if plan is None:
        raise RunError(
            Code.LEDGER_CONFLICT, f"the ledger lacks the plan of run `{run.run_id}`", _HINT
        )
    return plan


async def rendering_of(ledger: Ledger, run: RunRecord) -> Rendering:
    """The request parts that `run` showed. RunError when the ledger has lost them."""
    text = await ledger.rendering(run.rendering) if run.rendering else None
    if text is None:
        raise RunError(
            Code.LEDGER_CONFLICT, f"the ledger lacks the rendering of run `{run.run_id}`", _HINT
        )
    return Rendering(text)


async def sight_kept(ledger: Ledger, run: RunRecord, registry: Registry, codec: NameCodec) -> Sight:
    """What `run` showed, byte by byte as it was stored.

    RunError(plan.builder_not_current) when this version cannot go on with its plan.
    """
    plan = await plan_of(ledger, run)
    require_current(plan)
    rendering = await rendering_of(ledger, run)
    return Sight(plan, registry, rendering, codec.extended(identities(plan)))
