"""What is told of a turn when it begins?"""

from toolkeeper.runtime.shown_changes import shown_changes
from toolkeeper.runtime.sight import Sight
from toolkeeper_contract import Event, Ledger, RunRecord
from toolkeeper_planner import planned_event


async def beginning_events(
    ledger: Ledger,
    before: RunRecord | None,
    run: RunRecord,
    sight: Sight,
    *,
    forced: str | None = None,
) -> tuple[Event, ...]:
    """`run.began`, `session.planned`, and what changed since the turn `before`.

    `run` shows `sight`; `forced` is the tool that its caller forces.
    """
    told = {"turn": run.turn, "plan": run.plan_digest}
    if forced:
        told["forced"] = forced
    changes = await shown_changes(
        ledger,
        before,
        sight.plan,
        sight.rendering,
        sight.codec,
        run_id=run.run_id,
        forced=forced,
    )
    sources = sight.registry.sources
    return (
        Event("run.began", told, run.run_id),
        planned_event(sight.plan, sources=sources, turn=run.turn, run_id=run.run_id),
        *changes,
    )
