"""`toolkeeper audit verify` and `head`: is the ledger still as it was written?"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.heads_file import read_heads
from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import print_json, print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import Code, RunError

if TYPE_CHECKING:
    from toolkeeper_ledger import AuditReport, Head

Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only this session.")]

_SHOWN = 50
_PRUNED_SHOWN = 10


def head(
    session: Session = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the newest event of every session, to be kept where nobody can change it.

    `audit verify --expect` then finds a history that was cut or rewritten since.
    """

    async def read() -> "list[Head]":
        async with ledger_to_read(config, store) as ledger:
            found = [each for each in await ledger.heads() if session in (None, each.session_id)]
            if session is not None and not found:
                raise _unknown(session)
            return found

    heads = [
        {"session_id": each.session_id, "seq": each.seq, "hash": each.hash}
        for each in asyncio.run(read())
    ]
    if as_json:
        print_lines(heads)
    elif not heads:
        say("no session was opened yet")
    else:
        print_table(("session", "event", "hash"), [tuple(each.values()) for each in heads])


def verify(
    session: Session = None,
    expect: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What `audit head --json` printed earlier; finds a tail that was cut, too "
            "(- is standard input).",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Look for events that were changed, removed, inserted or moved, and rows that do not fit them.

    Ends with 1 when something is found; the first place of each session comes first.
    """
    kept = [] if expect is None else read_heads(expect)

    async def read() -> "AuditReport":
        async with ledger_to_read(config, store) as ledger:
            report = await ledger.audit(session_id=session, kept=kept)
            if session is not None and not report.sessions and not report.findings:
                raise _unknown(session)
            return report

    report = asyncio.run(read())
    if as_json:
        print_json(_as_json(report))
    else:
        _show(report)
    if report.findings:
        raise typer.Exit(1)


def _as_json(report: "AuditReport") -> dict[str, Any]:
    return {
        "ok": not report.findings,
        "sessions": report.sessions,
        "events": report.events,
        "calls": report.calls,
        "approvals": report.approvals,
        "grants": report.grants,
        "heads": report.heads,
        "pruned": report.pruned,
        "unknown": [{"session_id": each.session_id, "seq": each.seq} for each in report.unknown],
        "findings": [finding.as_json() for finding in report.findings],
    }


def _show(report: "AuditReport") -> None:
    for name, seq in [*report.pruned.items()][:_PRUNED_SHOWN]:
        say(f"session {name} was pruned up to event {seq}")
    if len(report.pruned) > _PRUNED_SHOWN:
        say(f"and {_counted(len(report.pruned) - _PRUNED_SHOWN, 'session')} more")
    for each in report.unknown:
        say(
            f"of the kept head of event {each.seq} of session {each.session_id} nothing can be "
            "said: it was pruned"
        )
    if report.findings:
        shown = report.findings[:_SHOWN]
        print_table(
            ("session", "event", "found"),
            [(each.session_id or "-", each.seq or "-", each.says) for each in shown],
        )
        more = len(report.findings) - len(shown)
        say(f"{_counted(len(report.findings), 'finding')}{f', {more} not shown' if more else ''}")
        return
    heads = f", and {_counted(report.heads, 'kept head')}" if report.heads else ""
    say(
        f"{_counted(report.sessions, 'session')}, {_counted(report.events, 'event')}, "
        f"{_counted(report.calls, 'call')}, {_counted(report.approvals, 'approval')}, "
        f"{_counted(report.grants, 'grant')}{heads}: all as it was written"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _unknown(session: str) -> RunError:
    return RunError(
        Code.LEDGER_CONFLICT, f"unknown session `{session}`", "`toolkeeper audit head` lists them"
    )
