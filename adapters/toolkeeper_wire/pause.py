"""Did the provider stop in the middle of its own search, and is the request sent once more?"""

from dataclasses import dataclass
from typing import Any

RESENDS = 8
"""How often one turn sends a paused request again."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Send the request again, unchanged, with the provider's unfinished answer at its end.

    `messages` are to be appended as they are; tools, system and everything before stay
    byte-identical, and no word of the user comes between.
    """

    messages: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The turn ends here; `warning` is a lower-case sentence for the operator."""

    warning: str


@dataclass(frozen=True, slots=True)
class PauseCount:
    """How often this turn's request was sent again."""

    resent: int = 0

    def resume(self, paused: Continue) -> "tuple[PauseCount, Continue | Exhausted]":
        """The count after one more pause, and what to do about it."""
        if self.resent >= RESENDS:
            return self, Exhausted(
                f"the provider paused again after {RESENDS} resends, so the turn was ended"
            )
        return PauseCount(self.resent + 1), paused
