"""Where inside a JSON Schema do further schemas stand?"""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard
from urllib.parse import unquote

from toolkeeper_contract import NAMED_SCHEMAS, ONE_SCHEMA, SCHEMA_LIST

_HOLDERS = ONE_SCHEMA | SCHEMA_LIST | NAMED_SCHEMAS
# Here a boolean is an answer of its own; elsewhere providers want it written as an object.
_KEEPS_BOOLEAN = frozenset({"additionalProperties", "unevaluatedProperties", "additionalItems"})


def rebuilt(schema: Any, convert: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A deep copy of `schema`, each schema in it passed through `convert`, inner ones first.

    Data such as `default`, `enum` and `const` is left alone. A boolean that stands for a schema
    becomes `{}` or `{"not": {}}`. The depth is bounded by discovery.
    """
    if schema is True:
        return {}
    if schema is False:
        return {"not": {}}
    if not isinstance(schema, dict | Mapping):
        return schema
    part: dict[str, Any] = {}
    for key, value in schema.items():
        if key not in _HOLDERS:
            part[key] = value
        elif key in NAMED_SCHEMAS and isinstance(value, Mapping):
            part[key] = {
                name: inner if isinstance(inner, list) else rebuilt(inner, convert)
                for name, inner in value.items()
            }
        elif key in SCHEMA_LIST and isinstance(value, list | tuple):
            part[key] = [rebuilt(inner, convert) for inner in value]
        elif key in ONE_SCHEMA and not (key in _KEEPS_BOOLEAN and isinstance(value, bool)):
            part[key] = rebuilt(value, convert)
        else:
            part[key] = value
    return convert(part)


def is_pointer(reference: Any) -> TypeGuard[str]:
    """Whether a reference is a path into its own document (`#` or `#/...`)."""
    return isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))


def without_dangling(root: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `root` in which what a path no longer reaches is left open.

    A projection may drop the part that a reference pointed into, and a provider refuses the whole
    request for one reference to nowhere.
    """

    def convert(part: dict[str, Any]) -> dict[str, Any]:
        reference = part.get("$ref")
        if is_pointer(reference) and local_target(root, reference) is None:
            del part["$ref"]
        return part

    result = rebuilt(root, convert)
    return result if isinstance(result, dict) else {}


def local_target(root: Mapping[str, Any], reference: Any) -> Mapping[str, Any] | None:
    """The schema that a `#/...` reference points at inside `root`; None when there is none."""
    if not is_pointer(reference):
        return None
    found: Any = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found if isinstance(found, Mapping) else None
