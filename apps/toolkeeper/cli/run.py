"""`toolkeeper run`: what would a recorded session do, for real?"""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json
from toolkeeper.cli.output import print_json
from toolkeeper.cli.story import line_of, tell


def run(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="The recorded session, a YAML file.")
    ],
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on in the session of an earlier line.")
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Play a recorded session through the real pipeline against the real tools."""
    done = asyncio.run(_run(config, script, session, as_json))
    raise typer.Exit(0 if done else 1)


async def _run(config: Path, script_file: Path, session: str | None, as_json: bool) -> bool:
    from toolkeeper.runtime import Toolkeeper, load_script, play, rehearse

    keeper = Toolkeeper.from_config(config)
    script = load_script(script_file)
    done = True
    try:
        # What cannot work leaves no store behind, and no half of a session.
        await rehearse(keeper, script, session_id=session)
        await keeper.open()
        async for outcome in play(keeper, script, session_id=session):
            line: dict[str, Any] = line_of(outcome)
            done = done and line["outcome"] == "completed"
            print_json(line) if as_json else tell(line)
    finally:
        await keeper.close()
    return done
