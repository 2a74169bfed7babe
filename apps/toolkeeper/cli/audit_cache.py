"""`toolkeeper audit cache`: how much of each request could a provider's cache keep?"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.given_text import given_text
from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import Code, ConfigError, RunError

if TYPE_CHECKING:
    from toolkeeper.runtime.cache_report import CacheLine, CacheReport

_WRAPPERS = ("body", "params")
"""Where a batch file keeps the body of each request."""

_SHOWN = 4


def cache(
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only this session.")
    ] = None,
    requests: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Measure a conversation of any other loop: JSON Lines, one provider request "
            "body a line (- is standard input).",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show how many bytes of each request's prefix stayed as they were, and what broke it.

    The prefix is the tools array and the system text behind it, as a provider's cache sees them.
    """
    if requests is not None and session is not None:
        raise ConfigError("`--session` and `--requests` exclude each other", "give one of them")
    report = asyncio.run(_measured(config, store, session, requests))
    if as_json:
        print_lines(line.as_json() for line in report.lines)
    elif not report.lines:
        say("no turn was planned yet" if requests is None else "the file has no request")
    else:
        _show(report, recorded=requests is None)


async def _measured(
    config: Path, store: str | None, session: str | None, requests: Path | None
) -> "CacheReport":
    from toolkeeper.runtime.cache_meter import measure, measure_session, measured_sessions

    if requests is not None:
        return measure(list(_bodies(requests)))
    async with ledger_to_read(config, store) as ledger:
        if session is None:
            return await measured_sessions(ledger)
        if await ledger.session(session) is None:
            raise RunError(
                Code.LEDGER_CONFLICT,
                f"unknown session `{session}`",
                "`toolkeeper audit plans` lists them",
            )
        return await measure_session(ledger, session)


def _bodies(file: Path) -> Iterator[Any]:
    for number, line in enumerate(given_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            body = json.loads(line)
        except (ValueError, RecursionError):
            raise ConfigError(
                f"line {number} is not valid json",
                "write one request body a line",
                file=str(file),
                line=number,
            ) from None
        for key in _WRAPPERS:
            if isinstance(body, dict) and isinstance(body.get(key), dict):
                body = body[key]
        yield body


def _show(report: "CacheReport", *, recorded: bool) -> None:
    if recorded:
        columns = ("session", "turn", "request", "prefix", "kept", "reread", "what broke it")
    else:
        columns = ("request", "prefix", "kept", "reread", "messages", "kept", "what broke it")
    print_table(columns, [_row(line, recorded) for line in report.lines])
    kept = f"{report.kept_bytes:,} of {report.prefix_bytes:,} prefix bytes kept"
    counts = f"{_counted(report.requests, 'request')}, {_counted(report.rewrites, 'rewrite')}"
    say(f"{counts}; {kept}, {report.reread_bytes:,} read anew")
    if not recorded:
        # What was not recorded is not counted as lost.
        whole = sum(line.message_bytes for line in report.lines)
        stayed = sum(line.kept_message_bytes for line in report.lines)
        say(f"{stayed:,} of {whole:,} message bytes kept")
    for reason, count in report.causes.items():
        say(f"cause {reason}: {_counted(count, 'rewrite')}")


def _row(line: "CacheLine", recorded: bool) -> tuple[Any, ...]:
    prefix = (line.request, line.prefix_bytes, line.kept_bytes, line.reread_bytes)
    if recorded:
        return (line.session_id, line.turn, *prefix, _broke(line))
    return (*prefix, line.message_bytes, line.kept_message_bytes, _broke(line))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _broke(line: "CacheLine") -> str:
    if line.broke is None:
        return "first request" if line.first else ""
    shown = [_told(cause) for cause in (line.broke, *line.causes)]
    told = list(dict.fromkeys(shown))
    more = len(told) - _SHOWN
    return "; ".join(told[:_SHOWN]) + (f"; {more} more" if more > 0 else "")


def _told(cause: Any) -> str:
    place = cause.was if cause.position is None else cause.position
    why = f" ({cause.reason})" if cause.reason else ""
    return f"{cause.part}[{place}] {cause.name} {cause.change}{why}"
