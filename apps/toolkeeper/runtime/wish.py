"""What does the caller say about one turn?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Wish:
    """The caller's words for one turn; none of them is stored with the session.

    `override` is a toggle for this turn alone; it beats the stored intent. `tool_choice` is a tool
    that the model has to call: it is defined until the turn ends. `transcript` holds the messages
    of the conversation in the provider's form: what its searches loaded is loaded. Left out,
    everything that the session recorded counts. `system` is the system text where it stands apart
    from the messages (Anthropic, Gemini): a compaction note may be a part of it.
    """

    override: Any = None
    tool_choice: str | None = None
    transcript: Sequence[Any] | None = None
    system: Any = None


NOTHING = Wish()
