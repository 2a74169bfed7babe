"""Where in a text does a secret follow its key?

`key=value`, `key: value`, `"key": "value"`, headers, `.env` lines, command-line flags, XML elements
and connection strings, also where quotes are escaped because the text is JSON inside JSON.
"""

import re
from collections.abc import Iterator

from toolkeeper.runtime.secret_key import SecretKeys
from toolkeeper.runtime.secret_shape import MASK

# A key starts where a word starts and is taken whole (possessively), so nothing is tried twice.
_ASSIGNMENT = re.compile(
    r"(?<![\w.-])-{0,2}+(\w[\w.-]{0,127}+)"
    r"(\\{0,8}+[\"'`]?+\]?+)[ \t]{0,8}+(:?={1,3}+>?|:)[ \t]{0,8}+"
)
_FLAG = re.compile(r"(?<![\w-])--(\w[\w-]{0,127}+)[ \t]{1,4}+(?=[^\s-])")
_ELEMENT = re.compile(r"<([\w.:-]{1,128}+)(?:\s[^<>]{0,200}+)?>(?=[^<\s])")
_BEFORE = re.compile(r"(?:[\w.-]{1,32}[ \t]{1,2}){1,2}\Z")
_OPENING = re.compile(r"(\\{0,8}+)([\"'`])")
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*(?:[-*>#] +)?(?:(?:export|set|SET|ENV|env) +)?\Z")
_ENV_END = re.compile(r"\s")
_BARE_END = re.compile(r"[\s&;\"'`<>\\]")
_JSON_END = re.compile(r"[\s,}\]]")
_HEADER_END = re.compile(r"[\"'`\\]")
_HEADERS = ("authorization", "cookie")
_ADDRESS = ("http://", "https://")
_NO_ADDRESS = ("password", "passwords", "passcode", "passphrase")
_PLAIN = frozenset(
    (
        "str", "string", "bytes", "int", "integer", "float", "number", "bool", "boolean", "true",
        "false", "null", "none", "nil", "undefined", "any", "optional", "required", "object",
        "array", "list", "dict",
    )
)  # fmt: skip
"""Words that describe a value instead of being one, as in `def login(password: str)`."""

_PROSE = 8
"""A line with more words than this is a sentence about a secret, not a secret."""


def assignments(text: str, keys: SecretKeys) -> list[tuple[int, int]]:
    """Start and end of every value in `text` whose key is a secret's, in order."""
    marked = "=" in text or ":" in text or "--" in text or "</" in text
    if not marked or not keys.may_stand_in(text):
        return []
    scanner = _Scanner(text)
    return sorted(
        [
            *_assigned(text, keys, scanner),
            *_flagged(text, keys, scanner),
            *_enclosed(text, keys),
        ]
    )


def _assigned(text: str, keys: SecretKeys, scanner: "_Scanner") -> Iterator[tuple[int, int]]:
    done = 0
    for match in _ASSIGNMENT.finditer(text):
        if match.start() < done:
            continue
        start = match.start(1)
        if not keys.covers(match[1]) and not (
            keys.may_end(match[1]) and keys.ends(_with_words_before(text, start, match[1]))
        ):
            continue
        span = scanner.value(match)
        if span is not None:
            done = span[1]
            yield span


def _flagged(text: str, keys: SecretKeys, scanner: "_Scanner") -> Iterator[tuple[int, int]]:
    if "--" not in text:
        return
    for match in _FLAG.finditer(text):
        if keys.covers(match[1]):
            span = scanner.flag(match.end())
            if span is not None:
                yield span


def _enclosed(text: str, keys: SecretKeys) -> Iterator[tuple[int, int]]:
    if "</" not in text:
        return
    for match in _ELEMENT.finditer(text):
        if keys.covers(match[1].rpartition(":")[2]):
            end = text.find("</", match.end())
            if end > 0 and text[match.end() : end] != MASK:
                yield match.end(), end


def _with_words_before(text: str, start: int, key: str) -> str:
    """The key with the one or two words before it: `API` and `key`."""
    before = _BEFORE.search(text[max(0, start - 68) : start])
    return (before[0] if before else "") + key


class _Scanner:
    """Finds the ends of values; remembers what it searched, so that no text is searched twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newline = -1
        self._unclosed: set[str] = set()

    def value(self, match: re.Match[str]) -> tuple[int, int] | None:
        """The span of the value after an assignment; None where none has to be masked."""
        text, start = self._text, match.end()
        span = self.quoted(start)
        if span is not None or _OPENING.match(text, start):
            return span
        if match[2].endswith(('"', "'", "`")):
            return self.bare(start, _JSON_END)
        if text.startswith(_ADDRESS, start) and match[1].lower().endswith(_NO_ADDRESS):
            return None  # "to reset your password: https://..."; its own secrets have a shape
        if text.startswith("{", start):
            return None  # the keys in it speak for themselves
        if text.startswith("[", start) and not text.startswith(MASK, start):
            return self._list(start)
        begins_line = _LINE_START.search(text[max(0, match.start() - 40) : match.start()])
        if begins_line and "\n" not in begins_line[0] and match.start() > 40:
            begins_line = None
        if ":" in match[3]:
            header = match[1].lower().endswith(_HEADERS)
            if header and not begins_line:
                return self._line(start, _HEADER_END)
            if begins_line and (header or self._few_words(start)):
                return self._line(start, None)
        # In an `.env` file a value may hold what ends one elsewhere.
        return self.bare(start, _ENV_END if begins_line else _BARE_END)

    def flag(self, start: int) -> tuple[int, int] | None:
        """The span of the value after a command-line flag."""
        if _OPENING.match(self._text, start):
            return self.quoted(start)
        return self.bare(start, _ENV_END)

    def quoted(self, start: int) -> tuple[int, int] | None:
        """The inside of the quotes that open at `start`; up to the line's end when unclosed."""
        text = self._text
        opening = _OPENING.match(text, start)
        if opening is None:
            return None
        begin, end = opening.end(), self._close(opening)
        if begin >= end or text[begin:end] == MASK:
            return None
        return begin, end

    def bare(self, start: int, ending: re.Pattern[str]) -> tuple[int, int] | None:
        """The span of a value without quotes."""
        text = self._text
        # A mask holds a bracket, which ends some values.
        stop = ending.search(text, start + len(MASK) * text.startswith(MASK, start))
        value = text[start : stop.start() if stop else len(text)]
        rest = value.removeprefix(MASK).strip(",)]}.")
        if value.startswith(MASK) and not rest:
            return None
        if not value.startswith(MASK):
            value = value.rstrip(",)]}.") or value
        if value.lower() in _PLAIN or not value.strip("*•.-_,"):
            return None
        return start, start + len(value)

    def _close(self, opening: re.Match[str]) -> int:
        text, mark, at = self._text, opening[0], opening.end()
        if mark not in self._unclosed:
            while True:
                at = text.find(mark, at)
                if at < 0:
                    self._unclosed.add(mark)
                    break
                slashes = 0
                while slashes < at and text[at - slashes - 1] == "\\" and slashes < 64:
                    slashes += 1
                # As many backslashes before the quote as opened it, or a pair of them more.
                if len(mark) > 1 or slashes % 2 == 0 or at - slashes < opening.end():
                    return at
                at += 1
        return self._line_end(opening.end())

    def _line(self, start: int, ending: re.Pattern[str] | None) -> tuple[int, int] | None:
        end = self._line_end(start)
        stop = ending.search(self._text, start, end) if ending else None
        value = self._text[start : stop.start() if stop else end].rstrip()
        if value == MASK or value.lower() in _PLAIN or not value.strip("*•.-_,"):
            return None
        return start, start + len(value)

    def _list(self, start: int) -> tuple[int, int]:
        end = self._line_end(start)
        close = self._text.find("]", start, end)
        return start, close + 1 if close >= 0 else end

    def _few_words(self, start: int) -> bool:
        return len(self._text[start : min(self._line_end(start), start + 2_000)].split()) <= _PROSE

    def _line_end(self, start: int) -> int:
        if self._newline < start:
            found = self._text.find("\n", start)
            self._newline = found if found >= 0 else len(self._text)
        return self._newline
