"""What is in this piece of a conversation, whether it is a dictionary or an object of an SDK?"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_NOTHING: Mapping[str, Any] = {}


def view(value: Any) -> Mapping[str, Any] | None:
    """The piece as a mapping, with the names of the wire; None for anything else."""
    if isinstance(value, Mapping):
        return value
    if not callable(getattr(value, "model_dump", None)):
        return None
    try:
        return _fields(value) or _dumped(value)
    except Exception:
        # Somebody else's code on somebody else's data; whatever it raises, there is no piece.
        return None


def _fields(value: Any) -> dict[str, Any]:
    """A pydantic object's own fields, with what is in them as it is.

    To dump all of it would cost more, and fails on arguments that are nested very deeply.
    """
    kind: Any = type(value)
    names = _wire_names(kind)
    body = {wire: getattr(value, name, None) for name, wire in names}
    extra = value.model_extra if names else None
    return {**body, **extra} if isinstance(extra, Mapping) else body


@lru_cache(maxsize=256)
def _wire_names(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a pydantic class with their names on the wire."""
    fields = getattr(kind, "model_fields", None)
    if not isinstance(fields, Mapping):
        return ()
    return tuple(
        (name, field.serialization_alias or field.alias or name) for name, field in fields.items()
    )


def _dumped(value: Any) -> Mapping[str, Any] | None:
    # Without warnings: what the provider really sent may be newer than the SDK's types.
    body = value.model_dump(mode="python", by_alias=True, warnings=False)
    return body if isinstance(body, Mapping) else None


def parts_of(value: Any) -> list[Mapping[str, Any]]:
    """The pieces in a list; what is none is passed over, and so is what is no list."""
    if not isinstance(value, list | tuple):
        return []
    return [part for part in map(view, value) if part is not None]


def part_at(body: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The first piece under one of the keys, or an empty one."""
    for key in keys:
        part = view(body.get(key))
        if part:
            return part
    return _NOTHING


def first(body: Mapping[str, Any], *keys: str) -> Any:
    """The first value under one of the keys that is not None."""
    return next((body[key] for key in keys if body.get(key) is not None), None)


def texts_of(content: Any) -> list[str]:
    """The texts in a message's content: a string, or parts with a `text` each."""
    if isinstance(content, str):
        return [content]
    found: list[str] = []
    if isinstance(content, list | tuple):
        for part in content:
            text = part if isinstance(part, str) else (view(part) or _NOTHING).get("text")
            if isinstance(text, str):
                found.append(text)
    return found


def names_of(parts: Sequence[Mapping[str, Any]], key: str = "name") -> tuple[str, ...]:
    """The names under `key`, without those that are no text or empty."""
    return tuple(part[key] for part in parts if isinstance(part.get(key), str) and part[key] != "")
