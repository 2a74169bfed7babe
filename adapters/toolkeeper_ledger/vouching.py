"""How does an event vouch for the row that is written with it?

A row can be changed by hand, and no chain notices: only events are chained. So the event that ends
a call carries a digest of the call's row, and the one that asks for an approval a digest of what is
asked, which never changes; an audit compares the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkeeper_contract import Approval, Event, Invocation, digest
from toolkeeper_ledger.rows import Row, approval_row, invocation_row

VOUCHER = "row_digest"
"""The key in the event's data."""

SETTLED = "call.settled"

_VOUCHED = (
    "invocation_id",
    "session_id",
    "run_id",
    "call_id",
    "step",
    "position",
    "tool",
    "advertised_as",
    "idempotency_key",
    "opened_at",
    "outcome",
    "code",
    "decision",
    "approval_id",
    "fingerprint",
    "side_effect",
    "flags",
    "arguments",
    "masked",
    "arguments_digest",
    "arguments_decoded",
    "result",
    "is_error",
    "truncated",
    "handle",
    "bytes",
    "fence",
    "superseded_by",
    "settled_at",
    "grant_id",
    "attempts",
)
"""Columns of `invocations`. The list is part of every digest: another one needs another key."""

ASKED = {"approval.asked": "approval_id", "approval.edited": "replaced_by"}
"""The events with which an approval begins, and the key under which they name it."""

_QUESTION = (
    "approval_id",
    "invocation_id",
    "run_id",
    "session_id",
    "binding",
    "tool",
    "fingerprint",
    "arguments_digest",
    "user_name",
    "agent",
    "arguments",
    "decision",
    "approvers",
    "input_schema",
    "asked_at",
    "expires_at",
    "operands",
)
"""Columns of `approvals` that no answer changes."""


def row_digest(columns: Mapping[str, Any] | Row) -> str:
    """The digest of a row as its columns hold it, of all that others can see of a settled call."""
    return digest([columns[name] for name in _VOUCHED])


def vouched(event: Event, row: Invocation, columns: Mapping[str, Any] | None = None) -> Event:
    """The event that ends `row`, with the digest of `row` as it is written.

    `columns` are the row's, where they were made already.
    """
    vouch = row_digest(columns or invocation_row(row))
    return Event(event.name, {**event.data, VOUCHER: vouch}, event.run_id, event.invocation_id)


def settling(
    events: Sequence[Event], row: Invocation, columns: Mapping[str, Any] | None = None
) -> list[Event]:
    """`events`, with that of them vouching for `row` which says that it is settled."""
    return [
        vouched(event, row, columns)
        if event.name == SETTLED and event.invocation_id == row.invocation_id
        else event
        for event in events
    ]


def question_digest(columns: Mapping[str, Any] | Row) -> str:
    """The digest of what an approval asks, as its columns hold it."""
    return digest([columns[name] for name in _QUESTION])


def asking(events: Sequence[Event], approval: Approval) -> list[Event]:
    """`events`, with that of them vouching for `approval` with which it begins."""
    return [
        replace(event, data={**event.data, VOUCHER: question_digest(approval_row(approval))})
        if event.data.get(ASKED.get(event.name, "")) == approval.approval_id
        else event
        for event in events
    ]
