"""What can be removed of old sessions, and what stays so that the rest can still be verified?

The content goes: turns, calls, approvals, grants, kept results and events. Of the events one is
left, which says up to where the others went and holds the hash of the last of them; the chain goes
on from there. The session's own row stays, because its marks and its delegation go on to hold.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, exists, func, or_, select

from toolkeeper_contract import ApprovalState, Event, State
from toolkeeper_ledger.auditing import audit
from toolkeeper_ledger.chain import PRUNED
from toolkeeper_ledger.endings import UNUSED
from toolkeeper_ledger.history import append, lock
from toolkeeper_ledger.paging import paged
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.schema import (
    approvals,
    events,
    grants,
    invocations,
    outbox,
    plans,
    renderings,
    results,
    runs,
    sessions,
)
from toolkeeper_ledger.session_calls import of_session

_OPEN = tuple(state.value for state in UNUSED)
_FAULTY = "its audit finds something; see `audit verify`"
assert ApprovalState.SPENT.value not in _OPEN


@dataclass(frozen=True, slots=True)
class Content:
    """How much of each kind a session holds, or held."""

    events: int = 0
    turns: int = 0
    calls: int = 0
    approvals: int = 0
    grants: int = 0
    results: int = 0


@dataclass(frozen=True, slots=True)
class Retained:
    """An old session as retention sees it: when it last did anything, and what it holds.

    `kept_for` says why it cannot be pruned; None when it can, or was.
    """

    session_id: str
    last_at: str
    content: Content
    kept_for: str | None

    @property
    def faulty(self) -> bool:
        """Whether it is kept as evidence."""
        return self.kept_for == _FAULTY


def old_sessions(connection: Connection, before: datetime, now: datetime) -> list[Retained]:
    """Every session that did nothing since `before` and has content, by session id."""
    limit = instant(before)
    found: dict[str, Retained] = {}
    staying: list[str] = []
    for row in paged(connection, _LAST, sessions.c.session_id):
        name, last_at = row["session_id"], row["at"] or row["opened_at"]
        if last_at >= limit:
            staying.append(name)
        elif row["name"] != PRUNED:
            why = _kept_for(connection, name, now)
            found[name] = Retained(name, last_at, _content(connection, name), why)
            if why is not None:
                staying.append(name)
    for name, why in _needed_by(connection, staying).items():
        if name in found and found[name].kept_for is None:
            found[name] = replace(found[name], kept_for=why)
    return list(found.values())


def prune_session(
    connection: Connection, session_id: str, before: datetime, now: datetime
) -> Retained | None:
    """Removes a session's content, if it is still old and unused, in the caller's transaction.

    None when it is not old any more. One whose audit finds something is kept whole: it is evidence.
    """
    lock(connection, session_id)
    last = connection.execute(_LAST.where(sessions.c.session_id == session_id)).mappings().first()
    if last is None or last["name"] == PRUNED:
        return None
    last_at = last["at"] or last["opened_at"]
    if last_at >= instant(before):
        return None
    content = _content(connection, session_id)
    why = _kept_for(connection, session_id, now)
    if why is None and audit(connection, session_id=session_id, everywhere=False).findings:
        why = _FAULTY
    if why is not None:
        return Retained(session_id, last_at, content, why)
    if connection.dialect.name == "sqlite":
        # What was removed must not be left readable in the file's free pages.
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    through, head = last["head_seq"], last["head_hash"]
    told = {"through": through, "hash": head, "before": instant(before), **asdict(content)}
    append(connection, session_id, now, [Event(PRUNED, told)])
    _remove(connection, session_id, through)
    return Retained(session_id, last_at, content, None)


_LAST = select(
    sessions.c.session_id,
    sessions.c.opened_at,
    sessions.c.head_seq,
    sessions.c.head_hash,
    events.c.at,
    events.c.name,
).select_from(
    sessions.outerjoin(
        events,
        (events.c.session_id == sessions.c.session_id) & (events.c.seq == sessions.c.head_seq),
    )
)


def _given_in(session_id: str) -> ColumnElement[bool]:
    own = select(approvals.c.approval_id).where(approvals.c.session_id == session_id)
    return grants.c.approval_id.in_(own)


def _kept_for(connection: Connection, session_id: str, now: datetime) -> str | None:
    """What a session still waits for, or others of it."""
    calls = of_session(session_id)
    reasons = (
        (
            "it has a call that is not finished",
            exists().where(
                calls, or_(invocations.c.state != State.SETTLED.value, invocations.c.retryable)
            ),
        ),
        (
            "it has an approval that can still be used",
            exists().where(approvals.c.session_id == session_id, approvals.c.state.in_(_OPEN)),
        ),
        (
            "a grant that was given in it holds",
            exists().where(
                _given_in(session_id),
                grants.c.revoked_at.is_(None),
                grants.c.expires_at > instant(now),
            ),
        ),
        (
            "an event of it was not delivered yet",
            exists().where(outbox.c.session_id == session_id),
        ),
    )
    for why, waits in reasons:
        if connection.execute(select(waits)).scalar_one():
            return why
    return None


def _needed_by(connection: Connection, staying: Iterable[str]) -> dict[str, str]:
    """The sessions that those which stay look into, each with the reason.

    A session reads those that it came from, and its calls name the grants under which they ran.
    """
    parents = {
        row.session_id: row.parent
        for row in connection.execute(
            select(sessions.c.session_id, sessions.c.parent).where(sessions.c.parent.is_not(None))
        )
    }
    givers: dict[str, list[str]] = {}
    for row in connection.execute(
        select(invocations.c.session_id, approvals.c.session_id.label("giver"))
        .join(grants, grants.c.grant_id == invocations.c.grant_id)
        .join(approvals, approvals.c.approval_id == grants.c.approval_id)
        .where(invocations.c.grant_id.is_not(None))
        .distinct()
    ):
        givers.setdefault(row.session_id, []).append(row.giver)
    needed: dict[str, str] = {}
    waiting, seen = list(staying), set(staying)
    while waiting:
        name = waiting.pop()
        above = [(parents.get(name), f"session {name} came from it and stays")]
        above += [
            (giver, f"a call of session {name}, which stays, ran under its grant")
            for giver in givers.get(name, ())
        ]
        for other, why in above:
            if other is not None and other not in seen:
                seen.add(other)
                needed[other] = why
                waiting.append(other)
    return needed


def _content(connection: Connection, session_id: str) -> Content:
    counts = {
        "events": events.c.session_id == session_id,
        "turns": runs.c.session_id == session_id,
        "calls": of_session(session_id),
        "approvals": approvals.c.session_id == session_id,
        "grants": _given_in(session_id),
        "results": results.c.session_id == session_id,
    }
    return Content(
        **{
            name: connection.execute(select(func.count()).where(condition)).scalar_one()
            for name, condition in counts.items()
        }
    )


def _remove(connection: Connection, session_id: str, through: int) -> None:
    """Everything of the session but its own row and the events behind `through`."""
    mine = select(runs.c.plan_digest, runs.c.rendering).where(runs.c.session_id == session_id)
    shown = connection.execute(mine.distinct()).all()
    connection.execute(delete(grants).where(_given_in(session_id)))
    for table in (approvals, results):
        connection.execute(delete(table).where(table.c.session_id == session_id))
    connection.execute(delete(invocations).where(of_session(session_id)))
    connection.execute(delete(runs).where(runs.c.session_id == session_id))
    connection.execute(
        delete(events).where(events.c.session_id == session_id, events.c.seq <= through)
    )
    # Plans and renderings are shared; those that nobody else shows go too.
    for digest in {row.plan_digest for row in shown}:
        used = exists().where(runs.c.plan_digest == digest)
        connection.execute(delete(plans).where(plans.c.digest == digest, ~used))
    for digest in {row.rendering for row in shown if row.rendering is not None}:
        used = exists().where(runs.c.rendering == digest)
        connection.execute(delete(renderings).where(renderings.c.digest == digest, ~used))
