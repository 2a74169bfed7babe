"""`toolkeeper notify`: who has still to be told of what happened?"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json
from toolkeeper.cli.output import print_lines, print_table, say

if TYPE_CHECKING:
    from toolkeeper_sinks import Round


def notify(
    drop: Annotated[
        str | None,
        typer.Option(
            "--drop",
            metavar="NAME",
            help="Give up what waits for this sink, which need not be configured any more.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Deliver the events that are due to `notifications`, once.

    Every command that writes delivers its own events at once, and what is due of others; this one
    is for what they could not deliver. Exit code 1 when something could not be delivered now: it
    stays, and is tried again later.
    """
    rounds = asyncio.run(_delivered(config) if drop is None else _dropped(config, drop))
    rows = [
        {
            "sink": name,
            "delivered": made.delivered,
            "postponed": made.postponed,
            "abandoned": made.abandoned,
        }
        for name, made in rounds.items()
    ]
    if as_json:
        print_lines(rows)
    elif not rows:
        say("nobody is to be told of anything: the configuration has no `notifications`")
    else:
        print_table(
            ("sink", "delivered", "postponed", "abandoned"), [tuple(row.values()) for row in rows]
        )
    missed = any(made.postponed or made.abandoned for made in rounds.values())
    raise typer.Exit(1 if missed and drop is None else 0)


async def _delivered(config: Path) -> Mapping[str, "Round"]:
    from toolkeeper.runtime.notifying import open_notifications

    async with open_notifications(config) as (_, notifications):
        return await notifications.deliver_due()


async def _dropped(config: Path, name: str) -> Mapping[str, "Round"]:
    from toolkeeper.runtime.notifying import drop, open_notifications

    async with open_notifications(config) as (ledger, _):
        return {name: await drop(ledger, name)}
