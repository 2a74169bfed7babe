"""Who was asked for what, and what did they answer?

An approval answers one call. A grant is a standing answer: an explicit row that expires and can be
revoked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from toolkeeper_contract.canonical import digest
from toolkeeper_contract.decision import Decision
from toolkeeper_contract.scope import Scope


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
    `input_schema` lets edited arguments be checked without reaching the tool's source. `operands`
    maps the JSON pointers of arguments that name something whose content can change to a digest of
    that content as it was when the call was asked about.
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
    operands: Mapping[str, str] = field(default_factory=dict)

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
            "scopes": [scope.value for scope in self.decision.scope.up_to()],
            "operands": dict(self.operands),
            "state": self.state.value,
            "asked_at": self.asked_at.isoformat(),
            "expires_at": self.expires_at.isoformat(),
            "decided_at": self.decided_at.isoformat() if self.decided_at else None,
            "decided_by": self.decided_by,
            "reason": self.reason,
            "spent_by": self.spent_by,
        }


@dataclass(frozen=True, slots=True)
class Grant:
    """A row: a standing yes to the calls of one tool, for one user with one agent.

    Bound to the tool's identity and `fingerprint`; `session_id` is set for Scope.SESSION alone.
    `condition` is a CEL condition over the call (None: any arguments). `rules` are the rules that
    asked when it was given: it answers those questions, and no rule's that asked for nothing then.
    `approval_id` is the approval that it was given with. It holds while it is not revoked and
    `expires_at` is ahead.
    """

    grant_id: str
    scope: Scope
    tool: str
    fingerprint: str
    user: str
    agent: str
    session_id: str | None
    condition: str | None
    rules: tuple[str, ...]
    approval_id: str
    granted_by: str
    granted_at: datetime
    expires_at: datetime
    reason: str | None = None
    revoked_at: datetime | None = None
    revoked_by: str | None = None

    def state(self, now: datetime) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.expires_at > now else "expired"

    def account(self, now: datetime) -> dict[str, Any]:
        """The keys that `grants list` prints."""
        return {
            "grant_id": self.grant_id,
            "scope": self.scope.value,
            "tool": self.tool,
            "fingerprint": self.fingerprint,
            "user": self.user,
            "agent": self.agent,
            "session_id": self.session_id,
            "condition": self.condition,
            "rules": list(self.rules),
            "state": self.state(now),
            "approval_id": self.approval_id,
            "granted_by": self.granted_by,
            "granted_at": self.granted_at.isoformat(),
            "expires_at": self.expires_at.isoformat(),
            "reason": self.reason,
            "revoked_at": self.revoked_at.isoformat() if self.revoked_at else None,
            "revoked_by": self.revoked_by,
        }
