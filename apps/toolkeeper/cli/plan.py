"""`toolkeeper plan`: what would a session see?"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import (
    DEFAULT_CONFIG,
    Config,
    Json,
    json_object_option,
    json_option,
)
from toolkeeper.cli.output import print_json, print_table, say
from toolkeeper.cli.plan_option import Attributes, Endpoint, Intent, Model, Provider, User
from toolkeeper.cli.verb_group import verb_group
from toolkeeper_contract import ConfigError

if TYPE_CHECKING:
    from toolkeeper.runtime import Sight
    from toolkeeper_contract import Plan, Registry


app = typer.Typer(
    cls=verb_group({"diff": "plan_diff:diff"}),
    invoke_without_command=True,
    subcommand_metavar="[diff A B]",
    rich_markup_mode=None,
)


@app.callback()
def plan(
    context: typer.Context,
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The agent's name; not needed with --session."),
    ] = None,
    user: User = None,
    provider: Provider = None,
    model: Model = None,
    endpoint: Endpoint = None,
    intent: Intent = None,
    attributes: Attributes = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Show the next turn of this session.")
    ] = None,
    tool_choice: Annotated[
        str | None, typer.Option(metavar="TOOL", help="Force this tool in the turn.")
    ] = None,
    render: Annotated[
        bool,
        typer.Option(
            "--render", help="Print the exact request parts, as JSON: tools, system and what else."
        ),
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Show what a session would see, and what became of everything else. Writes nothing."""
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    sight = asyncio.run(
        _plan(
            config,
            agent=agent,
            user=user,
            provider=provider,
            model=model,
            endpoint=endpoint,
            intent=json_option("--intent", intent),
            attributes=(
                None if attributes is None else json_object_option("--attributes", attributes)
            ),
            session=session,
            tool_choice=tool_choice,
        )
    )
    if render:
        print_json({"tools": sight.tools, "system": sight.system, **sight.rendering.parts})
    elif as_json:
        print_json(plan_object(sight.plan, sight.registry))
    else:
        _show(sight.plan, sight.registry)


def _refuse_options_before(context: typer.Context) -> None:
    """What stands before the second verb would be lost: the options belong behind it."""
    for name, value in context.params.items():
        if value not in (None, False, DEFAULT_CONFIG):
            raise ConfigError(
                f"`--{name.removeprefix('as_').replace('_', '-')}` stands before "
                f"`{context.invoked_subcommand}`",
                f"write `toolkeeper plan {context.invoked_subcommand} A B` and the options "
                "behind it",
            )


def plan_object(plan: "Plan", registry: "Registry") -> dict[str, Any]:
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


def _show(plan: "Plan", registry: "Registry") -> None:
    costs = plan.costs
    caps = plan.caps
    say(f"plan {plan.digest[:12]} of agent `{plan.agent}` for {plan.provider}, {plan.builder}")
    say(
        f"{len(plan.defined)} of {caps.definitions} definitions, "
        f"{costs.definition_tokens:,} of {caps.definition_tokens:,} tokens; {_listed(plan)}"
    )
    if plan.disclosure.used != plan.disclosure.asked:
        say(
            f"disclosure is `{plan.disclosure.used}`, not `{plan.disclosure.asked}`: "
            f"{plan.disclosure.reason}"
        )
    loaded = frozenset(plan.loaded)
    rows: list[tuple[str, str, int | str, str]] = []
    rows += [
        ("defined", name, costs.tools.get(name, ""), "loaded" if name in loaded else "")
        for name in plan.defined
    ]
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


def _listed(plan: "Plan") -> str:
    if plan.disclosure.used == "native":
        return f"{len(plan.deferred)} more, which the provider finds by its own search"
    if plan.listing == "none":
        return f"{len(plan.searchable)} more, which nothing lists"
    costs, caps = plan.costs, plan.caps
    tokens = f"{costs.index_tokens + costs.index_overhead_tokens:,} of {caps.index_tokens:,} tokens"
    if plan.listing == "names":
        return f"{len(plan.deferred)} names, {tokens}"
    return f"{len(plan.deferred)} of {caps.index_entries} index entries, {tokens}"
