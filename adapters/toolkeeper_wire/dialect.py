"""How does a schema of an older dialect read in JSON Schema 2020-12, which providers expect?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_wire.subschema import rebuilt

_IGNORES_SIBLINGS = ("draft-03", "draft-04", "draft-06", "draft-07")
_BESIDE_REFERENCE = frozenset({"$ref", "description", "title", "$defs", "definitions"})
_OLD = frozenset(
    {
        "$ref",
        "$schema",
        "additionalItems",
        "dependencies",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "id",
        "items",
    }
)
"""A schema with none of these words reads the same in every dialect, unless it is of arrays."""


def modern(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `schema` in the words of 2020-12; what it accepts stays the same.

    Handles boolean `exclusiveMinimum`, lists under `items`, `additionalItems`, `dependencies`,
    `id`, keywords beside a `$ref` (which older drafts ignore), and booleans as schemas. `$schema`
    is dropped, and an array says `items`, because a provider refuses one that does not.
    """
    dialect = schema.get("$schema")
    lonely = isinstance(dialect, str) and any(old in dialect for old in _IGNORES_SIBLINGS)
    fourth = isinstance(dialect, str) and "draft-04" in dialect

    def convert(part: dict[str, Any]) -> dict[str, Any]:
        if _OLD.isdisjoint(part) and not _holds_arrays(part.get("type")):
            return part
        part.pop("$schema", None)
        if fourth and isinstance(part.get("id"), str):
            del part["id"]
        if lonely and isinstance(part.get("$ref"), str):
            part = {key: value for key, value in part.items() if key in _BESIDE_REFERENCE}
        _bounds(part, "minimum", "exclusiveMinimum")
        _bounds(part, "maximum", "exclusiveMaximum")
        _items(part)
        _dependencies(part)
        return part

    result = rebuilt(schema, convert)
    return result if isinstance(result, dict) else {}


def _bounds(part: dict[str, Any], plain: str, exclusive: str) -> None:
    value = part.get(exclusive)
    if not isinstance(value, bool):
        return
    del part[exclusive]
    if value and plain in part:
        part[exclusive] = part.pop(plain)


def _items(part: dict[str, Any]) -> None:
    if isinstance(part.get("items"), list):
        part["prefixItems"] = part.pop("items")
        if "additionalItems" in part:
            part["items"] = part["additionalItems"]
    part.pop("additionalItems", None)
    if "items" not in part and _holds_arrays(part.get("type")):
        part["items"] = {}


def _holds_arrays(kind: Any) -> bool:
    return kind == "array" or (isinstance(kind, list) and "array" in kind)


def _dependencies(part: dict[str, Any]) -> None:
    value = part.pop("dependencies", None)
    if not isinstance(value, dict):
        return
    names = {key: needs for key, needs in value.items() if isinstance(needs, list)}
    schemas = {key: needs for key, needs in value.items() if not isinstance(needs, list)}
    if names:
        part["dependentRequired"] = {**names, **part.get("dependentRequired", {})}
    if schemas:
        part["dependentSchemas"] = {**schemas, **part.get("dependentSchemas", {})}
