"""`toolkeeper store`: of which version is the store?"""

import asyncio
from collections.abc import Sequence

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import print_json, say
from toolkeeper.cli.tending import ledger_to_tend

app = typer.Typer(help="Look after the store.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def store_() -> None:
    """Look after the store."""


@app.command("upgrade")
def upgrade(config: Config = DEFAULT_CONFIG, store: Store = None, as_json: Json = False) -> None:
    """Bring the store to this release's version, so that it can also be read without writing.

    Every verb that writes does this by itself. It is one transaction: where it fails, the store is
    as it was. Releases before this one cannot use the store afterwards.
    """

    async def tend() -> Sequence[tuple[int, str]]:
        async with ledger_to_tend(config, store) as ledger:
            return await ledger.versions()

    versions = asyncio.run(tend())
    newest = versions[-1][0]
    if as_json:
        history = [{"version": version, "at": at} for version, at in versions]
        print_json({"version": newest, "history": history})
        return
    (made, at), *upgrades = versions
    say(f"the store has version {newest}; made with version {made} at {at}")
    for version, at in upgrades:
        say(f"upgraded to version {version} at {at}")
