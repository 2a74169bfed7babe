"""How does a result read as text, and how much of it fits?"""

import json
import re
from dataclasses import dataclass

from toolkeeper_contract import Blob, ToolResult, canonical_text

_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODED = {"<": 4, ">": 4, "&": 5}


@dataclass(frozen=True, slots=True)
class Kept:
    """A result kept aside: its whole text without secrets, and whose words it is (None: ours)."""

    source: str | None
    text: str

    def packed(self) -> str:
        return canonical_text({"source": self.source, "text": self.text})

    @classmethod
    def unpacked(cls, packed: str) -> "Kept":
        body = json.loads(packed)
        return cls(body["source"], body["text"])


def read(result: ToolResult) -> str:
    """All parts in order, a line break between them; what is no text is named and measured."""
    parts = [
        f"[{part.mime_type}, {len(part.data):,} bytes]" if isinstance(part, Blob) else part.text
        for part in result.parts
    ]
    if not parts and result.structured is not None:
        return canonical_text(result.structured)
    return readable("\n".join(parts))


def readable(text: str) -> str:
    """`text` as UTF-8 can carry it: a lone surrogate, which no store takes, becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def cut(text: str, limit: int, *, encoded: bool) -> tuple[str, int, int]:
    """The longest beginning of `text` that reads as at most `limit` UTF-8 bytes.

    Returns it with its size and the size of the whole. `encoded`: as the envelope's encoder writes
    it, where `<`, `>` and `&` take four or five bytes.
    """
    total = len(text.encode("utf-8", "replace"))
    if encoded:
        total += sum((width - 1) * text.count(mark) for mark, width in _ENCODED.items())
    if total <= limit:
        return text, total, total
    size = 0
    for index, character in enumerate(text):
        width = len(character.encode("utf-8", "replace"))
        if encoded:
            width = _ENCODED.get(character, width)
        if size + width > limit:
            return text[:index], size, total
        size += width
    return text, size, total
