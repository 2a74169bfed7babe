"""`toolkeeper grants`: which standing approvals are there, and which are to end?"""

import asyncio
from typing import Annotated

import typer

from toolkeeper.cli.answer_option import As
from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import moment, print_json, print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read

app = typer.Typer(
    help="Standing approvals: calls that run without being asked about.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_(
    all: Annotated[bool, typer.Option("--all", help="Expired and revoked ones, too.")] = False,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the grants that hold."""
    from toolkeeper.runtime.clock import SystemClock

    now = SystemClock().now()

    async def read() -> list[dict[str, object]]:
        async with ledger_to_read(config, store) as ledger:
            found = await ledger.grants(active_at=None if all else now)
            return [grant.account(now) for grant in found]

    rows = asyncio.run(read())
    if as_json:
        print_lines(rows)
        return
    if not rows:
        say("there are no grants" if all else "no grant holds")
        return
    print_table(
        ("grant", "tool", "for", "agent", "scope", "arguments", "expires at", "by", "state"),
        [
            (
                row["grant_id"],
                row["tool"],
                row["user"],
                row["agent"],
                f"session {row['session_id']}" if row["session_id"] else row["scope"],
                row["condition"] or "any",
                moment(str(row["expires_at"])),
                row["granted_by"],
                row["state"],
            )
            for row in rows
        ],
    )


@app.command("revoke")
def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="The grant's id.")],
    by: As = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """End a grant: the calls that follow are asked about again."""
    from toolkeeper.cli.approver import secret_of
    from toolkeeper.runtime import open_desk

    async def end() -> dict[str, object]:
        async with open_desk(config, secret=secret_of) as desk:
            grant = await desk.revoke(id, by=by)
            return grant.account(desk.clock.now())

    row = asyncio.run(end())
    if as_json:
        print_json(row)
    else:
        say(f"{row['grant_id']} for {row['tool']} is revoked by {row['revoked_by']}")
