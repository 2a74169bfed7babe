"""Which tables hold the ledger, and which version of them is this?

The types mean the same on every database: JSON is canonical text, a time is ISO 8601 text in UTC
of one width (so that it sorts), and `ordinal` is the order in which rows were written.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.event import listens_for

VERSION = 3
"""The version of the tables below; a store of a newer one is refused."""

IS_HOLDING_BACK = "attempts < 5"
"""An event that keeps those behind it waiting; spelled once, as the next."""

IS_OF_LOADING = "name IN ('tools.loaded', 'conversation.cleared')"
"""Spelled once: only the very same condition finds its partial index."""

IS_REPEATED = "name = 'call.repeated'"
"""An event that may name a call of another session."""

IS_MISSED = "state = 'settled' AND coalesce(outcome, '') <> 'completed'"
"""A call that has ended otherwise than most do."""

metadata = MetaData()


def _partial(name: str, *columns: str, where: str, on_server: str | None = None) -> Index:
    """An index over the rows for which `where` holds, `on_server` in the words of PostgreSQL."""
    return Index(name, *columns, sqlite_where=text(where), info={_ON_SERVER: on_server or where})


_ON_SERVER = "toolkeeper.on_server"


@listens_for(metadata, "before_create")
def _say_where(target: MetaData, connection: Connection, **_: object) -> None:
    # Not said above, since SQLAlchemy loads all drivers of a database at the first word of it.
    if connection.dialect.name == "postgresql":
        for index in (index for table in target.tables.values() for index in table.indexes):
            if _ON_SERVER in index.info:
                where = text(index.info[_ON_SERVER])
                index.dialect_options["postgresql"]["where"] = where


def _ordinal() -> Column[int]:
    # SQLite numbers rows by itself only where the key's type is exactly INTEGER.
    return Column("ordinal", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _session() -> Column[str]:
    return Column("session_id", String, ForeignKey("sessions.session_id"), nullable=False)


schema_version = Table(
    "toolkeeper_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("created_at", String, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("agent", String, nullable=False),
    Column("user_name", String, nullable=False),
    Column("provider", String, nullable=False),
    Column("opened_at", String, nullable=False),
    Column("attributes", Text, nullable=False),
    Column("intent", Text),
    Column("turn", Integer, nullable=False),
    Column("tainted", Boolean, nullable=False),
    Column("private", Boolean, nullable=False),
    Column("model", String),
    Column("endpoint", String),
    Column("parent", String),
    Column("granted", Text),
    Column("head_seq", Integer, nullable=False),
    Column("head_hash", String, nullable=False),
)

plans = Table(
    "plans",
    metadata,
    Column("digest", String, primary_key=True),
    Column("body", Text, nullable=False),
)

# What a turn shows, word for word; many turns show the same.
renderings = Table(
    "renderings",
    metadata,
    Column("digest", String, primary_key=True),
    Column("body", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    _ordinal(),
    Column("run_id", String, nullable=False, unique=True),
    _session(),
    Column("turn", Integer, nullable=False),
    Column("plan_digest", String, ForeignKey("plans.digest"), nullable=False),
    Column("began_at", String, nullable=False),
    Column("rendering", String, ForeignKey("renderings.digest")),
    Column("override", Text),
    Column("user_message", Text, nullable=False),
    UniqueConstraint("session_id", "turn"),
    Index("runs_by_plan", "plan_digest"),
    Index("runs_by_rendering", "rendering"),
)

invocations = Table(
    "invocations",
    metadata,
    _ordinal(),
    Column("invocation_id", String, nullable=False, unique=True),
    _session(),
    Column("run_id", String, ForeignKey("runs.run_id"), nullable=False),
    Column("call_id", String, nullable=False),
    Column("step", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("tool", String, nullable=False),
    Column("advertised_as", String, nullable=False),
    Column("idempotency_key", String, nullable=False, unique=True),
    Column("opened_at", String, nullable=False),
    Column("state", String, nullable=False),
    Column("outcome", String),
    Column("code", String),
    Column("decision", Text),
    Column("approval_id", String),
    Column("fingerprint", String),
    Column("side_effect", String),
    Column("flags", Text, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("masked", Text, nullable=False),
    Column("arguments_digest", String),
    Column("arguments_decoded", Boolean, nullable=False),
    Column("result", Text),
    Column("is_error", Boolean, nullable=False),
    Column("truncated", Boolean, nullable=False),
    Column("handle", String),
    Column("bytes", Integer, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("superseded_by", String),
    Column("settled_at", String),
    Column("grant_id", String),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # Not part of the row that others see: when its lease was taken or renewed last and ends, while
    # it runs, whether a reaped call may run again, and the frozen arguments of a call that is not
    # settled, encrypted.
    Column("leased_at", String),
    Column("lease_expires_at", String),
    Column("retryable", Boolean, nullable=False),
    Column("sealed", LargeBinary),
    # Of a session by its runs: every index is a page more in each of the two commits of a call.
    Index("invocations_by_run", "run_id"),
    _partial(
        "invocations_by_grant",
        "grant_id",
        where="grant_id IS NOT NULL",
    ),
    # Only the few rows that are still of interest stand in these, however long the ledger grows.
    _partial(
        "invocations_leased",
        "lease_expires_at",
        where="lease_expires_at IS NOT NULL",
    ),
    _partial(
        "invocations_parked",
        "ordinal",
        where="state = 'parked'",
    ),
    _partial(
        "invocations_retryable",
        "ordinal",
        where="retryable = 1",
        on_server="retryable",
    ),
    # Counted for operators; those that completed are the rest.
    _partial(
        "invocations_missed",
        "outcome",
        where=IS_MISSED,
    ),
)

approvals = Table(
    "approvals",
    metadata,
    _ordinal(),
    Column("approval_id", String, nullable=False, unique=True),
    Column("invocation_id", String, ForeignKey("invocations.invocation_id"), nullable=False),
    Column("run_id", String, ForeignKey("runs.run_id"), nullable=False),
    _session(),
    Column("binding", String, nullable=False),
    Column("tool", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("arguments_digest", String, nullable=False),
    Column("user_name", String, nullable=False),
    Column("agent", String, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("approvers", Text, nullable=False),
    Column("input_schema", Text, nullable=False),
    Column("asked_at", String, nullable=False),
    Column("expires_at", String, nullable=False),
    Column("state", String, nullable=False),
    Column("decided_at", String),
    Column("decided_by", String),
    Column("reason", Text),
    Column("spent_by", String),
    # Digests of what the arguments name, as JSON; NULL where nothing was declared.
    Column("operands", Text),
    Index("approvals_by_invocation", "invocation_id"),
    Index("approvals_by_run", "run_id"),
    Index("approvals_by_session", "session_id"),
    Index("approvals_by_binding", "binding", "state", "expires_at"),
    Index("approvals_by_state", "state", "expires_at"),
)

# Standing approvals; a revoked one stays, so that what ran under it can be explained.
grants = Table(
    "grants",
    metadata,
    _ordinal(),
    Column("grant_id", String, nullable=False, unique=True),
    Column("scope", String, nullable=False),
    Column("tool", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("user_name", String, nullable=False),
    Column("agent", String, nullable=False),
    Column("session_id", String, ForeignKey("sessions.session_id")),
    Column("condition", Text),
    Column("rules", Text, nullable=False),
    Column("approval_id", String, ForeignKey("approvals.approval_id"), nullable=False),
    Column("granted_by", String, nullable=False),
    Column("granted_at", String, nullable=False),
    Column("expires_at", String, nullable=False),
    Column("reason", Text),
    Column("revoked_at", String),
    Column("revoked_by", String),
    Index("grants_by_tool", "tool", "user_name", "agent", "expires_at"),
    Index("grants_by_approval", "approval_id"),
)

events = Table(
    "events",
    metadata,
    _ordinal(),
    _session(),
    Column("seq", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("name", String, nullable=False),
    Column("run_id", String),
    Column("invocation_id", String),
    Column("data", Text, nullable=False),
    Column("hash", String, nullable=False),
    UniqueConstraint("session_id", "seq"),
    # The events of a call are found among those of its session, but for these.
    _partial(
        "events_of_repeats",
        "invocation_id",
        where=IS_REPEATED,
    ),
    # The few that say what a session has loaded; they are read at every turn.
    _partial(
        "events_of_loading",
        "session_id",
        where=IS_OF_LOADING,
    ),
)

# Events that a sink has not taken yet; written with the event, removed when it was delivered.
outbox = Table(
    "outbox",
    metadata,
    _ordinal(),
    Column("sink", String, nullable=False),
    _session(),
    Column("seq", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", String, nullable=False),
    Column("last_error", Text),
    UniqueConstraint("sink", "session_id", "seq"),
    Index("outbox_by_sink", "sink", "due_at"),
    _partial(
        "outbox_holding_back",
        "sink",
        "session_id",
        "seq",
        where=IS_HOLDING_BACK,
    ),
)

results = Table(
    "results",
    metadata,
    Column("handle", String, primary_key=True),
    Column("invocation_id", String, nullable=False),
    _session(),
    Column("text", Text, nullable=False),
    Column("kept_at", String, nullable=False),
    # A part that does not read as text has its bytes here, and an empty text.
    Column("data", LargeBinary),
    Column("mime_type", String),
    Index("results_by_session", "session_id"),
)

# What an operator, or a server's first listing, has let in; one row a name.
accepted_tools = Table(
    "accepted_tools",
    metadata,
    Column("name", String, primary_key=True),
    Column("fingerprint", String, nullable=False),
    Column("source", String, nullable=False),
    Column("at", String, nullable=False),
    Column("by_name", String, nullable=False),
    Index("accepted_tools_by_source", "source"),
)

# What was accepted, word for word, so that a later change can be told.
accepted_definitions = Table(
    "accepted_definitions",
    metadata,
    Column("fingerprint", String, primary_key=True),
    Column("body", Text, nullable=False),
)
