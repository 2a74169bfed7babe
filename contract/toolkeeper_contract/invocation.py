"""One call of one real tool: what is known of it, from its opening to its end?"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from toolkeeper_contract.decision import Decision
from toolkeeper_contract.draft import drafted
from toolkeeper_contract.errors import Code


class AdvertisedAs(StrEnum):
    """By which way a call came."""

    DEFINITION = "definition"
    TOOL_CALL = "tool.call"
    SEARCH = "search"
    DIRECT = "direct"
    """Called by its own name without being advertised by a definition."""


class State(StrEnum):
    """Where a row stands; `parked` waits for an approval, `running` holds a lease."""

    PARKED = "parked"
    RUNNING = "running"
    SETTLED = "settled"


class Ending(StrEnum):
    """How a call ended; the last four are the line's `outcome`."""

    COMPLETED = "completed"
    REFUSED = "refused"
    FAILED = "failed"
    SUSPENDED = "suspended"


@drafted
@dataclass(frozen=True, slots=True)
class Invocation:
    """A row: the same whether the call came directly or by `tool.call`, but for `advertised_as`.

    `tool` is the real tool's canonical name (`tool.malformed` when the call named none).
    `arguments` are redacted; `masked` lists the JSON pointers that were. `arguments_digest` covers
    the frozen bytes (the raw text when they were unreadable). `result` is what the model reads.
    `step` and `position` place the call inside its run. `fence` is the token of the newest lease.
    `superseded_by` names the equal call that spent this one's approval. `grant_id` is the standing
    approval under which it ran; `attempts` counts how often the tool was dispatched for it.
    """

    invocation_id: str
    session_id: str
    run_id: str
    call_id: str
    step: int
    position: int
    tool: str
    advertised_as: AdvertisedAs
    idempotency_key: str
    opened_at: datetime
    state: State = State.SETTLED
    outcome: Ending | None = None
    code: Code | None = None
    decision: Decision | None = None
    approval_id: str | None = None
    fingerprint: str | None = None
    side_effect: str | None = None
    flags: tuple[str, ...] = ()
    arguments: Any = None
    masked: tuple[str, ...] = ()
    arguments_digest: str | None = None
    arguments_decoded: bool = False
    result: str | None = None
    is_error: bool = False
    truncated: bool = False
    handle: str | None = None
    bytes: int = 0
    fence: int = 0
    superseded_by: str | None = None
    settled_at: datetime | None = None
    grant_id: str | None = None
    attempts: int = 0

    def line(self) -> dict[str, Any]:
        """The JSON line that `run`, `call` and `resume` print."""
        decision = self.decision
        return {
            "session_id": self.session_id,
            "run_id": self.run_id,
            "invocation_id": self.invocation_id,
            "call_id": self.call_id,
            "advertised_as": self.advertised_as.value,
            "tool": self.tool,
            "outcome": self.outcome.value if self.outcome else None,
            "code": self.code.value if self.code else None,
            "decision": None
            if decision is None
            else {
                "effect": decision.effect.value,
                "rules": list(decision.rules),
                "reasons": list(decision.reasons),
            },
            "approval_id": self.approval_id,
            "grant_id": self.grant_id,
            "result": self.result,
            "is_error": self.is_error,
            "truncated": self.truncated,
            "handle": self.handle,
            "bytes": self.bytes,
        }

    def account(self) -> dict[str, Any]:
        """The keys that `audit calls` and `audit show` print: the line and what the ledger adds."""
        return {
            **self.line(),
            "arguments": self.arguments,
            "arguments_digest": self.arguments_digest,
            "arguments_decoded": self.arguments_decoded,
            "masked": list(self.masked),
            "state": self.state.value,
            "fingerprint": self.fingerprint,
            "side_effect": self.side_effect,
            "flags": list(self.flags),
            "revision": self.decision.revision if self.decision else None,
            "opened_at": self.opened_at.isoformat(),
            "settled_at": self.settled_at.isoformat() if self.settled_at else None,
            "superseded_by": self.superseded_by,
            "attempts": self.attempts,
        }
