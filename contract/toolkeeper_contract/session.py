"""What does the ledger keep of a session and of a run?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session: who, with which agent, under which provider, and what the user toggled.

    `intent` is None, a small object or a hand-picked list of names; never the list of all tools.
    `turn` counts the turns begun. `tainted` and `private` are the trust overlay's memory.
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


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One turn: it keeps the plan that it started with, also while it is parked."""

    run_id: str
    session_id: str
    turn: int
    plan_digest: str
    began_at: datetime
