"""`toolkeeper plan`: what would a session see?"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import (
    DEFAULT_CONFIG,
    PROVIDERS,
    Config,
    Json,
    json_object_option,
    json_option,
)
from toolkeeper.cli.output import print_json, print_table, say
from toolkeeper_contract import Plan, Registry

if TYPE_CHECKING:
    from toolkeeper.runtime import Sight


def plan(
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The agent's name; not needed with --session."),
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="On whose behalf (default: local).")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"One of {', '.join(PROVIDERS)} (default: generic)."),
    ] = None,
    intent: Annotated[
        str | None, typer.Option(metavar="JSON", help="What the user toggled.")
    ] = None,
    attributes: Annotated[
        str | None, typer.Option(metavar="JSON", help="Session attributes, an object.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Show the next turn of this session.")
    ] = None,
    render: Annotated[
        bool,
        typer.Option("--render", help="Print the exact request parts, as JSON: tools and system."),
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Show what a session would see, and what became of everything else. Writes nothing."""
    sight = asyncio.run(
        _plan(
            config,
            agent=agent,
            user=user,
            provider=provider,
            intent=json_option("--intent", intent),
            attributes=(
                None if attributes is None else json_object_option("--attributes", attributes)
            ),
            session=session,
        )
    )
    if render:
        print_json({"tools": sight.tools, "system": sight.system})
    elif as_json:
        print_json(plan_object(sight.plan, sight.registry))
    else:
        _show(sight.plan, sight.registry)


def plan_object(plan: Plan, registry: Registry) -> dict[str, Any]:
    """The keys of `plan --json`: the plan's body, its digest, and how the sources fared."""
    sources = [
        {"name": status.name, "state": status.state.value, "reason": status.reason}
        for status in registry.sources
    ]
    return {"digest": plan.digest, **plan.body(), "sources": sources}


async def _plan(config: Path, *, session: str | None, **wanted: Any) -> "Sight":
    from toolkeeper.runtime import Toolkeeper

    keeper = Toolkeeper.from_config(config)
    try:
        return await keeper.sight(session_id=session, **wanted)
    finally:
        await keeper.close()


def _show(plan: Plan, registry: Registry) -> None:
    costs = plan.costs
    caps = plan.caps
    say(f"plan {plan.digest[:12]} of agent `{plan.agent}` for {plan.provider}, {plan.builder}")
    say(
        f"{len(plan.defined)} of {caps.definitions} definitions, "
        f"{costs.definition_tokens:,} of {caps.definition_tokens:,} tokens; "
        f"{len(plan.deferred)} of {caps.index_entries} index entries, "
        f"{costs.index_tokens + costs.index_overhead_tokens:,} of {caps.index_tokens:,} tokens"
    )
    rows: list[tuple[str, str, int | str, str]] = []
    rows += [("defined", name, costs.tools.get(name, ""), "") for name in plan.defined]
    rows += [
        ("deferred", placed.name, costs.tools.get(placed.name, ""), placed.reason.value)
        for placed in plan.deferred
    ]
    rows += [("searchable", name, "", "") for name in plan.searchable]
    rows += [("skipped", placed.name, "", placed.reason.value) for placed in plan.skipped]
    rows += [("filtered", placed.name, "", placed.reason.value) for placed in plan.filtered]
    rows += [("refused", f"{tool.source}: {tool.name}", "", tool.reason) for tool in plan.refused]
    print_table(("place", "tool", "tokens", "reason"), rows)
    for status in registry.sources:
        if status.reason:
            say(f"source `{status.name}` is {status.state.value}: {status.reason}")
