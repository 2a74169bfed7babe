"""Is a row what the events of its session say of it?

Pure. Each check gives the first thing that is wrong, as a clause, or None. What events do not tell
cannot be checked: the words of a kept result, a session's intent, and, of what the first release
wrote, all of a settled call but its ending and of an approval but who is asked, for what and until
when.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from toolkeeper_contract import State
from toolkeeper_ledger.rows import Row, approval_of, loads
from toolkeeper_ledger.story import CallTold, Story
from toolkeeper_ledger.vouching import VOUCHER, question_digest, row_digest

_NO_EVENT = "no event tells of it"


def session_fault(row: Row, story: Story) -> tuple[int | None, str] | None:
    """What is wrong with a session, and the event where it shows."""
    if not story.heard:
        return None, "has no event that opened it"
    if story.tainted and not row["tainted"]:
        return story.tainted, f"is not marked as tainted, which event {story.tainted} made it"
    if story.opened is None:
        return None if story.pruned else (1, "event 1 is not the one that opened it")
    told = {"user_name": "user", "agent": "agent", "provider": "provider", "parent": "parent"}
    for column, key in told.items():
        if key in story.opened and row[column] != story.opened[key]:
            return 1, f"its {key} is not the one that event 1 tells"
    return None


def run_fault(row: Row, story: Story) -> tuple[int | None, str] | None:
    """What is wrong with a turn's row, and the event where it shows."""
    seq, began = story.runs.get(row["run_id"], (None, None))
    if seq is None:
        return None, _NO_EVENT
    if began is None:
        return seq, "no event says that it began"
    for column, key, name in (("turn", "turn", "turn"), ("plan_digest", "plan", "plan")):
        if key in began and row[column] != began[key]:
            return seq, f"its {name} is not the one that event {seq} tells"
    return None


def call_fault(row: Row, story: Story) -> tuple[int | None, str] | None:
    """What is wrong with a call's row, and the event where it shows."""
    told = story.calls.get(row["invocation_id"])
    if told is None:
        return None, _NO_EVENT
    if told.phase is None:
        return told.first, f"is {row['state']}, and no event says so"
    if row["state"] != told.phase:
        return told.seq, f"is {row['state']}, and {told.phase.value} by event {told.seq}"
    if told.phase is State.SETTLED:
        differs = _ending_differs(row, told)
        if differs is not None:
            return told.seq, f"its {differs} is not the one that event {told.seq} tells"
        if told.data.get(VOUCHER, row_digest(row)) != row_digest(row):
            return told.seq, f"is not as event {told.seq} wrote it"
    for column, value in (("tool", told.tool), ("arguments_digest", told.arguments_digest)):
        if value is not None and row[column] != value:
            return told.first, f"its {column} is not the one that was decided on"
    return None


def _ending_differs(row: Row, told: CallTold) -> str | None:
    """Which column differs from what the ending tells."""
    if told.name == "call.settled":
        columns = ("tool", "advertised_as", "outcome", "code", "is_error", "approval_id", "bytes")
        wanted = {column: told.data[column] for column in columns if column in told.data}
    elif told.name == "call.superseded":
        wanted = {"outcome": "refused", "superseded_by": told.data.get("superseded_by")}
    elif told.name == "lease.reaped":
        wanted = {"outcome": "failed", "code": told.data.get("code")}
    else:
        wanted = {"outcome": "refused", "code": "tool.approval.expired"}
    return next((column for column, value in wanted.items() if row[column] != value), None)


def approval_fault(row: Row, story: Story) -> tuple[int | None, str] | None:
    """What is wrong with an approval's row, and the event where it shows."""
    told = story.approvals.get(row["approval_id"])
    if told is None:
        return None, _NO_EVENT
    seq = told.seq
    if row["state"] != told.state:
        return seq, f"is {row['state']}, and {told.state.value} by the events"
    if row["decided_by"] != told.by:
        return seq, "was answered by somebody else"
    if row["spent_by"] != told.spent_by:
        return seq, "was spent by another call"
    for clause, fits in _approval_facts(row, told.asked):
        if not fits:
            return seq, f"its {clause} is not as it was asked"
    if told.call is not None and row["invocation_id"] != told.call:
        return seq, "is of another call than it was asked for"
    if told.arguments_digest is not None and row["arguments_digest"] != told.arguments_digest:
        return seq, "is for other arguments than it was asked for"
    if approval_of(row).binding.digest() != row["binding"]:
        return seq, "is not for what it is bound to"
    if told.asked.get(VOUCHER, question_digest(row)) != question_digest(row):
        return seq, f"is not as event {seq} asked it"
    return None


def _approval_facts(row: Row, asked: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    if "tool" in asked:
        yield "tool", row["tool"] == asked["tool"]
    if "approvers" in asked:
        yield "list of approvers", loads(row["approvers"]) == asked["approvers"]
    if "expires_at" in asked:
        yield "expiry", _same_time(row["expires_at"], asked["expires_at"])


def grant_fault(row: Row, story: Story) -> tuple[int | None, str] | None:
    """What is wrong with a grant's row, and the event where it shows.

    `story` is of the session in which it was given.
    """
    told = story.grants.get(row["grant_id"])
    if told is None:
        return None, _NO_EVENT
    if (row["revoked_at"] is not None) != told.revoked:
        is_so = "is revoked" if row["revoked_at"] is not None else "is not revoked"
        return told.seq, f"{is_so}, other than the events say"
    for column, key in (
        ("tool", "tool"),
        ("scope", "scope"),
        ("condition", "condition"),
        ("granted_by", "by"),
        ("approval_id", "approval_id"),
    ):
        if key in told.data and row[column] != told.data[key]:
            return told.seq, f"its {column} is not as it was given"
    if "rules" in told.data and loads(row["rules"]) != told.data["rules"]:
        return told.seq, "its rules are not as it was given"
    expiry = told.data.get("expires_at")
    if expiry is not None and not _same_time(row["expires_at"], expiry):
        return told.seq, "its expiry is not as it was given"
    return None


def _same_time(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) == datetime.fromisoformat(other)
    except (TypeError, ValueError):
        return False
