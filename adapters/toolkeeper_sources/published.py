"""What did a source publish: which tools may enter, and why not the others?"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from toolkeeper_contract import Listed, RefusedTool, ToolDefinition
from toolkeeper_sources.definition import DEFAULT_LIMITS, check_definition
from toolkeeper_sources.limits import MAX_NAME, SchemaLimits

NAMELESS = "?"
"""Stands for the name of an entry that has none."""

_TWICE = "the server lists two tools of this name"


def sorted_out(
    source: str,
    entries: Iterable[Any],
    *,
    twice: str = _TWICE,
    limits: SchemaLimits = DEFAULT_LIMITS,
) -> tuple[tuple[Listed, ...], tuple[RefusedTool, ...]]:
    """The tools of `entries` by raw name, and the refused ones with their reasons.

    `entries` are tool objects as they came, in camel or snake case. Every entry ends in one of the
    two. Of tools that share a name none is taken: the first may be the impostor.
    """
    rows = list(entries)
    names = Counter(name for row in rows if isinstance(name := _name(row), str))
    listed: list[Listed] = []
    refused: list[RefusedTool] = []
    for row in rows:
        outcome = _definition(row)
        if isinstance(outcome, ToolDefinition):
            reason = twice if names[outcome.name] > 1 else check_definition(outcome, limits=limits)
            if reason is None:
                listed.append(Listed(outcome))
                continue
        else:
            reason = outcome
        refused.append(RefusedTool(source, _shown(_name(row)), reason))
    listed.sort(key=lambda item: item.definition.name)
    refused.sort(key=lambda item: item.name)
    return tuple(listed), tuple(refused)


def _definition(row: Any) -> ToolDefinition | str:
    if not isinstance(row, Mapping):
        return "the entry is not an object"
    name = _name(row)
    if not isinstance(name, str):
        return "the entry has no name"
    schema = _field(row, "inputSchema", "input_schema")
    if schema is None:
        return "the entry has no input schema"
    # An absent description is ordinary; `null` is what some servers write for it.
    description = row.get("description")
    return ToolDefinition(
        name=name,
        title=row.get("title"),
        description="" if description is None else description,
        input_schema=schema,
        output_schema=_field(row, "outputSchema", "output_schema"),
        annotations=_annotations(row.get("annotations")),
    )


def _annotations(annotations: Any) -> Any:
    # A null hint says nothing; published or not, it is the same tool.
    if isinstance(annotations, Mapping):
        return {key: value for key, value in annotations.items() if value is not None} or None
    return annotations


def _field(row: Mapping[str, Any], *spellings: str) -> Any:
    return next((row[key] for key in spellings if row.get(key) is not None), None)


def _name(row: Any) -> Any:
    if not isinstance(row, Mapping):
        return None
    # `raw_name` is how `toolkeeper tools --json` tells the raw name from the canonical one.
    return _field(row, "raw_name", "rawName", "name")


def _shown(name: Any) -> str:
    if not isinstance(name, str) or not name:
        return NAMELESS
    return name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…"
