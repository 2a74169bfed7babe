"""Which parameters does an input schema have, and which of them must be given?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import is_parameter_name

_MAX_DEPTH = 8
_MAX_PARTS = 64


@dataclass(frozen=True, slots=True)
class Parameters:
    """Names by the order in which an index line shows them.

    `required` in the schema's own order, which is that of an array and so survives permuted keys;
    `optional` sorted. `unnamed` counts names outside the alphabet, which are never shown.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...]
    unnamed: int = 0


def parameters(schema: Any) -> Parameters:
    """The parameters of `schema`, whatever it looks like; never raises.

    Looks through a local `$ref` at the root, joins `allOf`, and takes from `anyOf` and `oneOf`
    every name, required only where all branches require it.
    """
    names, required = _collected(schema, schema, _MAX_DEPTH, [_MAX_PARTS])
    ordered = tuple(name for name in required if is_parameter_name(name))
    known = set(ordered)
    optional = tuple(
        sorted(name for name in names if name not in known and is_parameter_name(name))
    )
    everything = {*names, *required}
    return Parameters(ordered, optional, len(everything) - len(ordered) - len(optional))


def property_schemas(schema: Any) -> dict[str, Any]:
    """Each named property of `schema` at the root with its own schema, in sorted order."""
    names, _ = _collected(schema, schema, _MAX_DEPTH, [_MAX_PARTS])
    return dict(sorted(names.items()))


def _collected(
    schema: Any, root: Any, depth: int, budget: list[int]
) -> tuple[dict[str, Any], dict[str, None]]:
    """Properties by name, and the required names in order."""
    names: dict[str, Any] = {}
    required: dict[str, None] = {}
    if not isinstance(schema, Mapping) or depth == 0 or budget[0] <= 0:
        return names, required
    budget[0] -= 1
    own = schema.get("properties")
    if isinstance(own, Mapping):
        for name, inner in own.items():
            if isinstance(name, str):
                names[name] = inner
    asked = schema.get("required")
    if isinstance(asked, list | tuple):
        required.update((name, None) for name in asked if isinstance(name, str))
    # Before draft-04 `required` was a boolean on the property; real servers still send it.
    required.update(
        (name, None)
        for name, inner in sorted(names.items())
        if isinstance(inner, Mapping) and inner.get("required") is True
    )
    for part in [_target(schema.get("$ref"), root), *_parts(schema, "allOf")]:
        more, also = _collected(part, root, depth - 1, budget)
        names = {**more, **names}
        required.update(also)
    for keyword in ("anyOf", "oneOf"):
        branches = [_collected(part, root, depth - 1, budget) for part in _parts(schema, keyword)]
        for more, _ in branches:
            names = {**more, **names}
        if branches:
            first, *rest = (also for _, also in branches)
            required.update((name, None) for name in first if all(name in also for also in rest))
    return names, required


def _parts(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    parts = schema.get(keyword)
    return list(parts) if isinstance(parts, list | tuple) else []


def _target(reference: Any, root: Any) -> Any:
    """What a local JSON pointer leads to, or None."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    value = root
    for step in reference[2:].split("/"):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step.replace("~1", "/").replace("~0", "~"))
    return value
