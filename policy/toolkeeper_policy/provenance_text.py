"""When are two spellings the same words, and where does a word end?

Text is compared without regard to case, to runs of white space, to compatibility forms of Unicode
(NFKC) and to the style of its quotes. `ß` is not `ss`: those two name different hosts.
"""

import re
from collections.abc import Set
from itertools import islice
from unicodedata import category, normalize

SEPARATOR = "\0"
"""Stands between texts that were heard apart; no normalised text holds it."""

_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb", '\'\'\'\'""""""'
)
_FEW = 8
"""Words of which it is quicker to look for each."""

_QUOTE = re.compile("[\u2018-\u201f\u00ab\u00bb]")
_SLICE = 16_384
_GROWTH = 3
_BLANK = re.compile(r"\s")
_AROUND_LEFT = " \t\"'`([{<,;:!?|*"
_AROUND_RIGHT = " \t\"'`)]}>,;:!?.|*"
_WIDE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no space between words: where they meet another script, a word ends."""

TOKEN = re.compile(rf"[{_WIDE}]+|[^\W{_WIDE}]+")
"""A run of letters, digits and underscores of one kind of script."""

_WIDE_CHARACTER = re.compile(f"[{_WIDE}]")
_LEFT_JOINERS = frozenset(".-_+@/\\#%&~',")
_RIGHT_JOINERS = frozenset(".-_+@/\\#%&~',:=?")
# INVARIANT: what joins a piece is a joiner on both sides, so no value ends inside a piece.
_PIECE = re.compile(rf"[{_WIDE}]+|(?:[^\W{_WIDE}]++|[.@+\-/\\~%#']++)+")
_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or chr(code) == "_") else 32
    for code in range(256)
)
"""What each byte of ASCII text is once it is in lower case and all but words is blank."""

_ASCII_QUOTED = bytes(code if code == 34 else _ASCII_WORDS[code] for code in range(256))


def normalised(text: str) -> str:
    """`text` in the form in which it is compared; without its end where it grows beyond measure."""
    return _normalised(text)[0]


def whole(value: str) -> str:
    """A value in the form in which it is looked for: without the quotes and stops around it.

    Empty for one that has no such form.
    """
    text, complete = _normalised(value)
    return text.lstrip(_AROUND_LEFT).rstrip(_AROUND_RIGHT) if complete else ""


def _normalised(text: str) -> tuple[str, bool]:
    """The form in which `text` is compared, and whether it is the whole of it."""
    if text.isascii():
        return _spaced(text.lower()), True
    if len(text) <= _SLICE:
        return _spaced(_folded(text)), True
    # One character can stand for eighteen, so the work is bounded by what comes out.
    parts: list[str] = []
    left = _GROWTH * len(text)
    start = 0
    while start < len(text) and left > 0:
        cut = start + _SLICE
        blank = _BLANK.search(text, cut, cut + _SLICE)
        end = blank.start() if blank else cut
        parts.append(_folded(text[start:end]))
        left -= len(parts[-1])
        start = end
    return _spaced("".join(parts)), start >= len(text)


def _folded(text: str) -> str:
    # Lowering can undo the composition, so it is done once more.
    folded = normalize("NFKC", normalize("NFKC", text).lower())
    return folded.translate(_QUOTES) if _QUOTE.search(folded) else folded


def _spaced(text: str) -> str:
    return " ".join(text.replace(SEPARATOR, " ").split())


def tokens(text: str) -> set[str]:
    """The words of a normalised text."""
    if text.isascii():
        return set(text.encode().translate(_ASCII_WORDS).decode().split())
    return set(TOKEN.findall(text))


def words_of(text: str) -> list[str]:
    """The words of any text, in order, as they stand in its normalised form."""
    if text.isascii():
        # White space of any kind and length only separates words here.
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return TOKEN.findall(normalised(text))


def words_between_quotes(text: str) -> list[list[str]]:
    """The words of each text that stands in double quotes in this ASCII text."""
    return [
        each.split() for each in text.encode().translate(_ASCII_QUOTED).decode().split('"')[1::2]
    ]


def first_words(text: str, most: int) -> tuple[tuple[str, ...], int]:
    """At most `most` of the first words of a normalised text, and where the first one begins."""
    if text.isascii():
        words = text.encode().translate(_ASCII_WORDS).decode().split(None, most)[:most]
        return tuple(words), text.find(words[0]) if words else 0
    found = list(islice(TOKEN.finditer(text), most))
    return tuple(match.group() for match in found), found[0].start() if found else 0


def without(text: str, words: Set[str]) -> str:
    """A normalised text without the runs that are made of `words` alone.

    No value whose every word is one of `words` can be found in it.
    """

    def kept(match: re.Match[str]) -> str:
        piece = match.group()
        own = tokens(piece.removesuffix("'s"))
        return SEPARATOR if own and own <= words else piece

    # No run goes beyond a blank, and most stretches between two are no more than a word.
    stretches = text.split(" ")
    left = {stretch: stretch for stretch in stretches}
    several = [each for each in left.keys() - words if not (each.isalnum() and each.isascii())]
    if len(words) <= _FEW:
        several = [each for each in several for word in words if word in each]
    for stretch in several:
        left[stretch] = _PIECE.sub(kept, stretch)
    left.update(dict.fromkeys(left.keys() & words, SEPARATOR))
    return " ".join([left[stretch] for stretch in stretches])


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a whole value there and not a part of a longer one.

    `13` in `June 13` stands alone by this rule, `ana` in `banana` and `bob@example.com` in
    `jim.bob@example.com` or `bob@example.com.org` do not.
    """
    return _free_before(text, start) and _free_after(text, end)


def _free_before(text: str, start: int) -> bool:
    if start == 0:
        return True
    before, first = text[start - 1], text[start]
    if _joined(before, first):
        return False
    if before in "/\\~." or (before == "-" and first.isdigit()):
        # `/etc/passwd` is not `etc/passwd`, `.env` is not `env`, and -5 is not 5.
        return False
    if before == ":" and first.isdigit() and start > 1 and text[start - 2].isdigit():
        return False
    at = start - 1
    while at >= 0 and text[at] in _LEFT_JOINERS:
        at -= 1
    if at == start - 1 or at < 0:
        return True
    if text[start - 1] == "," and not (first.isdigit() and text[start - 2].isdigit()):
        return True
    return not _is_word(text[at])


def _free_after(text: str, end: int) -> bool:
    size = len(text)
    if end >= size:
        return True
    last, after = text[end - 1], text[end]
    if _joined(last, after):
        return False
    if text.startswith("'s", end) and (end + 2 >= size or not _is_word(text[end + 2])):
        return True
    at = end
    while at < size and text[at] in _RIGHT_JOINERS:
        at += 1
    if at == end or at >= size:
        return True
    if after == "," and not (last.isdigit() and text[end + 1].isdigit()):
        return True
    return not _is_word(text[at])


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word."""
    if not (_is_word(left) and _is_word(right)):
        return False
    return bool(_WIDE_CHARACTER.match(left)) is bool(_WIDE_CHARACTER.match(right))


def _is_word(character: str) -> bool:
    # A mark that combines with the letter before it is a part of that word.
    return (
        character.isalnum()
        or character == "_"
        or (character > "\x7f" and category(character).startswith("M"))
    )
