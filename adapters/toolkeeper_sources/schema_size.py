"""Is a schema small enough to be looked at any closer?"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from toolkeeper_sources.limits import SchemaLimits


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
