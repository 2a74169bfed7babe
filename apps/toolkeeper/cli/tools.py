"""`toolkeeper tools`: what do the configured sources offer, and which of it may be used?"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json
from toolkeeper.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from toolkeeper.runtime.accepting import Accepted
    from toolkeeper_contract import Registry, Tool

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

ACCEPTED = "accepted"


@app.callback()
def tools(context: typer.Context, config: Config = DEFAULT_CONFIG, as_json: Json = False) -> None:
    """Show the registry as discovered: each tool's class and why, and what may not be used."""
    if context.invoked_subcommand is not None:
        context.obj = (config, as_json)
        return
    registry, states = asyncio.run(_discovered(config))
    if as_json:
        print_json(registry_object(registry, states))
    else:
        _show(registry, states)


@app.command("accept")
def accept(
    context: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Canonical names, or written globs.")
    ],
    by: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Who accepts, for the record.")
    ] = "operator",
    fingerprint: Annotated[
        str | None,
        typer.Option(
            "--fingerprint",
            metavar="PREFIX",
            help="What you looked at, as `tools` shows it: another is not accepted. For one NAME.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Accept new and changed tools as they are listed now. They are used from the next turn on."""
    # `toolkeeper tools -c FILE accept NAME` means the same as with the option at the end.
    before, json_before = context.obj or (DEFAULT_CONFIG, False)
    file = config if config != DEFAULT_CONFIG else before
    done = asyncio.run(_accept(file, names, by, fingerprint))
    if as_json or json_before:
        print_json({"tools": [each.account() for each in done]})
        return
    for each in done:
        _tell(each)


def registry_object(registry: "Registry", states: dict[str, str]) -> dict[str, Any]:
    """The keys of `tools --json`. It can be read back as a `catalog:` file."""
    rows = [_row(tool, states[name]) for name, tool in sorted(registry.tools.items())]
    refused = [
        {"source": tool.source, "name": tool.name, "reason": tool.reason}
        for tool in registry.refused
    ]
    return {
        "tools": [
            *rows,
            *({**row, "accepted": False, "state": "refused"} for row in refused),
        ],
        "refused_tools": refused,
        "sources": [
            {"name": status.name, "state": status.state.value, "reason": status.reason}
            for status in registry.sources
        ],
    }


def _row(tool: "Tool", state: str) -> dict[str, Any]:
    definition = tool.definition
    classification = tool.classification
    return {
        "name": tool.name,
        "source": tool.identity.source,
        "server": tool.identity.source,
        "raw_name": definition.name,
        "side_effect": classification.side_effect.value,
        "flags": sorted(flag.value for flag in classification.flags),
        "classified_by": classification.classified_by,
        "fingerprint": tool.fingerprint,
        "accepted": state == ACCEPTED,
        "state": state,
        "scopes": list(tool.scopes),
        "title": definition.title,
        "description": definition.description,
        "inputSchema": definition.input_schema,
        "outputSchema": definition.output_schema,
        "annotations": definition.annotations,
    }


async def _discovered(config: Path) -> "tuple[Registry, dict[str, str]]":
    from toolkeeper.runtime import Toolkeeper

    keeper = Toolkeeper.from_config(config)
    try:
        registry = await keeper.everything()
        standing = keeper.discovery.standing
        return registry, {name: standing(tool).value for name, tool in registry.tools.items()}
    finally:
        await keeper.close()


async def _accept(
    config: Path, names: list[str], by: str, fingerprint: str | None
) -> "list[Accepted]":
    from toolkeeper.runtime import Toolkeeper
    from toolkeeper.runtime.accepting import accept_tools

    keeper = Toolkeeper.from_config(config)
    try:
        return await accept_tools(keeper, names, by=by, fingerprint=fingerprint)
    finally:
        await keeper.close()


def _show(registry: "Registry", states: dict[str, str]) -> None:
    print_table(
        ("tool", "state", "side effect", "flags", "classified by", "fingerprint"),
        (
            (
                name,
                states[name],
                tool.classification.side_effect.value,
                ", ".join(sorted(flag.value for flag in tool.classification.flags)),
                tool.classification.classified_by + (", by arguments" if tool.by_arguments else ""),
                tool.fingerprint[:12],
            )
            for name, tool in sorted(registry.tools.items())
        ),
    )
    for refused in registry.refused:
        say(f"refused from `{refused.source}`: {refused.name!r}: {refused.reason}")
    for status in registry.sources:
        if status.reason:
            say(f"source `{status.name}` is {status.state.value}: {status.reason}")
    waiting = sorted(name for name, state in states.items() if state != ACCEPTED)
    if waiting:
        say(f"not used until accepted: {len(waiting)}; look at them, then")
        # One is bound to what was looked at; of many that would be a line each.
        seen = f" --fingerprint {registry.tools[waiting[0]].fingerprint[:12]}"
        say(f"  toolkeeper tools accept {' '.join(waiting)}{seen if len(waiting) == 1 else ''}")


def _tell(each: "Accepted") -> None:
    if each.standing.value == ACCEPTED:
        say(f"{each.tool.name} was accepted already")
        return
    say(f"{each.tool.name} is accepted ({each.standing.value})")
    for field, difference in each.diff.items():
        for kind, what in difference.items():
            shown = ", ".join(what) if isinstance(what, list) else what
            say(f"  {field} {kind}: {'' if shown is None else shown}")
