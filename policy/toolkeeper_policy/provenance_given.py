"""Which words of a result had its call put in?

The arguments of a call wait with its result until somebody asks where a value comes from, which may
be never. So they wait as their canonical text, which nobody can change and whose size is known, and
are only read where the result repeats one of their words.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolkeeper_contract import canonical_text
from toolkeeper_policy.provenance_text import words_between_quotes, words_of

Leaf = str | int | float

MAX_GIVEN = 2_000
"""Values of one call that are looked up; more than that nobody tells from others."""

_DIGIT = re.compile("[0-9]")
_FRACTION = re.compile("[0-9][.e]")
"""Such a number may be looked for in another spelling than its canonical one."""


def packed(given: Any) -> str | None:
    """The arguments as they wait; None for none. What is no JSON waits as its texts and numbers."""
    if not given:
        return None
    try:
        return canonical_text(given)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(leaves(given))


def put_in(given: str, repeated: set[str]) -> list[tuple[Leaf | None, set[str]]]:
    """The values of packed arguments with which of the words `repeated` stand in them, where any.

    Of a value beyond MAX_GIVEN None is told instead. Raises RecursionError for what is too deep.
    """
    if given.isascii() and "\\" not in given:
        parts = given.split('"')
        bare = "".join(parts[::2])
        if not _DIGIT.search(bare) and len(parts) <= MAX_GIVEN:
            # Without escapes every second part is a text, and without numbers there is no more.
            return _repeating(parts[1::2], repeated, words_between_quotes(given))
        if not _FRACTION.search(bare) and repeated.isdisjoint(words_of(given)):
            return []
    values = leaves(json.loads(given))
    said = [str(value) if isinstance(value, str | int) else json.dumps(value) for value in values]
    found = _repeating(values[:MAX_GIVEN], repeated, map(words_of, said[:MAX_GIVEN]))
    beyond = _repeating(values[MAX_GIVEN:], repeated, map(words_of, said[MAX_GIVEN:]))
    return [*found, *((None, own) for _, own in beyond)]


def _repeating(
    values: Sequence[Leaf], repeated: set[str], spoken: Iterable[list[str]]
) -> list[tuple[Leaf | None, set[str]]]:
    found: list[tuple[Leaf | None, set[str]]] = []
    for value, words in zip(values, spoken, strict=True):
        own = repeated.intersection(words)
        if own:
            found.append((value, own))
    return found


def leaves(value: Any) -> list[Leaf]:
    """Every text and number in a JSON value, keys included."""
    found: list[Leaf] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            pending.extend(item.values())
            pending.extend(item)
        elif isinstance(item, list | tuple):
            pending.extend(item)
        elif isinstance(item, int | float):
            if not isinstance(item, bool):
                found.append(item)
        elif isinstance(item, Mapping):
            pending.extend(item.values())
            pending.extend(item.keys())
    return found
