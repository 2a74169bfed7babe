"""`toolkeeper audit`: what was planned, asked, decided and done?"""

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import print_fields, print_json, print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper.cli.verb_group import verb_group
from toolkeeper_contract import Code, RunError

if TYPE_CHECKING:
    from toolkeeper_contract import Ledger, PlannedTurn, RecordedEvent

app = typer.Typer(
    cls=verb_group(
        {
            "backlog": "audit_backlog:backlog",
            "cache": "audit_cache:cache",
            "head": "audit_verify:head",
            "verify": "audit_verify:verify",
            "export": "audit_export:export",
            "prune": "audit_prune:prune",
        }
    ),
    help="Read the ledger.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only this session.")]


@app.command("plans")
def plans(
    skipped: Annotated[
        bool, typer.Option("--skipped", help="Only plans that skipped something.")
    ] = False,
    session: Session = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the plan of every turn, with what was left out and why."""

    async def read() -> "tuple[Sequence[PlannedTurn], Sequence[RecordedEvent]]":
        async with ledger_to_read(config, store) as ledger:
            return await ledger.planned_turns(), await ledger.events(session_id=session)

    planned, told = asyncio.run(read())
    turns = [
        turn
        for turn in planned
        if (turn.plan.skipped or not skipped) and session in (None, turn.session_id)
    ]
    if as_json:
        sources = _sources(told)
        print_lines(
            {
                "session_id": turn.session_id,
                "turn": turn.turn,
                "digest": turn.plan.digest,
                **turn.plan.body(),
                "sources": sources.get((turn.session_id, turn.turn), []),
            }
            for turn in turns
        )
        return
    if not turns:
        say("no plan skipped anything" if skipped and planned else "no turn was planned yet")
        return
    print_table(
        ("session", "turn", "agent", "plan", "defined", "deferred", "searchable", "skipped"),
        [
            (
                turn.session_id,
                turn.turn,
                turn.plan.agent,
                turn.plan.digest[:12],
                len(turn.plan.defined),
                len(turn.plan.deferred),
                len(turn.plan.searchable),
                len(turn.plan.skipped),
            )
            for turn in turns
        ],
    )
    seen: set[str] = set()
    for turn in turns:
        if turn.plan.digest not in seen:
            seen.add(turn.plan.digest)
            for placed in turn.plan.skipped:
                say(f"plan {turn.plan.digest[:12]} skipped {placed.name}: {placed.reason.value}")


@app.command("calls")
def calls(
    session: Session = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show every call: one row each, whatever wrapper brought it."""

    async def read() -> list[dict[str, Any]]:
        async with ledger_to_read(config, store) as ledger:
            return [row.account() for row in await ledger.invocations(session_id=session)]

    rows = asyncio.run(read())
    if as_json:
        print_lines(rows)
        return
    if not rows:
        say("no call was made yet")
        return
    print_table(
        ("invocation", "call", "tool", "by", "decision", "outcome", "code"),
        [
            (
                row["invocation_id"],
                row["call_id"],
                row["tool"],
                row["advertised_as"],
                row["decision"]["effect"] if row["decision"] else "",
                row["outcome"] or row["state"],
                row["code"],
            )
            for row in rows
        ],
    )


@app.command("show")
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="An invocation or approval id.")],
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show one call with its whole story."""

    async def read() -> dict[str, Any]:
        async with ledger_to_read(config, store) as ledger:
            return await _story(ledger, id)

    story = asyncio.run(read())
    if as_json:
        print_json(story)
        return
    events = story.pop("events")
    print_fields(story)
    say()
    print_table(
        ("seq", "at", "event", "data"),
        [(event["seq"], event["at"], event["event"], _data(event)) for event in events],
    )


@app.command("events")
def events(
    session: Session = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show what happened, in order."""

    async def read() -> list[dict[str, Any]]:
        async with ledger_to_read(config, store) as ledger:
            return [event.as_json() for event in await ledger.events(session_id=session)]

    rows = asyncio.run(read())
    if as_json:
        print_lines(rows)
        return
    if not rows:
        say("nothing happened yet")
        return
    print_table(
        ("session", "seq", "at", "event", "data"),
        [(row["session_id"], row["seq"], row["at"], row["event"], _data(row)) for row in rows],
    )


def _sources(told: "Sequence[RecordedEvent]") -> dict[tuple[str, int], Any]:
    """How the sources fared when each turn was planned: the event tells, a plan does not."""
    return {
        (each.session_id, each.event.data["turn"]): each.event.data["sources"]
        for each in told
        if each.event.name == "session.planned"
    }


async def _story(ledger: "Ledger", id: str) -> dict[str, Any]:
    row = await ledger.invocation(id)
    if row is None:
        approval = await ledger.approval(id)
        row = await ledger.invocation(approval.invocation_id) if approval else None
    if row is None:
        raise RunError(
            Code.LEDGER_CONFLICT,
            f"unknown invocation `{id}`",
            "`toolkeeper audit calls` lists them",
        )
    told = await ledger.events(session_id=row.session_id, invocation_id=row.invocation_id)
    return {**row.account(), "events": [event.as_json() for event in told]}


_ENVELOPE = ("seq", "session_id", "run_id", "invocation_id", "at", "event")
_SHOWN = 120
_LISTED = 3
_DIGEST = re.compile("[0-9a-f]{64}")


def _data(event: dict[str, Any]) -> str:
    text = "  ".join(
        f"{key}: {_value(key, value)}"
        for key, value in event.items()
        if key not in _ENVELOPE and value not in (None, [], {}, "")
    )
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _value(key: str, value: Any) -> str:
    if key == "decision" and isinstance(value, dict):
        return " by ".join([value["effect"], *[", ".join(value["rules"])][: len(value["rules"])]])
    if isinstance(value, dict):
        return f"({len(value)})"
    if isinstance(value, list):
        return ", ".join(map(str, value)) if len(value) <= _LISTED else f"({len(value)})"
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value[:12]
    return str(value)
