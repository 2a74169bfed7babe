"""Which standing approvals are there, and does one hold at this moment?"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, bindparam, insert, or_, select, update

from toolkeeper_contract import Event, Grant, Invocation, Scope
from toolkeeper_ledger.approvals import find_approval
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.history import append, lock
from toolkeeper_ledger.rows import grant_of, grant_row, instant
from toolkeeper_ledger.schema import grants

_BY_ID = select(grants).where(grants.c.grant_id == bindparam("id"))
_ALL = select(grants).order_by(grants.c.granted_at, grants.c.ordinal)


def _holds() -> ColumnElement[bool]:
    return grants.c.revoked_at.is_(None) & (grants.c.expires_at > bindparam("now"))


_ACTIVE = _ALL.where(_holds())
_USABLE = _ACTIVE.where(
    grants.c.tool == bindparam("for_tool"),
    grants.c.fingerprint == bindparam("for_fingerprint"),
    grants.c.user_name == bindparam("for_user"),
    grants.c.agent == bindparam("for_agent"),
    or_(
        grants.c.scope == Scope.ALWAYS.value,
        grants.c.session_id == bindparam("for_session"),
    ),
)
# Locked until the claim is written: a revocation comes before it or after it, never in between.
_STANDING = (
    select(grants.c.ordinal)
    .where(
        grants.c.grant_id == bindparam("id"),
        _holds(),
        grants.c.tool == bindparam("for_tool"),
        grants.c.fingerprint == bindparam("for_fingerprint"),
        or_(
            grants.c.scope == Scope.ALWAYS.value,
            grants.c.session_id == bindparam("for_session"),
        ),
    )
    .with_for_update(read=True)
)
_REVOKE = (
    update(grants)
    .where(grants.c.grant_id == bindparam("id"), grants.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("at"), revoked_by=bindparam("by"))
)


def give(connection: Connection, grant: Grant) -> None:
    """Opens a grant beside the answer that it was given with."""
    if find_grant(connection, grant.grant_id) is not None:
        raise conflict(f"grant `{grant.grant_id}` is already in the ledger")
    connection.execute(insert(grants), grant_row(grant))


def holds(connection: Connection, grant_id: str, row: Invocation, at: datetime) -> bool:
    """Whether the grant still lets this call pass; it cannot be revoked before the commit."""
    found = connection.execute(
        _STANDING,
        {
            "id": grant_id,
            "now": instant(at),
            "for_tool": row.tool,
            "for_fingerprint": row.fingerprint,
            "for_session": row.session_id,
        },
    )
    return found.first() is not None


def revoke(
    connection: Connection,
    grant_id: str,
    *,
    by: str,
    at: datetime,
    written_at: datetime,
    events: Sequence[Event],
) -> Grant | None:
    """Ends a grant, once; what is told of it goes to the session in which it was given."""
    standing = find_grant(connection, grant_id)
    if standing is None:
        return None
    approval = find_approval(connection, standing.approval_id)
    assert approval is not None
    lock(connection, approval.binding.session_id)
    ended = connection.execute(_REVOKE, {"id": grant_id, "at": instant(at), "by": by})
    if ended.rowcount != 1:
        return None
    append(connection, approval.binding.session_id, written_at, events)
    return find_grant(connection, grant_id)


def find_grant(connection: Connection, grant_id: str) -> Grant | None:
    row = connection.execute(_BY_ID, {"id": grant_id}).mappings().first()
    return None if row is None else grant_of(row)


def usable_grants(
    connection: Connection,
    *,
    tool: str,
    fingerprint: str,
    user: str,
    agent: str,
    session_id: str,
    now: datetime,
) -> list[Grant]:
    """Those that hold and are for this tool, user and agent, the oldest first."""
    found = connection.execute(
        _USABLE,
        {
            "now": instant(now),
            "for_tool": tool,
            "for_fingerprint": fingerprint,
            "for_user": user,
            "for_agent": agent,
            "for_session": session_id,
        },
    )
    return [grant_of(row) for row in found.mappings()]


def read_grants(connection: Connection, active_at: datetime | None) -> list[Grant]:
    if active_at is None:
        found = connection.execute(_ALL)
    else:
        found = connection.execute(_ACTIVE, {"now": instant(active_at)})
    return [grant_of(row) for row in found.mappings()]
