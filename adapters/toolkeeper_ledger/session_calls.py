"""Which calls does a session have?

Those of its runs: a call is opened in a run of its own session, and no index of calls by session
has to be kept up to date for what is seldom asked. What somebody has changed by hand can be
otherwise, so an audit goes by what each row says of itself.
"""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, RowMapping, or_, select

from toolkeeper_ledger.paging import PAGE
from toolkeeper_ledger.schema import invocations, runs


def of_session(session_id: str) -> ColumnElement[bool]:
    """The condition that a call is of a run of this session."""
    own = select(runs.c.run_id).where(runs.c.session_id == session_id)
    return invocations.c.run_id.in_(own)


def call_places(connection: Connection, session_id: str) -> list[int]:
    """The ordinals of the session's calls, in their order, found on indexes alone."""
    places = select(invocations.c.ordinal).where(of_session(session_id))
    return sorted(connection.execute(places).scalars())


def rows_at(connection: Connection, places: list[int]) -> Iterator[RowMapping]:
    """The rows of calls with these ordinals, a page at a time."""
    for start in range(0, len(places), PAGE):
        some = places[start : start + PAGE]
        query = select(invocations).where(invocations.c.ordinal.in_(some))
        yield from connection.execute(query.order_by(invocations.c.ordinal)).mappings().all()


def misplaced(connection: Connection, session_id: str | None = None) -> dict[str, list[int]]:
    """The ordinals of calls whose run is of another session than they are, or gone, by session.

    Looks at every call. A ledger writes none; whoever changes rows by hand may.
    """
    query = (
        select(invocations.c.session_id, invocations.c.ordinal)
        .select_from(invocations.outerjoin(runs, runs.c.run_id == invocations.c.run_id))
        .where(or_(runs.c.session_id.is_(None), runs.c.session_id != invocations.c.session_id))
    )
    if session_id is not None:
        query = query.where(invocations.c.session_id == session_id)
    found: dict[str, list[int]] = {}
    for row in connection.execute(query):
        found.setdefault(row.session_id, []).append(row.ordinal)
    return found
