"""How does a part of the ledger leave it, row by row?

A row is a flat JSON object with the same keys in each; what is nested stays nested. Rows are as
they were stored, so without secrets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Connection, RowMapping, Select, Table, select

from toolkeeper_ledger.paging import PAGE
from toolkeeper_ledger.rows import approval_of, event_of, grant_of, instant, invocation_of
from toolkeeper_ledger.schema import approvals, events, grants, invocations
from toolkeeper_ledger.session_calls import of_session


class Part(StrEnum):
    """What can be exported."""

    EVENTS = "events"
    CALLS = "calls"
    APPROVALS = "approvals"
    GRANTS = "grants"


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows in the order in which they were written, and where the next page begins.

    `after` is None behind the last page.
    """

    rows: list[dict[str, Any]]
    after: int | None


def read_page(
    connection: Connection,
    part: Part,
    *,
    now: datetime,
    session_id: str | None,
    since: datetime | None,
    after: int,
) -> Page:
    """The rows of `part` behind ordinal `after`: of one session, and from a time on."""
    table, at, told = _PARTS[part]
    query: Select[Any] = select(table).where(table.c.ordinal > after)
    if session_id is not None:
        query = _of_session(query, table, session_id)
    if since is not None:
        query = query.where(at >= instant(since))
    query = query.order_by(table.c.ordinal).limit(PAGE)
    if table is invocations and session_id is not None:
        # Found by their runs, so in another order: what is sorted should not be whole rows.
        some = query.with_only_columns(table.c.ordinal)
        query = select(table).where(table.c.ordinal.in_(some)).order_by(table.c.ordinal)
    rows = connection.execute(query).mappings().all()
    behind = rows[-1]["ordinal"] if len(rows) == PAGE else None
    return Page([told(row, now) for row in rows], behind)


def _of_session(query: Select[Any], table: Table, session_id: str) -> Select[Any]:
    if table is grants:
        # A grant belongs to the session in which it was given, however far it reaches.
        given = select(approvals.c.approval_id).where(approvals.c.session_id == session_id)
        return query.where(grants.c.approval_id.in_(given))
    if table is invocations:
        return query.where(of_session(session_id))
    return query.where(table.c.session_id == session_id)


def _event(row: RowMapping, now: datetime) -> dict[str, Any]:
    record = event_of(row)
    event = record.event
    return {
        "seq": record.seq,
        "session_id": record.session_id,
        "run_id": event.run_id,
        "invocation_id": event.invocation_id,
        "at": record.at,
        "event": event.name,
        "data": dict(event.data),
        "hash": record.hash,
    }


_PARTS: dict[Part, tuple[Table, Column[Any], Callable[[RowMapping, datetime], dict[str, Any]]]] = {
    Part.EVENTS: (events, events.c.at, _event),
    Part.CALLS: (
        invocations,
        invocations.c.opened_at,
        lambda row, now: invocation_of(row).account(),
    ),
    Part.APPROVALS: (approvals, approvals.c.asked_at, lambda row, now: approval_of(row).account()),
    Part.GRANTS: (grants, grants.c.granted_at, lambda row, now: grant_of(row).account(now)),
}
