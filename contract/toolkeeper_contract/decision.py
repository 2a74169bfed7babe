"""What did policy say about a call, and why?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from toolkeeper_contract.classification import Classification
from toolkeeper_contract.draft import drafted
from toolkeeper_contract.errors import Code
from toolkeeper_contract.principal import Principal
from toolkeeper_contract.provenance import Provenance
from toolkeeper_contract.scope import Scope


class Effect(StrEnum):
    """ALLOW < ASK < DENY."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        return _RANK[self]


_RANK = {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}


def strictest(effects: Iterable[Effect]) -> Effect:
    """The most restrictive of one or more effects; their order never matters."""
    return max(effects, key=lambda effect: effect.rank)


@drafted
@dataclass(frozen=True, slots=True)
class Question:
    """Everything that a policy may look at; nothing else can sway it.

    `tool` is the real tool's canonical name, `source` its server id (or `functions`), `trusted`
    whether that source is. `arguments` are the frozen ones. `attributes` are the session's,
    `tainted` and `private` what the session has read so far, `provenance` where values come from
    (None: nothing is known, so every value is from nowhere). `at` is the moment of the decision,
    with its zone; None where no moment is meant, as in a test of a policy.
    """

    tool: str
    source: str
    classification: Classification
    agent: str
    principal: Principal
    arguments: Mapping[str, Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    trusted: bool = True
    tainted: bool = False
    private: bool = False
    provenance: Provenance | None = None
    advertised_as: str = "definition"
    at: datetime | None = None


@drafted
@dataclass(frozen=True, slots=True)
class Decision:
    """Effect and reasons as one value; it is recorded with the call.

    `rules` are the ids that decided (empty when a class default did). `reasons` are plain words.
    `revision` is the digest of the policy. `code` is set when the effect is DENY. `approvers` are
    the names that the deciding rules demand for an ASK; None leaves it to the agent. `errors`
    name rules that could not be evaluated. `taint` and `origins` say what the trust overlay saw.

    The last three are about an ASK. `asked_by` names each question that has to be answered: the
    ids of rules, `@default.<class>`, `@taint` and `@taint.private` (no rule's id has an `@`).
    `scope` is the widest in which they may be answered. `requester_excluded` says that the
    session's own user may not answer.
    """

    effect: Effect
    rules: tuple[str, ...]
    reasons: tuple[str, ...]
    revision: str
    code: Code | None = None
    approvers: tuple[str, ...] | None = None
    errors: tuple[str, ...] = ()
    taint: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    asked_by: tuple[str, ...] = ()
    scope: Scope = Scope.ONCE
    requester_excluded: bool = False

    def as_json(self) -> dict[str, Any]:
        """The form that rows and events keep; what is about an ASK stands on those alone."""
        asking = {
            "asked_by": list(self.asked_by),
            "scope": self.scope.value,
            "requester_excluded": self.requester_excluded,
        }
        return {
            "effect": self.effect.value,
            "rules": list(self.rules),
            "reasons": list(self.reasons),
            "revision": self.revision,
            "code": self.code.value if self.code else None,
            "approvers": None if self.approvers is None else list(self.approvers),
            "errors": list(self.errors),
            "taint": list(self.taint),
            "origins": dict(self.origins),
            **(asking if self.effect is Effect.ASK else {}),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Decision":
        """The decision whose `as_json()` this is."""
        approvers = body["approvers"]
        return cls(
            effect=Effect(body["effect"]),
            rules=tuple(body["rules"]),
            reasons=tuple(body["reasons"]),
            revision=body["revision"],
            code=Code(body["code"]) if body["code"] else None,
            approvers=None if approvers is None else tuple(approvers),
            errors=tuple(body["errors"]),
            taint=tuple(body["taint"]),
            origins=dict(body["origins"]),
            # A decision of before there were standing approvals is answered call by call.
            asked_by=tuple(body.get("asked_by", ())),
            scope=Scope(body.get("scope", Scope.ONCE)),
            requester_excluded=body.get("requester_excluded", False),
        )
