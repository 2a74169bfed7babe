"""`toolkeeper approvals`: who is asked for what, and what is the answer?"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.answer_option import (
    As,
    DespiteTaint,
    For,
    Reason,
    ScopeName,
    Where,
    duration_option,
    scope_option,
)
from toolkeeper.cli.approval_card import card, short, tell_answer
from toolkeeper.cli.approver import VARIABLE, ask, secret_of
from toolkeeper.cli.option import (
    DEFAULT_CONFIG,
    Config,
    Json,
    Store,
    json_option,
)
from toolkeeper.cli.output import moment, print_json, print_lines, print_table, say
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import Approval, ApprovalState, ConfigError, Grant, Scope

if TYPE_CHECKING:
    from toolkeeper.runtime import Desk

app = typer.Typer(
    help="Answer parked calls, from any process. Answering only decides.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Id = Annotated[str, typer.Argument(metavar="ID", help="The approval's id.")]


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
                moment(row["asked_at"]),
                moment(row["expires_at"]),
                short(row["arguments"]),
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

    async def read() -> Approval:
        async with ledger_to_read(config, store) as ledger:
            return standing(await find_approval(ledger, id), SystemClock().now())

    approval = asyncio.run(read())
    print_json(approval.account()) if as_json else card(approval)


@app.command("approve")
def approve(
    id: Id,
    by: As = None,
    edit: Annotated[
        str | None,
        typer.Option("--edit", metavar="JSON", help="The whole new arguments object."),
    ] = None,
    reason: Reason = None,
    scope: ScopeName = "once",
    lasting: For = None,
    condition: Where = None,
    despite_taint: DespiteTaint = False,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Approve exactly this call; with a wider scope, the like of it that follow as well.

    `toolkeeper resume` runs it. What a grant lets through is told when it is given.
    """
    reach = scope_option(scope)
    if reach is Scope.ONCE:
        if lasting is not None or condition is not None or despite_taint:
            raise ConfigError(
                "`--for`, `--condition` and `--despite-taint` are about a grant",
                "add `--scope session` or `--scope always`",
            )
        arguments = json_option("--edit", edit)

        async def once(desk: "Desk") -> Answered:
            if edit is None:
                return await desk.answer(id, APPROVE, by=by, reason=reason), None
            return await desk.edit(id, arguments, by=by, reason=reason), None

        _answer(config, id, as_json, once)
        return
    if edit is not None:
        raise ConfigError(
            "a call with other arguments is approved once",
            "leave `--scope` out; a grant is given for a call as it was asked",
        )
    time = duration_option(lasting)

    async def standing(desk: "Desk") -> Answered:
        given = await desk.grant(
            id,
            reach,
            by=by,
            reason=reason,
            lasting=time,
            condition=condition,
            despite_taint=despite_taint,
        )
        return given.approval, given.grant

    _answer(config, id, as_json, standing)


@app.command("deny")
def deny(
    id: Id,
    by: As = None,
    reason: Reason = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Deny this call. `toolkeeper resume` tells the model."""

    async def no(desk: "Desk") -> Answered:
        return await desk.answer(id, DENY, by=by, reason=reason), None

    _answer(config, id, as_json, no)


@app.command("hash")
def hash_() -> None:
    """Make the hash of an approver's secret, for `approver_secrets` in the configuration."""
    from toolkeeper.runtime import hash_secret

    secret = os.environ.get(VARIABLE) or ask("secret: ")
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
Answered = tuple[Approval, Grant | None]


def _answer(
    config: Path, id: str, as_json: bool, act: Callable[["Desk"], Awaitable[Answered]]
) -> None:
    from toolkeeper.runtime import open_desk

    async def answer() -> tuple[Approval, Grant | None, dict[str, Any]]:
        async with open_desk(config, secret=secret_of) as desk:
            approval, grant = await act(desk)
            shown = grant.account(desk.clock.now()) if grant else None
            return approval, grant, {**approval.account(), "grant": shown}

    approval, grant, account = asyncio.run(answer())
    if as_json:
        print_json(account)
    else:
        tell_answer(approval, id, grant)
