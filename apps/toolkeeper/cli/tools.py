"""`toolkeeper tools`: what do the configured sources offer?"""

import asyncio
from pathlib import Path
from typing import Any

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json
from toolkeeper.cli.output import print_json, print_table, say
from toolkeeper_contract import Registry, Tool


def tools(config: Config = DEFAULT_CONFIG, as_json: Json = False) -> None:
    """Show the registry as discovered: each tool's class and why, and what was refused."""
    registry = asyncio.run(_registry(config))
    if as_json:
        print_json(registry_object(registry))
    else:
        _show(registry)


def registry_object(registry: Registry) -> dict[str, Any]:
    """The keys of `tools --json`. It can be read back as a `catalog:` file."""
    rows = [_row(tool) for _, tool in sorted(registry.tools.items())]
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


def _row(tool: Tool) -> dict[str, Any]:
    definition = tool.definition
    classification = tool.classification
    quarantined = False
    return {
        "name": tool.name,
        "source": tool.identity.source,
        "server": tool.identity.source,
        "raw_name": definition.name,
        "side_effect": classification.side_effect.value,
        "flags": sorted(flag.value for flag in classification.flags),
        "classified_by": classification.classified_by,
        "fingerprint": tool.fingerprint,
        "accepted": not quarantined,
        "state": "accepted",
        "scopes": list(tool.scopes),
        "title": definition.title,
        "description": definition.description,
        "inputSchema": definition.input_schema,
        "outputSchema": definition.output_schema,
        "annotations": definition.annotations,
    }


async def _registry(config: Path) -> Registry:
    from toolkeeper.runtime import Toolkeeper

    keeper = Toolkeeper.from_config(config)
    try:
        return await keeper.everything()
    finally:
        await keeper.close()


def _show(registry: Registry) -> None:
    print_table(
        ("tool", "side effect", "flags", "classified by", "fingerprint"),
        (
            (
                tool.name,
                tool.classification.side_effect.value,
                ", ".join(sorted(flag.value for flag in tool.classification.flags)),
                tool.classification.classified_by,
                tool.fingerprint[:12],
            )
            for _, tool in sorted(registry.tools.items())
        ),
    )
    for refused in registry.refused:
        say(f"refused from `{refused.source}`: {refused.name!r}: {refused.reason}")
    for status in registry.sources:
        if status.reason:
            say(f"source `{status.name}` is {status.state.value}: {status.reason}")
