"""`toolkeeper call`: what comes of this one call?"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, DEFAULT_USER, AgentName, Config, Json, User
from toolkeeper.cli.output import print_json
from toolkeeper.cli.story import line_of, tell

if TYPE_CHECKING:
    from toolkeeper_contract import Outcome


def call(
    agent: AgentName,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's canonical or wire name.")],
    arguments: Annotated[
        str, typer.Argument(metavar="ARGS_JSON", help="The arguments, a JSON object.")
    ] = "{}",
    user: User = DEFAULT_USER,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Your name for what is to happen once: the same key again gives its outcome.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Make one governed call, in a session of its own."""
    outcome = asyncio.run(_call(config, agent, user, tool, arguments, idempotency_key))
    line: dict[str, Any] = line_of(outcome)
    print_json(line) if as_json else tell(line)
    raise typer.Exit(0 if line["outcome"] == "completed" else 1)


async def _call(
    config: Path, agent: str, user: str, tool: str, arguments: str, key: str | None
) -> "Outcome":
    from toolkeeper.runtime import Toolkeeper
    from toolkeeper_pipeline import checked_key

    checked_key(key)
    keeper = Toolkeeper.from_config(config)
    async with keeper.session(agent=agent, user=user) as session:
        turn = await session.begin_turn()
        return await turn.call(turn.read("c1", tool, arguments, idempotency_key=key))
