"""Which keys does each verb's JSON have?

They are a contract: a key is never renamed or dropped. Tests compare them with what is printed,
and the reference is made of them.
"""

LINE = (
    "session_id",
    "run_id",
    "invocation_id",
    "call_id",
    "advertised_as",
    "tool",
    "outcome",
    "code",
    "decision",
    "approval_id",
    "grant_id",
    "result",
    "is_error",
    "truncated",
    "handle",
    "bytes",
)
"""A call, as it ended: `decision` is null or `{effect, rules, reasons}`."""

ENDED = (*LINE, "repeated")
"""A call that was made or resumed; `repeated`: it is the stored end of an earlier one."""

ACCOUNT = (
    *LINE,
    "arguments",
    "arguments_digest",
    "arguments_decoded",
    "masked",
    "state",
    "fingerprint",
    "side_effect",
    "flags",
    "revision",
    "opened_at",
    "settled_at",
    "superseded_by",
    "attempts",
)
"""A call, as the ledger keeps it."""

APPROVAL = (
    "approval_id",
    "invocation_id",
    "session_id",
    "tool",
    "agent",
    "user",
    "arguments",
    "arguments_digest",
    "decision",
    "approvers",
    "scopes",
    "operands",
    "state",
    "asked_at",
    "expires_at",
    "decided_at",
    "decided_by",
    "reason",
    "spent_by",
)

ANSWERED = (*APPROVAL, "grant")
"""An approval with the grant that was given with it, or null."""

GRANT = (
    "grant_id",
    "scope",
    "tool",
    "fingerprint",
    "user",
    "agent",
    "session_id",
    "condition",
    "rules",
    "state",
    "approval_id",
    "granted_by",
    "granted_at",
    "expires_at",
    "reason",
    "revoked_at",
    "revoked_by",
)
"""A standing approval; `rules` are the questions that it answers."""

PLAN = (
    "digest",
    "builder",
    "agent",
    "agent_revision",
    "provider",
    "disclosure",
    "caps",
    "costs",
    "defined_tool_names",
    "deferred_tool_names",
    "deferred_tool_specs",
    "deferred_reasons",
    "searchable_tool_names",
    "skipped_tool_names",
    "filtered_tool_names",
    "refused_tools",
    "pins",
    "intent",
    "loaded_tool_names",
    "loaded_overflow",
    "listing",
    "sources",
)

DIFF = (
    "before",
    "after",
    "same",
    "moved",
    "added",
    "removed",
    "redefined",
    "repriced",
    "settings",
    "reordered",
    "array_changed",
)
"""Two plans: each tool is `{name, before, after}`, each side `{place, reason, fingerprint, tokens}`
or null."""

EVENT = ("seq", "session_id", "run_id", "invocation_id", "at", "event")
"""An event; the data of its kind follows."""

CACHE = (
    "session_id",
    "turn",
    "run_id",
    "request",
    "prefix_bytes",
    "tools_bytes",
    "system_bytes",
    "kept_bytes",
    "reread_bytes",
    "message_bytes",
    "kept_message_bytes",
    "rewrite",
    "broke",
    "causes",
)
"""A request; a change is `{part, change, name, position, was, reason}`."""

BACKLOG = (
    "calls",
    "pending_approvals",
    "oldest_pending_seconds",
    "parked",
    "running",
    "overdue",
    "retryable",
    "undelivered",
)
"""What waits: `calls` maps each outcome to the number of calls that ended so."""

NOTIFIED = ("sink", "delivered", "postponed", "abandoned")

TOOL = (
    "name",
    "source",
    "server",
    "raw_name",
    "side_effect",
    "flags",
    "classified_by",
    "fingerprint",
    "accepted",
    "state",
    "scopes",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
)

CHECKED = ("findings", "errors", "warnings")
"""What was found in policies: each finding is `{severity, file, line, rule, message, hint}`."""

EXPLAINED = (
    "effect",
    "rules",
    "reasons",
    "errors",
    "side_effect",
    "flags",
    "taint",
    "origins",
    "revision",
    "asked_by",
    "approvers",
    "requester_excluded",
    "scope",
)
"""A supposed call, as policy decides it; `origins` maps JSON pointers into the arguments.

`asked_by` are the questions that would have to be answered, `scope` is the widest in which they may
be (null where nothing is asked), `approvers` are who may."""

TESTED = ("cases", "passed", "failed", "rules", "never_exercised")
"""A table test: `rules` says how many cases each rule matched."""

REPLAYED = (
    "revision",
    "since",
    "calls",
    "unchanged",
    "undecidable",
    "loosened",
    "transitions",
    "changes",
)
"""Recorded calls under another policy: `transitions` are `{from, to, calls}`."""

ACCEPTED = ("name", "source", "fingerprint", "was", "state", "diff")
"""Each of `tools` in what `tools accept --json` prints."""

HEAD = ("session_id", "seq", "hash")
"""A session's newest event."""

VERIFIED = (
    "ok",
    "sessions",
    "events",
    "calls",
    "approvals",
    "grants",
    "heads",
    "pruned",
    "unknown",
    "findings",
)
"""Each of `findings` is `{session_id, seq, kind, of, id, says}`; `pruned` maps a session to the
last event that was pruned, and `unknown` are kept heads, `{session_id, seq}`, from before that."""

EXPORTED: dict[str, tuple[str, ...]] = {
    "events": ("seq", "session_id", "run_id", "invocation_id", "at", "event", "data", "hash"),
    "calls": ACCOUNT,
    "approvals": APPROVAL,
    "grants": GRANT,
}
"""The keys of each line that `audit export` writes, and the columns of its CSV."""

RETAINED = (
    "session_id",
    "last_at",
    "events",
    "turns",
    "calls",
    "approvals",
    "grants",
    "results",
    "pruned",
    "kept_for",
)
"""An old session: how much it holds, or held; `kept_for` says why it stays, null when it goes."""

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "plan": ("one object", PLAN),
    "plan diff": ("one object", DIFF),
    "search": ("one object", ("query", "tools", "is_error", "answer")),
    "run": ("one line a call", ENDED),
    "call": ("one object", ENDED),
    "resume": ("one line a call", ENDED),
    "approvals list": ("one line an approval", APPROVAL),
    "approvals show": ("one object", APPROVAL),
    "approvals approve": ("one object", ANSWERED),
    "approvals deny": ("one object", ANSWERED),
    "grants list": ("one line a grant", GRANT),
    "grants revoke": ("one object", GRANT),
    "audit plans": ("one line a turn", ("session_id", "turn", *PLAN)),
    "audit calls": ("one line a call", ACCOUNT),
    "audit show": ("one object", (*ACCOUNT, "events")),
    "audit events": ("one line an event, with the data of its kind", EVENT),
    "audit backlog": ("one object", BACKLOG),
    "audit cache": ("one line a request", CACHE),
    "audit head": ("one line a session", HEAD),
    "audit verify": ("one object", VERIFIED),
    "audit prune": ("one line an old session", RETAINED),
    "store upgrade": ("one object", ("version", "history")),
    "notify": ("one line a sink", NOTIFIED),
    "policy check": ("one object", CHECKED),
    "policy explain": ("one object", EXPLAINED),
    "policy test": ("one object", TESTED),
    "policy replay": ("one object", REPLAYED),
    "tools": ("one object", ("tools", "refused_tools", "sources")),
    "tools accept": ("one object", ("tools",)),
}
"""For each verb: whether it prints one object or JSON Lines, and the keys of each."""
