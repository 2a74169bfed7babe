"""What is left of somebody's text when nothing in it can hide, redraw or reorder?"""

import re
from collections.abc import Callable, Iterator

from toolkeeper_contract import Json, canonical_text
from toolkeeper_index.characters import (
    ANSI,
    BREAK,
    DEPENDENT,
    REMOVED,
    REPLACED,
    SURROGATE,
    SUSPECT,
    SUSPECT_ASCII,
    is_joining,
    is_picture,
    selects,
)

_SPACES = re.compile(r"[\s\u2800]+")
_ESCAPE = "\\u{"
_SKIN_TONES = ("\U0001f3fb", "\U0001f3ff")
_MEANINGLESS = "\ufffd"


def clean(text: str) -> str:
    """`text` for a prompt or a tools array.

    Removed: ANSI escapes, control characters but tab and newline, bidi controls, tag characters,
    invisible characters, joiners and variation selectors that their neighbours do not need.
    Replaced: every line break by a newline, U+200B by a space, a lone surrogate by U+FFFD.
    Cleaning twice changes nothing more.
    """
    if not _is_suspect(text):
        return text
    text = ANSI.sub("", text)
    text = REMOVED.sub("", text)
    text = BREAK.sub("\n", text).replace("\u200b", " ")
    text = SURROGATE.sub(_MEANINGLESS, text)
    if DEPENDENT.search(text) is None:
        return text
    return "".join(character for character, kept in _dependents(text) if kept)


def clean_line(text: str) -> str:
    """`text` cleaned and on one line: every run of white space is one space."""
    return _SPACES.sub(" ", clean(text)).strip()


def removals(text: str) -> int:
    """How many characters `clean` drops; what it replaces does not count."""
    return len(BREAK.sub("\n", text)) - len(clean(text))


def visible(text: str) -> str:
    """`text` for an approval card or a terminal: nothing is dropped.

    What `clean` would remove or replace is shown as an escape such as `\\u{202E}`; newlines and
    tabs stay. A written `\\u{` gets its backslash escaped, so that the form cannot be forged.
    """
    if not _is_suspect(text) and _ESCAPE not in text:
        return text
    return _shown(text.replace(_ESCAPE, "\\u{5C}u{"), lambda code: f"\\u{{{code:X}}}")


def json_text(value: Json) -> str:
    """The canonical JSON of `value` as one line for a prompt.

    Characters that `clean` would remove or replace stand as JSON escapes, so that nothing is lost
    and nothing can hide: for schemas, whose names and values may not change. Raises like
    `canonical_bytes` for what JSON cannot carry.
    """
    text = canonical_text(value)
    return _shown(text, _json_escape) if _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    return (SUSPECT_ASCII if text.isascii() else SUSPECT).search(text) is not None


def _json_escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _shown(text: str, escape: Callable[[int], str]) -> str:
    """`text` with an escape for each character that does not simply stay."""

    def escaped(match: re.Match[str]) -> str:
        return escape(ord(match.group()))

    text = REPLACED.sub(escaped, text)
    return "".join(
        character if kept else escape(ord(character)) for character, kept in _dependents(text)
    )


def _dependents(text: str) -> Iterator[tuple[str, bool]]:
    """Each character with whether it stays; only joiners and selectors can go."""
    before = ""  # the last character that stayed
    base = ""  # the same, but variation selectors and skin tones do not count
    for position, character in enumerate(text):
        if DEPENDENT.match(character) is None:
            before = character
            if not _SKIN_TONES[0] <= character <= _SKIN_TONES[1] or not is_picture(base):
                base = character
            yield character, True
            continue
        after = _next_base(text, position)
        if character in "\u200c\u200d":
            kept = before != "" and before not in "\u200c\u200d" and _joins(character, base, after)
        else:
            kept = before != "" and selects(character, before, after)
        if kept:
            before = character
        yield character, kept


def _joins(joiner: str, before: str, after: str) -> bool:
    if joiner == "\u200d" and is_picture(before) and is_picture(after):
        return True
    return is_joining(before) or is_joining(after)


def _next_base(text: str, position: int) -> str:
    for character in text[position + 1 : position + 64]:
        if DEPENDENT.match(character) is None:
            return character
    return ""
