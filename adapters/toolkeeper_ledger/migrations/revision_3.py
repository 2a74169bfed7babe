"""What did version 3 take away?

Indexes that every call had to write and hardly any question needed: of calls by session and by
outcome, of events by call. In their place stand two that only rare rows are in.
"""

import sqlalchemy as sa
from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    op.drop_index("invocations_by_session", "invocations")
    op.drop_index("invocations_by_outcome", "invocations")
    op.drop_index("events_by_invocation", "events")
    op.create_index(
        "invocations_missed",
        "invocations",
        ["outcome"],
        sqlite_where=sa.text("state = 'settled' AND coalesce(outcome, '') <> 'completed'"),
        postgresql_where=sa.text("state = 'settled' AND coalesce(outcome, '') <> 'completed'"),
    )
    op.create_index(
        "events_of_repeats",
        "events",
        ["invocation_id"],
        sqlite_where=sa.text("name = 'call.repeated'"),
        postgresql_where=sa.text("name = 'call.repeated'"),
    )
