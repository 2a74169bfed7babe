"""Which bytes does a turn show, in whatever process it goes on?"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolkeeper_contract import canonical_text, digest_bytes


@dataclass(frozen=True)
class Rendering:
    """The request parts of a turn, as one text that the ledger keeps once per digest.

    `text` is canonical JSON, so that equal parts have equal bytes; `parts` and `tools` are read
    back from it each time, also in the process that made it: what a caller does with them changes
    no later request.
    """

    text: str

    @classmethod
    def of(cls, parts: dict[str, Any]) -> "Rendering":
        """The rendering of a request's parts: `tools`, `system` and what the provider adds."""
        return cls(canonical_text(parts))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the text's UTF-8 bytes."""
        return digest_bytes(self.text.encode("utf-8"))

    @property
    def parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = json.loads(self.text)
        return parts

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The provider's tools array."""
        tools: list[dict[str, Any]] = self.parts["tools"]
        return tools

    @cached_property
    def system(self) -> str:
        """The prompt region with the deferred index; empty when there is none."""
        system: str = self.parts["system"]
        return system
