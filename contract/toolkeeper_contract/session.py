"""What does the ledger keep of a session and of a run?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from toolkeeper_contract.draft import drafted


@drafted
@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session: who, with which agent, under which provider, and what the user toggled.

    `intent` is None, a small object or a hand-picked list of names; never the list of all tools.
    `turn` counts the turns begun. `tainted` and `private` are the trust overlay's memory.
    `model` and `endpoint` say what the provider can do. `parent` is the session that this one was
    forked from or delegated by; `granted` (name -> fingerprint) is what a delegating parent gives,
    None for a session that answers to nobody.
    """

    session_id: str
    agent: str
    user: str
    provider: str
    opened_at: datetime
    attributes: Mapping[str, Any] = field(default_factory=dict)
    intent: Any = None
    turn: int = 0
    tainted: bool = False
    private: bool = False
    model: str | None = None
    endpoint: str | None = None
    parent: str | None = None
    granted: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One turn: it keeps the plan that it started with, also while it is parked.

    `rendering` is the digest of the request parts that the turn shows, kept once in the ledger, so
    that they are byte-identical in whatever process the turn goes on. `override` is the turn's own
    toggle, None when it follows the session. `user_message` is the user's own text without secrets,
    from which the origins of values are worked out again in another process.
    """

    run_id: str
    session_id: str
    turn: int
    plan_digest: str
    began_at: datetime
    rendering: str | None = None
    override: Any = None
    user_message: str = ""


@dataclass(frozen=True, slots=True)
class Loading:
    """What one recorded search loaded: `tools` maps names to fingerprints, in load order."""

    invocation_id: str
    session_id: str
    call_id: str
    tools: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AcceptedTool:
    """A definition that the operator (or a server's first listing) accepted."""

    name: str
    fingerprint: str
    source: str
    at: datetime
    by: str
