"""What is different about a tool's definition since it was accepted?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolkeeper_contract import ToolDefinition, canonical_text
from toolkeeper_index import clean

MAX_CHARACTERS = 1000
MAX_PLACES = 20

_TEXTS = ("title", "description")
_OBJECTS = ("input_schema", "output_schema", "annotations")


def change(was: ToolDefinition | None, now: ToolDefinition) -> dict[str, Any]:
    """The fields that differ, each with its difference, as JSON.

    `title` and `description` with both texts (cleaned, at most 1,000 characters each), the schemas
    and annotations with JSON pointers to what was added, removed and changed (at most 20 of each
    kind, with `more` for the rest). Without `was` (a new tool, or one whose accepted definition
    was not kept) only its words are told.
    """
    if was is None:
        return {
            field: {"was": None, "now": _shown(getattr(now, field))}
            for field in _TEXTS
            if getattr(now, field)
        }
    found: dict[str, Any] = {
        field: {"was": _shown(getattr(was, field)), "now": _shown(getattr(now, field))}
        for field in _TEXTS
        if getattr(was, field) != getattr(now, field)
    }
    for field in _OBJECTS:
        before, after = getattr(was, field), getattr(now, field)
        if canonical_text(before) != canonical_text(after):
            found[field] = _places(before, after)
    return found


def _shown(text: str | None) -> str | None:
    if text is None:
        return None
    cleaned = clean(text)
    return cleaned if len(cleaned) <= MAX_CHARACTERS else f"{cleaned[:MAX_CHARACTERS]}..."


def _places(before: Any, after: Any) -> dict[str, Any]:
    found: dict[str, list[str]] = {"added": [], "removed": [], "changed": []}
    for kind, pointer in _differences(before, after, ""):
        found[kind].append(_shown(pointer) or "")
    told: dict[str, Any] = {kind: each[:MAX_PLACES] for kind, each in found.items() if each}
    more = sum(max(0, len(each) - MAX_PLACES) for each in found.values())
    return {**told, "more": more} if more else told


def _differences(before: Any, after: Any, at: str) -> Iterator[tuple[str, str]]:
    """Kind and pointer of each place that differs, in the order of the keys."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            pointer = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in after:
                yield "removed", pointer
            elif key not in before:
                yield "added", pointer
            else:
                yield from _differences(before[key], after[key], pointer)
    elif _is_list(before) and _is_list(after) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _differences(left, right, f"{at}/{index}")
    elif canonical_text(before) != canonical_text(after):
        # By the text: `1`, `1.0` and `true` are equal to Python, and not to a reader of a schema.
        yield "changed", at


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
