"""Which part of a JSON Schema does Gemini understand?

It takes a subset and refuses a request for some of the rest, so everything else is left out: the
projection accepts more than the original, against which every call is checked.
"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_wire.subschema import is_pointer, rebuilt, without_dangling

_KNOWN = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    }
)
_FORMATS = frozenset({"date", "date-time", "time"})
_OLD_POINTER = "#/definitions/"


def gemini_subset(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with nothing in it but what Gemini knows; `const` is written as `enum`."""
    result = rebuilt(schema, _reduced)
    return without_dangling(result) if isinstance(result, dict) else {}


def _reduced(part: dict[str, Any]) -> dict[str, Any]:
    if "definitions" in part:
        part["$defs"] = {**part["definitions"], **part.get("$defs", {})}
    reference = part.get("$ref")
    if isinstance(reference, str):
        # Nothing may stand beside a reference.
        if not is_pointer(reference):
            # Anchors are not among what Gemini knows.
            return {"$defs": part["$defs"]} if "$defs" in part else {}
        kept = {"$ref": reference.replace(_OLD_POINTER, "#/$defs/", 1)}
        return {**kept, "$defs": part["$defs"]} if "$defs" in part else kept
    if "const" in part and "enum" not in part:
        part["enum"] = [part["const"]]
    _merge_all(part)
    reduced = {key: value for key, value in part.items() if key in _KNOWN}
    if reduced.get("format") not in _FORMATS:
        reduced.pop("format", None)
    values = reduced.get("enum")
    if isinstance(values, list) and not all(_nameable(value) for value in values):
        del reduced["enum"]
    return reduced


def _merge_all(part: dict[str, Any]) -> None:
    """Takes over what the members of `allOf` say and `part` itself does not."""
    members = part.pop("allOf", None)
    if not isinstance(members, list):
        return
    for member in members:
        if not isinstance(member, Mapping):
            continue
        for key, value in member.items():
            if key == "properties" and isinstance(part.get(key), dict):
                part[key] = {**value, **part[key]}
            elif key == "required" and isinstance(part.get(key), list):
                part[key] = list(dict.fromkeys([*part[key], *value]))
            elif key == "$ref" and (len(members) > 1 or len(part) > 1):
                continue
            else:
                part.setdefault(key, value)


def _nameable(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
