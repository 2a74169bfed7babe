"""Which form of an input schema does a provider accept at the root of a definition?

Providers want a plain object with `properties` there; one that is not costs the whole request.
The projection is what the model reads; calls are always checked against the original.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolkeeper_contract import canonical_text
from toolkeeper_wire.dialect import modern
from toolkeeper_wire.subschema import local_target, without_dangling

ANY_NAME = re.compile(r"(?s:.*)")
PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The property names that Anthropic takes at the root of a schema."""

_REFUSED = (
    "allOf",
    "anyOf",
    "const",
    "dependentSchemas",
    "else",
    "enum",
    "if",
    "not",
    "oneOf",
    "then",
)
_NOTE_CAP = 1_000
_HOPS = 16
_BRANCHES = 200


def object_root(schema: Mapping[str, Any], names: re.Pattern[str] = ANY_NAME) -> dict[str, Any]:
    """`schema` in 2020-12 with a plain object at its root.

    The properties of dropped alternatives are kept, and what the alternatives demanded is told in
    the root's description. A property whose name does not fit `names` is told there as well.
    """
    root = _followed(modern(schema))
    dropped = {key: root.pop(key) for key in _REFUSED if key in root}
    notes: list[str] = []
    declared = root.get("properties")
    properties: dict[str, Any] = dict(declared) if isinstance(declared, Mapping) else {}
    required = _names(root.get("required"))
    if dropped:
        alternatives = _Alternatives(root)
        demanded = alternatives.collect(dropped)
        if root.get("additionalProperties") is not False:
            for name, schemas in alternatives.variants.items():
                if name not in properties:
                    properties[name] = _united(schemas)
        required.extend(sorted(demanded.difference(required)))
        notes.append(_note(dropped))
    for name in required:
        properties.setdefault(name, {})
    odd = sorted(name for name in properties if names.fullmatch(name) is None)
    if odd:
        parts = [f"`{name}`{' (required)' if name in required else ''}" for name in odd]
        notes.append(f"Further arguments: {', '.join(parts)}.")
        for name in odd:
            del properties[name]
        required = [name for name in required if name in properties]
        root.pop("additionalProperties", None)
    root["type"] = "object"
    root["properties"] = properties
    if required:
        root["required"] = required
    else:
        root.pop("required", None)
    if notes:
        described = root.get("description")
        before = [described] if isinstance(described, str) and described else []
        root["description"] = " ".join([*before, *notes])
    return without_dangling(root) if dropped else root


def _followed(root: dict[str, Any]) -> dict[str, Any]:
    """The root with a reference at its top replaced by what it points at."""
    seen = 0
    while "$ref" in root and seen < _HOPS:
        target = local_target(root, root["$ref"])
        rest = {key: value for key, value in root.items() if key != "$ref"}
        # What stands beside the reference holds as well; the target fills in the rest.
        root = {**(target or {}), **rest}
        seen += 1
    root.pop("$ref", None)
    return root


class _Alternatives:
    """What the alternatives at the root say of properties, and demand of every call."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _BRANCHES
        self.variants: dict[str, list[Any]] = {}

    def collect(self, part: Mapping[str, Any]) -> frozenset[str]:
        """The names that `part` demands; the properties that it describes go into `variants`."""
        demanded: set[str] = set()
        for branch in _branches(part.get("allOf")):
            demanded |= self._branch(branch)
        for key in ("anyOf", "oneOf"):
            found = [self._branch(branch) for branch in _branches(part.get(key))]
            if found:
                demanded |= frozenset.intersection(*found)
        for key in ("then", "else"):
            self._branch(part.get(key))
        dependent = part.get("dependentSchemas")
        if isinstance(dependent, Mapping):
            for branch in dependent.values():
                self._branch(branch)
        return frozenset(demanded)

    def _branch(self, branch: Any) -> frozenset[str]:
        # References may loop, and alternatives of alternatives multiply: so many and no more.
        if not isinstance(branch, Mapping) or self._left == 0:
            return frozenset()
        self._left -= 1
        schema = {**(local_target(self._root, branch.get("$ref")) or {}), **branch}
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            for name, inner in properties.items():
                self.variants.setdefault(name, []).append(inner)
        return frozenset(_names(schema.get("required"))) | self.collect(schema)


def _branches(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _united(schemas: Sequence[Any]) -> Any:
    """One schema for a property that several alternatives describe."""
    different = _distinct(schemas)
    if len(different) == 1:
        return different[0]
    constants: list[Any] = []
    for schema in different:
        values = schema.get("enum") if isinstance(schema, Mapping) else None
        if isinstance(schema, Mapping) and "const" in schema:
            values = [schema["const"]]
        if not isinstance(values, list):
            return {"anyOf": different}
        constants.extend(values)
    return {"enum": _distinct(constants)}


def _distinct(values: Sequence[Any]) -> list[Any]:
    # By their canonical text: Python holds 1 and True for equal, JSON does not.
    return list({canonical_text(value): value for value in values}.values())


def _names(value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    return [name for name in dict.fromkeys(value) if isinstance(name, str)]


def _note(dropped: Mapping[str, Any]) -> str:
    text = canonical_text(dropped)
    if len(text) > _NOTE_CAP:
        return "Which arguments go together is checked when the tool is called."
    return f"The arguments must also fit this JSON Schema: {text}"
