"""Does a text of some megabytes hold this value as a whole, told in some microseconds?

Texts are cut into blocks, and every word points to the blocks that hold it (a bit each). A value is
then looked for only in blocks that hold all its words. What is held is bounded: two halves, the
older one of which goes when the newer one is full.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from toolkeeper_policy.provenance_text import SEPARATOR, first_words, stands_alone, tokens

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
    words, lead = first_words(text, _WORDS)
    return Sought(text, words, lead) if words else None


class HeardIndex:
    """Normalised texts of one origin, at most `capacity` characters of them, the latest ones."""

    def __init__(self, capacity: int) -> None:
        self._half = max(1, capacity // 2)
        self._newer = _Half()
        self._older = _Half()

    def add(self, text: str, words: Set[str] | None = None) -> None:
        """Takes in a normalised text; the end of one that is longer than half the bound is lost.

        `words` are all of its words, where somebody looked already.
        """
        if len(text) > self._half:
            text, words = text[: self._half], None
        if not text:
            return
        if self._newer.size + len(text) > self._half:
            self._older, self._newer = self._newer, _Half()
        self._newer.add(text, words)

    def holds(self, value: Sought, alone: Alone = stands_alone) -> bool:
        """Whether the value stands somewhere as a whole."""
        for half in (self._newer, self._older):
            if half.may_hold(value.words) and half.holds(value, alone):
                return True
        return False

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
    """`blocks` are (text, start, end); `held` maps a word to the bits of its blocks.

    Many short texts would be many blocks, so they become one. As long as nobody looks, such a block
    is in parts: `open` are its texts, `length` what they come to, `fresh` words of theirs that
    `held` may not have.
    """

    size: int = 0
    blocks: list[tuple[str, int, int]] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    length: int = 0
    fresh: set[str] = field(default_factory=set)

    def add(self, text: str, words: Set[str] | None) -> None:
        self.size += len(text)
        if self.open and self.length + len(text) < BLOCK:
            self.open.append(text)
            self.length += 1 + len(text)
            self.fresh.update(tokens(text) if words is None else words)
            return
        self._close()
        self.open.clear()
        end = _end_of_block(text, 0)
        if end == len(text):
            self.open.append(text)
            self.length = end
            self.fresh.update(tokens(text) if words is None else words)
            self.blocks.append((text, 0, end))
            return
        start = 0
        while start < len(text):
            end = _end_of_block(text, start)
            self._note(tokens(text[start:end]), len(self.blocks))
            self.blocks.append((text, start, end))
            start = end

    def may_hold(self, words: Sequence[str]) -> bool:
        """Whether all the words were heard, wherever."""
        held, fresh = self.held, self.fresh
        for word in words:  # noqa: SIM110 - a plain loop is twice as fast
            if word not in held and word not in fresh:
                return False
        return True

    def holds(self, value: Sought, alone: Alone) -> bool:
        self._close()
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
        self._close()
        tries = _TRIES
        # The words of a spelling are not known, but its first one is some beginning of the value.
        for length in range(len(characters), 0, -1):
            first = characters[:length]
            if first not in self.held:
                continue
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
        self._close()
        return _Half(self.size, list(self.blocks), dict(self.held), list(self.open), self.length)

    def _close(self) -> None:
        """Makes one text of the parts of the last block, and notes their words."""
        if self.fresh:
            self._note(self.fresh, len(self.blocks) - 1)
            self.fresh.clear()
        if len(self.open) > 1:
            joined = SEPARATOR.join(self.open)
            self.open[:] = [joined]
            self.blocks[-1] = (joined, 0, len(joined))

    def _note(self, words: Set[str], block: int) -> None:
        bit = 1 << block
        held = self.held
        for word in words:
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
