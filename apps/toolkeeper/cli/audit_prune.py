"""`toolkeeper audit prune`: what is old enough to go?"""

import asyncio
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper.cli.tending import ledger_to_tend
from toolkeeper_contract import ConfigError

if TYPE_CHECKING:
    from toolkeeper_ledger import Retained


def prune(
    before: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Sessions that did nothing since then: ISO 8601."),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Sessions that did nothing for so long: 90d."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would go, and what would stay.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Remove the content of old, finished sessions; what stays can still be verified.

    Turns, calls, approvals, grants, kept results and events go. The session's own row stays, with
    one event that says up to where the others went. A session stays whole while it has a call that
    is not finished, an approval or a grant that can be used, an event that was not delivered, or
    something that another session needs.
    """
    limit = _limit(before, older_than)
    found = asyncio.run(_looked(limit, config, store) if dry_run else _done(limit, config, store))
    if as_json:
        print_lines(_line(each, done=not dry_run) for each in found)
    else:
        _show(found, done=not dry_run)
    if any(each.faulty for each in found):
        raise typer.Exit(1)


async def _looked(limit: datetime, config: Any, store: str | None) -> "list[Retained]":
    async with ledger_to_read(config, store) as ledger:
        return await ledger.old_sessions(limit)


async def _done(limit: datetime, config: Any, store: str | None) -> "list[Retained]":
    from toolkeeper.runtime.clock import SystemClock

    async with ledger_to_tend(config, store) as ledger:
        # What has expired is not alive any more.
        await ledger.reap(SystemClock().now())
        found = []
        for old in await ledger.old_sessions(limit):
            if old.kept_for is not None:
                found.append(old)
                continue
            pruned = await ledger.prune_session(old.session_id, limit)
            if pruned is not None:
                found.append(pruned)
        return found


def _limit(before: str | None, older_than: str | None) -> datetime:
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.configuration.duration import seconds
    from toolkeeper.runtime.policy_history import moment_of

    if (before is None) == (older_than is None):
        raise ConfigError(
            "say how old is old with one of `--before` and `--older-than`", "`--older-than 90d`"
        )
    now = SystemClock().now()
    if older_than is not None:
        if seconds(older_than) is None:
            raise ConfigError(
                f"`{older_than}` is no duration", "write `90d` or `12h`", key="--older-than"
            )
        return moment_of(older_than, now, option="--older-than")
    assert before is not None
    limit = moment_of(before, now, option="--before")
    if limit > now + timedelta(seconds=1):
        raise ConfigError(f"`{before}` is not over yet", "name a time that is", key="--before")
    return limit


def _line(each: "Retained", *, done: bool) -> dict[str, Any]:
    return {
        "session_id": each.session_id,
        "last_at": each.last_at,
        **asdict(each.content),
        "pruned": done and each.kept_for is None,
        "kept_for": each.kept_for,
    }


def _show(found: "list[Retained]", *, done: bool) -> None:
    gone = [each for each in found if each.kept_for is None]
    if found:
        print_table(
            ("session", "last", "turns", "calls", "events", "pruned" if done else "would go"),
            [
                (
                    each.session_id,
                    each.last_at[:19].replace("T", " "),
                    each.content.turns,
                    each.content.calls,
                    each.content.events,
                    "yes" if each.kept_for is None else f"no: {each.kept_for}",
                )
                for each in found
            ],
        )
    noun = "session" if len(gone) == 1 else "sessions"
    say(f"{len(gone):,} {noun} {'pruned' if done else 'to prune'}, {len(found) - len(gone):,} kept")
