"""Which parts of a JSON document are schemas, and what do they refer to?

Property names, enum values and defaults may look like keywords (a parameter called `$ref`), so a
schema can only be read by following the keywords that hold schemas.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from toolkeeper_contract import NAMED_SCHEMAS, ONE_SCHEMA, SCHEMA_LIST
from toolkeeper_sources.limits import SchemaLimits

IN_PLACE = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""The keywords whose schemas judge the same value, so that a loop through them never ends."""


@dataclass(frozen=True, slots=True)
class Child:
    """A schema inside a schema: under which keyword, and at which path from its parent."""

    keyword: str
    path: tuple[str, ...]
    schema: dict[str, Any]


def children(schema: Mapping[str, Any]) -> Iterator[Child]:
    """The schemas that stand directly inside `schema`; booleans hold nothing and are left out."""
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword in ONE_SCHEMA:
                yield Child(keyword, (keyword,), value)
            elif keyword in NAMED_SCHEMAS:
                for name, item in value.items():
                    if isinstance(item, dict):
                        yield Child(keyword, (keyword, name), item)
        elif isinstance(value, list) and keyword in SCHEMA_LIST:
            for position, item in enumerate(value):
                if isinstance(item, dict):
                    yield Child(keyword, (keyword, str(position)), item)


def oversize(schema: Mapping[str, Any], limits: SchemaLimits) -> str | None:
    """Why `schema` is too big to be looked at any closer, or no JSON at all; None when it is not.

    Walks without recursion, so that neither depth nor a loop of Python objects can harm it.
    """
    count = 0
    level: list[Any] = [schema]
    for _ in range(limits.depth):
        below: list[Any] = []
        for node in level:
            items: Any = node
            if isinstance(node, dict):
                if not all(isinstance(key, str) for key in node):
                    return "the schema has a key that is not a string"
                count += len(node)
                items = node.values()
            count += len(items)
            for item in items:
                if isinstance(item, dict | list):
                    below.append(item)
                elif item is not None and not isinstance(item, str | bool | int | float):
                    return "the schema holds a value that is not json"
                elif isinstance(item, float) and not isfinite(item):
                    return "the schema holds a number that json does not have"
            if count > limits.nodes:
                return f"the schema has more than {limits.nodes:,} nodes"
        if not below:
            return None
        level = below
    return f"the schema is nested deeper than {limits.depth} levels"
