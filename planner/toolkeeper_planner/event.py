"""What goes into the session's record when a plan is made?"""

from collections.abc import Sequence

from toolkeeper_contract import Event, Plan, SourceStatus, digest
from toolkeeper_planner.near_name import near_names


def planned_event(
    plan: Plan,
    *,
    sources: Sequence[SourceStatus] = (),
    turn: int | None = None,
    run_id: str | None = None,
) -> Event:
    """`session.planned`: everything that the plan says but for the names of the searchable tools.

    Those stand once, in the plan's body, which `plan` (its digest) finds; here are their count and
    the digest of their list. `sources` say how each source's last listing went, `turn` (from 1)
    for which turn this is. `near_names` are groups of tools of different sources whose names a
    model could mistake for each other.
    """
    body = plan.body()
    # The pins are the specs of what is deferred, and the plan's body for the rest.
    for name in ("pins", "searchable_tool_names"):
        del body[name]
    return Event(
        "session.planned",
        {
            "plan": plan.digest,
            "turn": turn,
            **body,
            "searchable_tool_count": len(plan.searchable),
            "searchable_tool_digest": digest(list(plan.searchable)),
            "near_names": [list(group) for group in near_names(plan.pins)],
            "sources": [
                {"name": source.name, "state": source.state.value, "reason": source.reason}
                for source in sorted(sources, key=lambda source: source.name)
            ],
        },
        run_id=run_id,
    )
