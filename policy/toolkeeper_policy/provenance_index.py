"""Does a text of some megabytes hold this value as a whole, told in some microseconds?

Texts are cut into blocks, and every word points to the blocks that hold it (a bit each). A value is
then looked for only in blocks that hold all its words. What is held is bounded: two halves, the
older one of which goes when the newer one is full.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from toolkeeper_policy.provenance_text import SEPARATOR, TOKEN, stands_alone, tokens

BLOCK = 16_384
"""Characters of a block, about; it ends where a word ends."""

_STRETCH = 4_096
"""Characters within which the end of a word is looked for."""

_WORDS = 48
"""Words of a value that are looked up before it is looked for."""

_TRIES = 512
"""Places that are looked at for one value in one half; a value that stands alone in none of them
counts as not heard."""

_NO_WORD = re.compile(r"\W")

Alone = Callable[[str, int, int], bool]
"""Whether what stands between two places of a text is a whole value there."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A value to look for: `text` is its normalised form, `words` stand in it, the first at `lead`.

    Made by `sought`.
    """

    text: str
    words: tuple[str, ...]
    lead: int


def sought(text: str) -> Sought | None:
    """What to look for; None for a value without a letter or digit, which is never found."""
    words: list[str] = []
    lead = 0
    for match in TOKEN.finditer(text):
        if not words:
            lead = match.start()
        words.append(match.group())
        if len(words) == _WORDS:
            break
    return Sought(text, tuple(words), lead) if words else None


class HeardIndex:
    """Normalised texts of one origin, at most `capacity` characters of them, the latest ones."""

    def __init__(self, capacity: int) -> None:
        self._half = max(1, capacity // 2)
        self._newer = _Half()
        self._older = _Half()

    def add(self, text: str) -> None:
        """Takes in a normalised text; the end of one that is longer than half the bound is lost."""
        text = text[: self._half]
        if not text:
            return
        if self._newer.size + len(text) > self._half:
            self._older, self._newer = self._newer, _Half()
        self._newer.add(text)

    def holds(self, value: Sought, alone: Alone = stands_alone) -> bool:
        """Whether the value stands somewhere as a whole."""
        return self._newer.holds(value, alone) or self._older.holds(value, alone)

    def holds_spelled(self, characters: str) -> bool:
        """Whether these letters and digits stand somewhere, whatever separates them there.

        For accounts and telephones: `DE89 3704 0044` and `DE8937040044` are the same.
        """
        return self._newer.holds_spelled(characters) or self._older.holds_spelled(characters)

    def copy(self) -> "HeardIndex":
        """An index that holds the same and goes on by itself."""
        other = HeardIndex(0)
        other._half = self._half
        other._newer, other._older = self._newer.copy(), self._older.copy()
        return other


@dataclass(slots=True)
class _Half:
    """`blocks` are (text, start, end); `held` maps a word to the bits of its blocks."""

    size: int = 0
    blocks: list[tuple[str, int, int]] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> None:
        self.size += len(text)
        if self._joins_last(text):
            return
        start = 0
        while start < len(text):
            end = _end_of_block(text, start)
            self._note(text[start:end], len(self.blocks))
            self.blocks.append((text, start, end))
            start = end

    def holds(self, value: Sought, alone: Alone) -> bool:
        tries = _TRIES
        length = len(value.text)
        for text, start, end in self._blocks_of(value.words, length):
            at = text.find(value.text, max(0, start - value.lead), end + length)
            while at >= 0:
                if alone(text, at, at + length):
                    return True
                tries -= 1
                if not tries:
                    return False
                at = text.find(value.text, at + 1, end + length)
        return False

    def holds_spelled(self, characters: str) -> bool:
        tries = _TRIES
        # The words of a spelling are not known, but its first one is some beginning of the value.
        for length in range(len(characters), 0, -1):
            first = characters[:length]
            for text, start, end in self._blocks_of((first,), 0):
                at = text.find(first, start, end)
                while at >= 0:
                    stop = _spelled(text, at, characters)
                    if stop and stands_alone(text, at, stop):
                        return True
                    tries -= 1
                    if not tries:
                        return False
                    at = text.find(first, at + 1, end)
        return False

    def copy(self) -> "_Half":
        return _Half(self.size, list(self.blocks), dict(self.held))

    def _joins_last(self, text: str) -> bool:
        """Whether a short text went into the last block; many short ones would be many blocks."""
        if not self.blocks:
            return False
        last, start, end = self.blocks[-1]
        if start or end < len(last) or end + len(text) >= BLOCK:
            return False
        self._note(text, len(self.blocks) - 1)
        joined = f"{last}{SEPARATOR}{text}"
        self.blocks[-1] = (joined, 0, len(joined))
        return True

    def _note(self, text: str, block: int) -> None:
        bit = 1 << block
        held = self.held
        for word in tokens(text):
            held[word] = held.get(word, 0) | bit

    def _blocks_of(self, words: Sequence[str], length: int) -> Iterator[tuple[str, int, int]]:
        """The blocks in which a value of `length` characters may have the first of its words."""
        bits = self.held.get(words[0], 0)
        for word in words[1:]:
            if not bits:
                return
            spread = self.held.get(word, 0)
            # A long value goes on in the blocks that follow.
            for _ in range(1 + length // BLOCK):
                spread |= spread >> 1
            bits &= spread
        while bits:
            lowest = bits & -bits
            yield self.blocks[lowest.bit_length() - 1]
            bits ^= lowest


def _end_of_block(text: str, start: int) -> int:
    end = start + BLOCK
    if end >= len(text):
        return len(text)
    gap = _NO_WORD.search(text, end, end + _STRETCH)
    return gap.start() if gap else end


_SPELLING_GAPS = frozenset(" -./()")


def _spelled(text: str, at: int, characters: str) -> int:
    """Where `characters` end that begin at `at`, with at most two separators between any two; 0."""
    size = len(text)
    for index, character in enumerate(characters):
        gap = 0
        while index and gap < 3 and at < size and text[at] in _SPELLING_GAPS:
            at += 1
            gap += 1
        if at >= size or text[at] != character:
            return 0
        at += 1
    return at
