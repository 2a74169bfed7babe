"""`toolkeeper approvals`: who is asked for what, and what is the answer?"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import (
    DEFAULT_CONFIG,
    Config,
    Json,
    Store,
    json_option,
)
from toolkeeper.cli.output import print_fields, print_json, print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import Approval, ApprovalState, ConfigError

if TYPE_CHECKING:
    from toolkeeper.runtime import Desk

app = typer.Typer(
    help="Answer parked calls, from any process. Answering only decides.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Id = Annotated[str, typer.Argument(metavar="ID", help="The approval's id.")]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Who answers, one of the call's approvers."),
]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why; the model reads it on a no.")
]


@app.command("list")
def list_(
    all: Annotated[bool, typer.Option("--all", help="Not only pending ones.")] = False,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show what waits for an answer."""

    from toolkeeper.runtime.answering import standing
    from toolkeeper.runtime.clock import SystemClock

    async def read() -> list[Approval]:
        async with ledger_to_read(config, store) as ledger:
            now = SystemClock().now()
            found = await ledger.approvals(pending_only=not all)
            return [standing(each, now) for each in found]

    shown = [each for each in asyncio.run(read()) if all or each.state is PENDING]
    rows = [each.account() for each in shown]
    if as_json:
        print_lines(rows)
        return
    if not rows:
        say("there are no approvals" if all else "nothing waits for an answer")
        return
    print_table(
        ("approval", "tool", "state", "approvers", "asked at", "expires at", "arguments"),
        [
            (
                row["approval_id"],
                row["tool"],
                row["state"],
                ", ".join(row["approvers"]),
                _moment(row["asked_at"]),
                _moment(row["expires_at"]),
                _short(row["arguments"]),
            )
            for row in rows
        ],
    )


@app.command("show")
def show(
    id: Id, config: Config = DEFAULT_CONFIG, store: Store = None, as_json: Json = False
) -> None:
    """Show one approval: the whole question and its answer."""

    from toolkeeper.runtime.answering import find_approval, standing
    from toolkeeper.runtime.clock import SystemClock

    async def read() -> dict[str, Any]:
        async with ledger_to_read(config, store) as ledger:
            approval = await find_approval(ledger, id)
            return standing(approval, SystemClock().now()).account()

    row = asyncio.run(read())
    print_json(row) if as_json else print_fields(row)


@app.command("approve")
def approve(
    id: Id,
    by: As = None,
    edit: Annotated[
        str | None,
        typer.Option("--edit", metavar="JSON", help="The whole new arguments object."),
    ] = None,
    reason: Reason = None,
    scope: Annotated[str, typer.Option("--scope", metavar="SCOPE", help="once.")] = "once",
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Approve exactly this call. `toolkeeper resume` runs it."""
    if scope != "once":
        raise ConfigError(
            f"the scope `{scope}` is not supported yet", "approve each call with `--scope once`"
        )
    if edit is None:
        _answer(
            config, id, by, as_json, lambda desk: desk.answer(id, APPROVE, by=by, reason=reason)
        )
        return
    arguments = json_option("--edit", edit)
    _answer(config, id, by, as_json, lambda desk: desk.edit(id, arguments, by=by, reason=reason))


@app.command("deny")
def deny(
    id: Id,
    by: As = None,
    reason: Reason = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Deny this call. `toolkeeper resume` tells the model."""
    _answer(config, id, by, as_json, lambda desk: desk.answer(id, DENY, by=by, reason=reason))


@app.command("hash")
def hash_() -> None:
    """Make the hash of an approver's secret, for `approver_secrets` in the configuration."""
    from toolkeeper.runtime import hash_secret

    secret = os.environ.get(VARIABLE) or _ask("secret: ")
    if secret is None:
        # Piped in: one line, without its end.
        secret = sys.stdin.readline().rstrip("\r\n")
    if not secret:
        raise ConfigError(
            "there is no secret to hash", f"type one on a terminal, pipe one in, or set {VARIABLE}"
        )
    say(hash_secret(secret))


PENDING = ApprovalState.PENDING
APPROVE, DENY = ApprovalState.APPROVED, ApprovalState.DENIED
VARIABLE = "TOOLKEEPER_APPROVER_SECRET"


def _answer(
    config: Path,
    id: str,
    by: str | None,
    as_json: bool,
    act: Callable[["Desk"], Awaitable[Approval]],
) -> None:
    from toolkeeper.runtime import open_desk

    async def answer() -> Approval:
        async with open_desk(config, secret=_secret) as desk:
            return await act(desk)

    approval = asyncio.run(answer())
    if as_json:
        print_json(approval.account())
        return
    if approval.approval_id != id:
        say(f"{id} was replaced by {approval.approval_id}, for the new arguments")
    say(f"{approval.approval_id} is {approval.state.value} by {approval.decided_by}")
    if approval.state is APPROVE:
        say(f"run it with: toolkeeper resume {approval.approval_id}")


def _secret(name: str) -> str | None:
    return os.environ.get(VARIABLE) or _ask(f"secret of {name}: ")


def _ask(prompt: str) -> str | None:
    if not sys.stdin.isatty():
        return None
    return getpass(prompt)


def _moment(text: str) -> str:
    """To the second; `--json` has the whole."""
    return f"{text[:10]} {text[11:19]}Z"


def _short(arguments: Any) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."
