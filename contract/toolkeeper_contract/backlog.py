"""What is waiting in the ledger at this moment?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Backlog:
    """Counts for an operator: what waits for a person, for a worker, for a reaper, for a sink.

    `calls` maps each outcome to its number of settled calls. `running` are calls under a lease,
    `overdue` those of them whose lease is over, `retryable` reaped reads that may run once more.
    `undelivered` are events that no sink has taken yet.
    """

    calls: Mapping[str, int]
    pending_approvals: int
    oldest_pending: datetime | None
    parked: int
    running: int
    overdue: int
    retryable: int
    undelivered: int

    def account(self, now: datetime) -> dict[str, Any]:
        """The keys that `audit backlog` prints; ages in seconds."""
        oldest = self.oldest_pending
        return {
            "calls": dict(self.calls),
            "pending_approvals": self.pending_approvals,
            "oldest_pending_seconds": (now - oldest).total_seconds() if oldest else None,
            "parked": self.parked,
            "running": self.running,
            "overdue": self.overdue,
            "retryable": self.retryable,
            "undelivered": self.undelivered,
        }
