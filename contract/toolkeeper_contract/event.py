"""What happened, in the order it happened?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolkeeper_contract.draft import drafted

EVENTS = frozenset(
    {
        "approval.answered",
        "approval.asked",
        "approval.edited",
        "approval.expired",
        "call.claimed",
        "call.decided",
        "call.fenced",
        "call.repeated",
        "call.retried",
        "call.settled",
        "call.superseded",
        "call.unwrapped",
        "conversation.cleared",
        "delivery.abandoned",
        "grant.given",
        "grant.revoked",
        "index.changed",
        "lease.reaped",
        "run.began",
        "session.forked",
        "session.opened",
        "session.planned",
        "session.pruned",
        "session.read",
        "tool.quarantined",
        "tool.repinned",
        "tools.changed",
        "tools.found",
        "tools.loaded",
        "turn.exhausted",
    }
)
"""The names of all events, for whoever chooses among them; a test finds one that is missing."""


@drafted
@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a session; the ledger gives it its sequence, time and hash.

    `name` is `noun.past` (`call.settled`). `data` is JSON without argument values or secrets.
    """

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    invocation_id: str | None = None


@drafted
@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as the ledger holds it: `seq` counts from 1 in its session; `at` is ISO 8601 UTC."""

    seq: int
    session_id: str
    at: str
    event: Event
    hash: str

    def as_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "session_id": self.session_id,
            "run_id": self.event.run_id,
            "invocation_id": self.event.invocation_id,
            "at": self.at,
            "event": self.event.name,
            **self.event.data,
        }
