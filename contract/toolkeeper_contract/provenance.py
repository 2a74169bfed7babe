"""Where was a value seen before a call named it?"""

from enum import StrEnum
from typing import Any, Protocol


class Origin(StrEnum):
    """The best place where the whole value was seen; USER and TRUSTED are positive."""

    USER = "user"
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"
    NOWHERE = "nowhere"

    @property
    def positive(self) -> bool:
        """Whether the value is the user's own or from a trusted result."""
        return self in (Origin.USER, Origin.TRUSTED)


class Provenance(Protocol):
    """What a session has heard, asked about one value at a time; pure and bounded."""

    def origin(self, value: Any) -> Origin:
        """Where the whole normalised `value` (text or number) was seen; NOWHERE for others."""
        ...
