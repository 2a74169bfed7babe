"""What were the tables of the first release (0.1.0)?"""

import sqlalchemy as sa
from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    op.create_table(
        "accepted_definitions",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint"),
    )
    op.create_table(
        "accepted_tools",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("by_name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("accepted_tools_by_source", "accepted_tools", ["source"])
    op.create_table(
        "plans",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "renderings",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("user_name", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("opened_at", sa.String(), nullable=False),
        sa.Column("attributes", sa.Text(), nullable=False),
        sa.Column("intent", sa.Text()),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("tainted", sa.Boolean(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("model", sa.String()),
        sa.Column("endpoint", sa.String()),
        sa.Column("parent", sa.String()),
        sa.Column("granted", sa.Text()),
        sa.Column("head_seq", sa.Integer(), nullable=False),
        sa.Column("head_hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_table(
        "toolkeeper_schema",
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("version"),
    )
    op.create_table(
        "events",
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("run_id", sa.String()),
        sa.Column("invocation_id", sa.String()),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sa.UniqueConstraint("session_id", "seq"),
    )
    op.create_index("events_by_invocation", "events", ["invocation_id"])
    op.create_index(
        "events_of_loading",
        "events",
        ["session_id"],
        sqlite_where=sa.text("name IN ('tools.loaded', 'conversation.cleared')"),
        postgresql_where=sa.text("name IN ('tools.loaded', 'conversation.cleared')"),
    )
    op.create_table(
        "results",
        sa.Column("handle", sa.String(), nullable=False),
        sa.Column("invocation_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("handle"),
    )
    op.create_table(
        "runs",
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("plan_digest", sa.String(), nullable=False),
        sa.Column("began_at", sa.String(), nullable=False),
        sa.Column("rendering", sa.String()),
        sa.Column("override", sa.Text()),
        sa.Column("user_message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["plan_digest"], ["plans.digest"]),
        sa.ForeignKeyConstraint(["rendering"], ["renderings.digest"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sa.UniqueConstraint("run_id"),
        sa.UniqueConstraint("session_id", "turn"),
    )
    op.create_table(
        "invocations",
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("invocation_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("advertised_as", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("opened_at", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("outcome", sa.String()),
        sa.Column("code", sa.String()),
        sa.Column("decision", sa.Text()),
        sa.Column("approval_id", sa.String()),
        sa.Column("fingerprint", sa.String()),
        sa.Column("side_effect", sa.String()),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("masked", sa.Text(), nullable=False),
        sa.Column("arguments_digest", sa.String()),
        sa.Column("arguments_decoded", sa.Boolean(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("is_error", sa.Boolean(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("handle", sa.String()),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("superseded_by", sa.String()),
        sa.Column("settled_at", sa.String()),
        sa.Column("lease_expires_at", sa.String()),
        sa.Column("retryable", sa.Boolean(), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sa.UniqueConstraint("idempotency_key"),
        sa.UniqueConstraint("invocation_id"),
    )
    op.create_index("invocations_by_run", "invocations", ["run_id"])
    op.create_index("invocations_by_session", "invocations", ["session_id"])
    op.create_index(
        "invocations_leased",
        "invocations",
        ["lease_expires_at"],
        sqlite_where=sa.text("lease_expires_at IS NOT NULL"),
        postgresql_where=sa.text("lease_expires_at IS NOT NULL"),
    )
    op.create_index(
        "invocations_parked",
        "invocations",
        ["ordinal"],
        sqlite_where=sa.text("state = 'parked'"),
        postgresql_where=sa.text("state = 'parked'"),
    )
    op.create_index(
        "invocations_retryable",
        "invocations",
        ["ordinal"],
        sqlite_where=sa.text("retryable = 1"),
        postgresql_where=sa.text("retryable"),
    )
    op.create_table(
        "approvals",
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("approval_id", sa.String(), nullable=False),
        sa.Column("invocation_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("binding", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("arguments_digest", sa.String(), nullable=False),
        sa.Column("user_name", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("approvers", sa.Text(), nullable=False),
        sa.Column("input_schema", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("decided_at", sa.String()),
        sa.Column("decided_by", sa.String()),
        sa.Column("reason", sa.Text()),
        sa.Column("spent_by", sa.String()),
        sa.ForeignKeyConstraint(["invocation_id"], ["invocations.invocation_id"]),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sa.UniqueConstraint("approval_id"),
    )
    op.create_index("approvals_by_binding", "approvals", ["binding", "state", "expires_at"])
    op.create_index("approvals_by_invocation", "approvals", ["invocation_id"])
    op.create_index("approvals_by_state", "approvals", ["state", "expires_at"])
