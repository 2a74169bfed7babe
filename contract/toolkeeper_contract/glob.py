"""Does a written pattern name this tool?

`*` stands for any characters, dots included; there is no other metacharacter, and a pattern
without a `*` is an exact, case-sensitive name.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_PATTERN = re.compile(r"[A-Za-z0-9_.*-]+")


def is_pattern(pattern: str) -> bool:
    """Whether every character could stand in a name (others are errors)."""
    return _PATTERN.fullmatch(pattern) is not None


def is_literal(pattern: str) -> bool:
    """Whether the pattern is one exact name."""
    return "*" not in pattern


def matches(pattern: str, name: str) -> bool:
    """Whether `pattern` names `name`."""
    if "*" not in pattern:
        return pattern == name
    return _compiled(pattern).fullmatch(name) is not None


def any_matches(patterns: Iterable[str], name: str) -> bool:
    """Whether one of `patterns` names `name`."""
    return any(matches(pattern, name) for pattern in patterns)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Between two stars the first place that fits is as good as any, so the matcher never needs to
    # back up there: `*a*a*a*a*b` takes no longer than its length says.
    first, *middle, last = (re.escape(part) for part in re.split(r"\*+", pattern))
    inner = "".join(f"(?>(?s:.*?){part})" for part in middle)
    return re.compile(f"{first}{inner}(?s:.*){last}")
