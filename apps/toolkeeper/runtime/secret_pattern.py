"""What do the operator's own patterns find?

They run in RE2, whose time is linear in the text whatever the pattern is; what RE2 cannot take
(look-around, back-references) is refused when the configuration is loaded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2  # type: ignore[import-untyped]

MAX_PATTERN = 2_000
"""Characters of one pattern."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern; all that it matches is a secret."""

    _compiled: Any

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end, in characters, of each match that is not empty."""
        if not text.isascii():
            # No UTF-8 can carry half a pair; a stand-in of the same length keeps the positions.
            text = _SURROGATE.sub("\ufffd", text)
        for match in self._compiled.finditer(text):
            start, end = match.span()
            if start < end:
                yield start, end


def compiled(pattern: str) -> Pattern:
    """The pattern, ready to run; raises ValueError for one that `pattern_fault` tells about."""
    fault = pattern_fault(pattern)
    if fault:
        raise ValueError(fault[0])
    return Pattern(_compile(pattern))


def pattern_fault(pattern: str) -> tuple[str, str] | None:
    """What is wrong with a pattern and what to do about it; None when it can be used."""
    if len(pattern) > MAX_PATTERN:
        return f"the pattern is longer than {MAX_PATTERN:,} characters", "split it into several"
    try:
        found = _compile(pattern)
    except (re2.error, UnicodeEncodeError):
        return "the pattern is not a valid regular expression", _advice(pattern)
    if found.search("") is not None:
        return "the pattern matches the empty text", "demand at least one character"
    return None


def _advice(pattern: str) -> str:
    if re.search(r"\(\?<?[=!]|\\[1-9]|\(\?P=", pattern):
        return "patterns are RE2's, without look-around and back-references"
    return "check its brackets, braces and backslashes; patterns are RE2's"


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
