"""How does a result read as text, and how much of it fits?"""

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from toolkeeper_contract import Blob, KeptResult, ToolResult, canonical_text
from toolkeeper_pipeline.media import as_text, described

_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODED = {"<": 4, ">": 4, "&": 5}
_LONGEST_CLUSTER = 32
"""Characters that are looked back to find where a character with its marks begins."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept aside of a result, and whose words it is (`source` None: ours).

    `text` is the whole text without secrets. For a part that is no text, `data` are its bytes and
    `mime_type` is the type that the source said; the text is empty then.
    """

    source: str | None
    text: str
    data: bytes | None = None
    mime_type: str | None = None

    def packed(self) -> KeptResult:
        text = canonical_text({"source": self.source, "text": self.text})
        return KeptResult(text, self.data, self.mime_type)

    @classmethod
    def unpacked(cls, packed: KeptResult) -> "Kept":
        body = json.loads(packed.text)
        return cls(body["source"], body["text"], packed.data, packed.mime_type)


def heard(text: str, kept: Iterable[Kept]) -> str:
    """All words of a result of which `text` was shown, with those among its kept parts."""
    words = [text]
    for each in kept:
        if each.data is None:
            words[0] = each.text
        else:
            words.append(as_text(each.data) or "")
    return "\n".join(words)


def read(result: ToolResult) -> str:
    """All parts in order, a line break between them; what is no text is named and measured."""
    if not result.parts and result.structured is not None:
        return readable(canonical_text(result.structured))
    parts = [described(part) if isinstance(part, Blob) else part.text for part in result.parts]
    return readable("\n".join(parts))


def readable(text: str) -> str:
    """`text` as UTF-8 can carry it: a lone surrogate, which no store takes, becomes U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def cut(text: str, limit: int, *, encoded: bool) -> tuple[str, int, int]:
    """The longest beginning of `text` that reads as at most `limit` UTF-8 bytes.

    Returns it with its size and the size of the whole. `encoded`: as the envelope's encoder writes
    it, where `<`, `>` and `&` take four or five bytes. No character is cut from its marks.
    """
    # Most texts are plain and short.
    total = len(text) if not encoded and text.isascii() else _size(text, encoded)
    if total <= limit:
        return text, total, total
    size = 0
    # No character takes less than a byte, so the rest needs no look.
    for index, character in enumerate(text[: limit + 1]):
        width = len(character.encode("utf-8", "replace"))
        if encoded:
            width = _ENCODED.get(character, width)
        if size + width > limit:
            shown = text[: _boundary(text, index)]
            return shown, _size(shown, encoded), total
        size += width
    return text, size, total


def page(text: str, offset: int, length: int, limit: int, *, encoded: bool) -> tuple[str, int]:
    """The part of `text` that begins at `offset`, and where it ends, in characters.

    At most `length` characters and `limit` bytes; at least one character where there is one, so
    that reading on comes to an end. No character is cut from its marks unless it alone is too long.
    """
    start = min(offset, len(text))
    end = min(start + length, len(text))
    shown, _, _ = cut(text[start:end], limit, encoded=encoded)
    at = start + len(shown)
    if at < len(text):
        at = max(_boundary(text, at), start)
    if at == start < len(text):
        at = start + 1
    return text[start:at], at


def _size(text: str, encoded: bool) -> int:
    total = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    if encoded:
        total += sum((width - 1) * text.count(mark) for mark, width in _ENCODED.items())
    return total


def _boundary(text: str, index: int) -> int:
    """`index`, or the place before it where the character begins that it would cut in two."""
    for at in range(index, max(0, index - _LONGEST_CLUSTER), -1):
        if at >= len(text) or not _joined(text[at - 1], text[at]):
            return at
    return index


def _joined(before: str, after: str) -> bool:
    if after.isascii():
        return before == "\r" and after == "\n"
    return (
        before == "\u200d"
        or after in "\u200c\u200d"
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\ufe00" <= after <= "\ufe0f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )
