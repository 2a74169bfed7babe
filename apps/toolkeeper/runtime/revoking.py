"""Which standing approval is to end, and who may end it?"""

from collections.abc import Sequence
from datetime import datetime

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper_contract import Approval, Code, Grant, Ledger


async def find_grant(ledger: Ledger, grant_id: str) -> Grant:
    """The grant of this id. NotAnswerable when there is none."""
    grant = await ledger.grant(grant_id)
    if grant is None:
        raise NotAnswerable(
            Code.LEDGER_CONFLICT,
            f"unknown grant `{grant_id}`",
            "`toolkeeper grants list --all` shows what there is",
        )
    return grant


def check_may_revoke(name: str, given_with: Approval, approvers: Sequence[str]) -> None:
    """Passes those who could have given it, and the agent's `approvers` of this moment.

    NotAnswerable for anybody else.
    """
    names = dict.fromkeys((*given_with.approvers, *approvers))
    if name not in names:
        raise NotAnswerable(
            Code.LEDGER_CONFLICT,
            f"`{name}` may not revoke this grant",
            "approvers: " + ", ".join(f"`{each}`" for each in names),
        )


def not_active(grant: Grant, now: datetime) -> NotAnswerable:
    """Why there is nothing to end any more."""
    id = grant.grant_id
    if grant.revoked_at is not None:
        when = grant.revoked_at.isoformat(timespec="seconds")
        told = f"grant `{id}` was already revoked by `{grant.revoked_by}` at {when}"
    else:
        told = f"grant `{id}` expired at {grant.expires_at.isoformat(timespec='seconds')}"
    return NotAnswerable(Code.LEDGER_CONFLICT, told, "nothing was changed")
