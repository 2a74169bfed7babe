"""`toolkeeper resume`: what happens to calls that were answered?"""

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json
from toolkeeper.cli.output import complain, print_json
from toolkeeper.cli.story import line_of, tell
from toolkeeper_contract import Code, ConfigError, State

if TYPE_CHECKING:
    from toolkeeper.runtime.resumption import Attempt


def resume(
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="An approval or invocation id.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Everything that was answered.")] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Everything, as soon as it is answered, until interrupted."),
    ] = False,
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, metavar="N", help="With --watch: calls at once.")
    ] = 8,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Execute what was approved, and end what was denied or expired, in this process.

    One line for each call. A call whose server cannot be reached is told as `tool.unavailable` and
    stays parked, so that it can be resumed again. `--watch` makes this process a worker: it sleeps
    until something is answered and runs it; at an interrupt or SIGTERM it ends once what runs is
    over.
    """
    if [id is not None, all, watch].count(True) != 1:
        raise ConfigError(
            "name one approval or invocation, or `--all`, or `--watch`",
            "`toolkeeper approvals list --all` shows the ids",
        )
    if watch:
        asyncio.run(_watch(config, parallel, as_json))
        raise typer.Exit(0)
    done = asyncio.run(_resume(config, id, as_json))
    raise typer.Exit(0 if done else 1)


async def _resume(config: Path, id: str | None, as_json: bool) -> bool:
    from toolkeeper.runtime import Toolkeeper
    from toolkeeper.runtime.resumption import attempts

    done = True
    async with Toolkeeper.from_config(config) as keeper:
        # Each line is printed as its call ends: what has run is told, whatever comes after it.
        async for attempt in attempts(keeper, id):
            if attempt.error is not None and id is not None:
                raise attempt.error
            line = _line(attempt)
            done = done and attempt.error is None
            if line is not None:
                done = done and line["outcome"] == "completed"
                print_json(line) if as_json else tell(line)
    return done


async def _watch(config: Path, parallel: int, as_json: bool) -> None:
    from toolkeeper.runtime import Toolkeeper
    from toolkeeper.runtime.watching import watch

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with Toolkeeper.from_config(config) as keeper:
        async for attempt in watch(keeper, stop, parallel=parallel):
            line = _line(attempt)
            if line is not None:
                print_json(line) if as_json else tell(line)


def _line(attempt: "Attempt") -> dict[str, Any] | None:
    row = attempt.row
    if attempt.error is not None:
        complain(f"error: {attempt.error}; the call {row.invocation_id} stays parked")
        return None
    if attempt.outcome is None:
        complain(
            f"`{row.tool}` cannot be reached; its call {row.invocation_id} stays parked "
            "(resume it again later)"
        )
        return _not_started(row.line())
    # One that somebody else is running right now is theirs to tell.
    settled = attempt.outcome.row.state is State.SETTLED
    return line_of(attempt.outcome) if settled else None


def _not_started(line: dict[str, Any]) -> dict[str, Any]:
    """How this attempt ended; the row itself stays as it was."""
    from toolkeeper_pipeline.message import UNAVAILABLE

    return {
        **line,
        "outcome": "failed",
        "code": Code.UNAVAILABLE.value,
        "result": UNAVAILABLE,
        "is_error": True,
        "bytes": len(UNAVAILABLE),
        "repeated": False,
    }
