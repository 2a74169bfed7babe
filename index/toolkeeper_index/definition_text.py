"""Which form of a foreign description may stand in a tools array, where no envelope fits?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_index.cleaning import clean

DESCRIPTION_CAP = 4_096
"""Characters of one description that reach a tools array."""

_TEXTS = frozenset({"description", "title", "$comment"})
# What these hold is data of the schema, not schemas: a cleaned default would be another default.
_DATA = frozenset({"default", "const", "enum", "examples", "example", "required"})
# Under these the keys are names, so a property called `description` is a schema and not a text.
_NAMED = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)


def cleaned_definition_text(text: str, cap: int = DESCRIPTION_CAP) -> str:
    """`text` cleaned and cut to `cap` characters, the mark of the cut included."""
    # Far more than the cap is never looked at: descriptions of megabytes exist.
    whole = len(text) <= cap * 16
    cleaned = clean(text if whole else text[: cap * 16])
    return cleaned if whole and len(cleaned) <= cap else cut(cleaned, cap)


def cut(text: str, cap: int) -> str:
    """The first `cap` characters of `text` at most, ended by `…` and between two words if it can.

    A joiner at the cut goes with what it would have joined.
    """
    if cap < 2:
        return "…"[:cap]
    short = text[: cap - 1]
    space = max(short.rfind(" "), short.rfind("\n"))
    if space > len(short) * 3 // 4:
        short = short[:space]
    return short.rstrip(" \t\n\u200c\u200d") + "…"


def cleaned_schema(schema: Any, cap: int = DESCRIPTION_CAP) -> Any:
    """A copy of `schema` whose titles, descriptions and comments are cleaned and capped.

    Everything that validates stays equal, defaults and examples too. Any depth; any odd form is
    handed through as it is.
    """
    root: list[Any] = [schema]
    # A stack of (container, key, keys are names) instead of recursion: depth is the sender's.
    pending: list[tuple[Any, Any, bool]] = [(root, 0, False)]
    while pending:
        holder, key, named = pending.pop()
        value = holder[key]
        if isinstance(value, Mapping):
            copy: dict[Any, Any] = dict(value)
            holder[key] = copy
            for name, inner in copy.items():
                if named:
                    pending.append((copy, name, False))
                elif name in _TEXTS and isinstance(inner, str):
                    copy[name] = cleaned_definition_text(inner, cap)
                elif name not in _DATA:
                    pending.append((copy, name, name in _NAMED))
        elif isinstance(value, list | tuple):
            items = list(value)
            holder[key] = items
            pending.extend((items, position, False) for position in range(len(items)))
    return root[0]
