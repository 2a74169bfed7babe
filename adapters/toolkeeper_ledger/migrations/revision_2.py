"""What did version 2 add?

Grants and what ran under them, the outbox of sinks, results that are no text, counted attempts, the
moment at which a lease was taken, and indexes for retention. Rows that were there count no attempt:
nobody counted then.
"""

import sqlalchemy as sa
from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    op.create_table(
        "outbox",
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sink", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.String(), nullable=False),
        sa.Column("last_error", sa.Text()),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sa.UniqueConstraint("sink", "session_id", "seq"),
    )
    op.create_index("outbox_by_sink", "outbox", ["sink", "due_at"])
    op.create_index(
        "outbox_holding_back",
        "outbox",
        ["sink", "session_id", "seq"],
        sqlite_where=sa.text("attempts < 5"),
        postgresql_where=sa.text("attempts < 5"),
    )
    op.create_table(
        "grants",
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("grant_id", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("user_name", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("session_id", sa.String()),
        sa.Column("condition", sa.Text()),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.String(), nullable=False),
        sa.Column("granted_by", sa.String(), nullable=False),
        sa.Column("granted_at", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("revoked_at", sa.String()),
        sa.Column("revoked_by", sa.String()),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.approval_id"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sa.UniqueConstraint("grant_id"),
    )
    op.create_index("grants_by_approval", "grants", ["approval_id"])
    op.create_index("grants_by_tool", "grants", ["tool", "user_name", "agent", "expires_at"])
    op.add_column("approvals", sa.Column("operands", sa.Text()))
    op.create_index("approvals_by_run", "approvals", ["run_id"])
    op.create_index("approvals_by_session", "approvals", ["session_id"])
    op.add_column("invocations", sa.Column("grant_id", sa.String()))
    op.add_column("invocations", sa.Column("leased_at", sa.String()))
    op.add_column(
        "invocations", sa.Column("attempts", sa.Integer(), server_default="0", nullable=False)
    )
    op.create_index(
        "invocations_by_grant",
        "invocations",
        ["grant_id"],
        sqlite_where=sa.text("grant_id IS NOT NULL"),
        postgresql_where=sa.text("grant_id IS NOT NULL"),
    )
    op.create_index(
        "invocations_by_outcome",
        "invocations",
        ["outcome"],
        sqlite_where=sa.text("state = 'settled'"),
        postgresql_where=sa.text("state = 'settled'"),
    )
    op.add_column("results", sa.Column("data", sa.LargeBinary()))
    op.add_column("results", sa.Column("mime_type", sa.String()))
    op.create_index("results_by_session", "results", ["session_id"])
    op.create_index("runs_by_plan", "runs", ["plan_digest"])
    op.create_index("runs_by_rendering", "runs", ["rendering"])
