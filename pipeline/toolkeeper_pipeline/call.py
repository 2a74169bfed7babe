"""What did the model ask for, before anything is made of it?"""

from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import ConfigError, Invocation
from toolkeeper_contract.draft import drafted

MAX_KEY = 256
"""Characters of the longest key that a caller may give."""


@drafted
@dataclass(frozen=True, slots=True)
class Call:
    """A call as it came in; nothing about it has been checked.

    `name` is canonical where the edge could decode it (wire names are the edge's business) and
    anything at all otherwise. `arguments` is the raw text that the model wrote (str), or an already
    parsed value. `step` counts the run's model steps from 1, `position` the calls in a step from 0.
    `parked` is the row of a call that was asked about before and is now taken up again; its
    `arguments` are then the frozen ones. `idempotency_key` is the caller's own name for what is to
    happen once: calls of one user and agent that bear the same one are one call, in whatever
    session they are made.
    """

    call_id: str
    name: Any
    arguments: Any
    step: int = 1
    position: int = 0
    parked: Invocation | None = None
    idempotency_key: str | None = None


def checked_key(key: Any) -> str | None:
    """A caller's key as it may be. ConfigError for one that cannot name anything."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise ConfigError("an idempotency key must be text", key="idempotency_key")
    if not key or len(key) > MAX_KEY or not key.isprintable():
        raise ConfigError(
            "this cannot be an idempotency key",
            f"write 1 to {MAX_KEY} printable characters",
            key="idempotency_key",
        )
    return key
