"""`toolkeeper resume`: what happens to calls that were answered?"""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json
from toolkeeper.cli.output import complain, print_json
from toolkeeper.cli.story import tell
from toolkeeper.runtime import Toolkeeper, resume_all, resume_one
from toolkeeper_contract import ConfigError, State


def resume(
    id: Annotated[str | None, typer.Argument(help="An approval or invocation id.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Everything that was answered.")] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Execute what was approved, and end what was denied or expired, in this process."""
    if (id is None) == (not all):
        raise ConfigError("name one approval or invocation, or `--all`")
    lines = asyncio.run(_resume(config, id))
    for line in lines:
        print_json(line) if as_json else tell(line)
    raise typer.Exit(0 if all_done(lines) else 1)


def all_done(lines: list[dict[str, Any]]) -> bool:
    return all(line["outcome"] == "completed" for line in lines)


async def _resume(config: Path, id: str | None) -> list[dict[str, Any]]:
    async with Toolkeeper.from_config(config) as keeper:
        taken = await resume_all(keeper) if id is None else await resume_one(keeper, id)
        for row in taken.unreachable:
            complain(
                f"`{row.tool}` cannot be reached; its call {row.invocation_id} stays parked "
                "(resume it again later)"
            )
        return [
            outcome.row.line() for outcome in taken.outcomes if outcome.row.state is State.SETTLED
        ]
