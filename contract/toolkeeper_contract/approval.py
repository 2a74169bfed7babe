"""Who was asked for what, and what did they answer?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from toolkeeper_contract.canonical import digest
from toolkeeper_contract.decision import Decision


class ApprovalState(StrEnum):
    """An approval is answered once and spent once, each by a conditional update."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    SPENT = "spent"


@dataclass(frozen=True, slots=True)
class Binding:
    """Exactly what an approval is for; a call that differs in any field is another call."""

    tool: str
    fingerprint: str
    arguments_digest: str
    user: str
    agent: str
    session_id: str

    def digest(self) -> str:
        return digest(
            [
                self.tool,
                self.fingerprint,
                self.arguments_digest,
                self.user,
                self.agent,
                self.session_id,
            ]
        )


@dataclass(frozen=True, slots=True)
class Approval:
    """A row: the question, what it is bound to, and its answer.

    `arguments` are redacted. `approvers` come from policy or the agent's configuration, never from
    arguments. `decision` is the one that asked. `spent_by` is the invocation that used it up.
    `input_schema` lets edited arguments be checked without reaching the tool's source.
    """

    approval_id: str
    invocation_id: str
    run_id: str
    binding: Binding
    arguments: Any
    decision: Decision
    approvers: tuple[str, ...]
    input_schema: Mapping[str, Any]
    asked_at: datetime
    expires_at: datetime
    state: ApprovalState = ApprovalState.PENDING
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None
    spent_by: str | None = None

    def account(self) -> dict[str, Any]:
        """The keys that `approvals list` and `show` print."""
        return {
            "approval_id": self.approval_id,
            "invocation_id": self.invocation_id,
            "session_id": self.binding.session_id,
            "tool": self.binding.tool,
            "agent": self.binding.agent,
            "user": self.binding.user,
            "arguments": self.arguments,
            "arguments_digest": self.binding.arguments_digest,
            "decision": {
                "effect": self.decision.effect.value,
                "rules": list(self.decision.rules),
                "reasons": list(self.decision.reasons),
            },
            "approvers": list(self.approvers),
            "state": self.state.value,
            "asked_at": self.asked_at.isoformat(),
            "expires_at": self.expires_at.isoformat(),
            "decided_at": self.decided_at.isoformat() if self.decided_at else None,
            "decided_by": self.decided_by,
            "reason": self.reason,
            "spent_by": self.spent_by,
        }
