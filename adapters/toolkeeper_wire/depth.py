"""How deep may a JSON value be that goes on the wire?"""

from typing import Any

DEEPEST = 256
"""Levels of nesting; encoders, clients and providers give up beyond a few hundred."""


def is_shallow(value: Any) -> bool:
    """Whether `value` has no more levels than that; any depth is measured without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False
