"""Of which words is a condition made?"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

MAX_CHARACTERS = 4_096
"""How long a condition may be; a longer one is several rules."""

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*)
    | (?P<text>
          (?P<raw>[rR][bB]?|[bB][rR])(?:\"{3}.*?\"{3}|'{3}.*?'{3}|\"[^\"\n]*\"|'[^'\n]*')
        | [bB]?(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}
                 |\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')
      )
    | (?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?|\d+[uU]?)
    | (?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
    | (?P<mark>&&|\|\||<=|>=|==|!=|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))"
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Word(Enum):
    """What a token is."""

    TEXT = "text"
    NUMBER = "number"
    NAME = "name"
    MARK = "mark"
    END = "end"


class ConditionFault(ValueError):
    """A condition that may not stand there; `hint` says what to write instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Token:
    """One word and where it stands (0-based characters)."""

    word: Word
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens(condition: str) -> Iterator[Token]:
    """The words of `condition`, the end last; raises ConditionFault for what is none."""
    if len(condition) > MAX_CHARACTERS:
        raise ConditionFault(
            f"the condition is longer than {MAX_CHARACTERS:,} characters",
            "split it into several rules",
        )
    at = 0
    while at < len(condition):
        found = _TOKEN.match(condition, at)
        if found is None:
            char = condition[at]
            shown = char if char.isprintable() else "?"
            raise ConditionFault(f"the condition has an unreadable `{shown}` at character {at + 1}")
        kind = found.lastgroup if found.lastgroup != "raw" else "text"
        if kind != "space":
            yield Token(Word(kind), found.group(), at)
        at = found.end()
    yield Token(Word.END, "", at)


def literal_text(token: str) -> str | bytes:
    """The text (or bytes) that a quoted token stands for; raises ConditionFault."""
    prefix = token[: len(token) - len(token.lstrip("rRbB"))].lower()
    body = token[len(prefix) :]
    quotes = 3 if body[:3] in ('"""', "'''") and len(body) >= 6 else 1
    body = body[quotes:-quotes]
    if "r" not in prefix:
        body = _ESCAPE.sub(_unescaped, body)
    return body.encode("utf-8", "surrogatepass") if "b" in prefix else body


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is not None:
        number = int(code, 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise ConditionFault("the condition has an escape that is no character")
        return chr(number)
    if found[4] is not None:
        return chr(int(found[4], 8))
    return _PLAIN.get(found[5], found[5])
