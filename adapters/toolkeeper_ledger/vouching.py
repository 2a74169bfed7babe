"""How does the event that ends a call vouch for the call's row?

A row can be changed by hand, and no chain notices: only events are chained. So the event that ends
a call carries a digest of the row as it is written beside it, and an audit compares the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkeeper_contract import Event, Invocation, digest
from toolkeeper_ledger.rows import Row, invocation_row

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


def row_digest(columns: Mapping[str, Any] | Row) -> str:
    """The digest of a row as its columns hold it, of all that others can see of a settled call."""
    return digest([columns[name] for name in _VOUCHED])


def vouched(event: Event, row: Invocation) -> Event:
    """The event that ends `row`, with the digest of `row` as it is written."""
    return replace(event, data={**event.data, VOUCHER: row_digest(invocation_row(row))})


def settling(events: Sequence[Event], row: Invocation) -> list[Event]:
    """`events`, with that of them vouching for `row` which says that it is settled."""
    return [
        vouched(event, row)
        if event.name == SETTLED and event.invocation_id == row.invocation_id
        else event
        for event in events
    ]
