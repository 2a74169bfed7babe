"""`toolkeeper audit export`: the ledger for other programs and for spreadsheets."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkeeper.cli.csv_row import csv_cells, csv_line
from toolkeeper.cli.keys import EXPORTED
from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Store
from toolkeeper.cli.output import json_line
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import ConfigError, did_you_mean

FORMATS = ("jsonl", "csv")


def export(
    what: Annotated[
        str, typer.Option(metavar="WHAT", help="events, calls, approvals or grants.")
    ] = "events",
    format: Annotated[str, typer.Option(metavar="FORMAT", help="jsonl or csv.")] = "jsonl",
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only this session.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only from then on: ISO 8601, or 12h, 7d."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a file instead of standard output; it is there once it is whole.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
) -> None:
    """Write out what the ledger holds, as it is kept: without secrets, one row a line.

    In CSV what is nested is JSON, and a cell that a spreadsheet would run as a formula begins with
    an apostrophe.
    """
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.policy_history import moment_of

    columns = EXPORTED[_known("--what", what, tuple(EXPORTED))]
    _known("--format", format, FORMATS)
    start = None if since is None else moment_of(since, SystemClock().now())

    async def write(out: Callable[[str], Any]) -> None:
        from toolkeeper_ledger import Part

        async with ledger_to_read(config, store) as ledger:
            if format == "csv":
                out(csv_cells(columns))
            async for rows in ledger.exported(Part(what), session_id=session, since=start):
                for row in rows:
                    out(json_line(row) if format == "jsonl" else csv_line(columns, row))

    if output is None or str(output) == "-":
        asyncio.run(write(sys.stdout.write))
        sys.stdout.flush()
        return
    with _whole_file(output) as out:
        asyncio.run(write(out))


def _known(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ConfigError(
            f"`{option}` cannot be `{value}`",
            did_you_mean(value, known) or f"write {', '.join(known[:-1])} or {known[-1]}",
        )
    return value


@contextlib.contextmanager
def _whole_file(path: Path) -> Iterator[Callable[[str], Any]]:
    """Writes beside `path`, and takes its place at the end; nothing is left of half a file."""
    try:
        # 0600, as every file of `mkstemp`: rows tell what people did.
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError:
        raise ConfigError(
            f"the file `{path}` cannot be written", "check its folder, and who may write it"
        ) from None
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file.write
        try:
            draft.replace(path)
        except OSError:
            raise ConfigError(f"`{path}` cannot be replaced", "name another file") from None
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
