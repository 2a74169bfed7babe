"""Stage 1: are the arguments one readable JSON object?

Parsed once and strictly, so that no later stage reads them differently: UTF-8, no duplicate keys,
no NaN or Infinity, within limits of size and depth. A failure is a value that goes on to *record*.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolkeeper_contract import TOOL_CALL, Code, canonical_bytes, digest_bytes
from toolkeeper_pipeline.call import Call
from toolkeeper_pipeline.limits import Limits
from toolkeeper_pipeline.states import Received, ShapeFault

_BLANK = " \t\n\r"
_SHORT_NUMBER = 300
"""Digits of a number that a double holds for sure."""

_WRAPPER_BYTES = 1_024
"""Room for the wrapper's own keys and the longest name."""


def receive(call: Call, limits: Limits) -> Received:
    """Parses `call.arguments`: text is read as JSON, a parsed value is held to the same rules.

    Some providers encode the whole object twice: that is undone once, and only for an object.
    """
    if call.name == TOOL_CALL:
        # What it wraps may be as long and as deep as if it had been called directly.
        limits = replace(
            limits,
            argument_bytes=limits.argument_bytes + _WRAPPER_BYTES,
            argument_depth=limits.argument_depth + 1,
        )
    arguments, layers = read_object(call.arguments, limits, layers=2)
    if not layers and isinstance(arguments, dict):
        # Whoever made the call may go on changing what it gave.
        arguments = copied(arguments)
    return Received(call, arguments, decoded=layers == 2)


def read_object(
    value: Any, limits: Limits, *, layers: int
) -> tuple[Mapping[str, Any] | ShapeFault, int]:
    """The object that `value` is, or holds as JSON text in at most `layers` layers of encoding.

    Returns it, or the fault, with the number of layers that were taken off.
    """
    raw, taken = value, 0
    plain = False
    try:
        while isinstance(value, str) and taken < layers:
            # Inside the first layer only an object counts, so an empty text there is a string.
            if taken and not value.lstrip().startswith("{"):
                break
            plain = _is_plain(value, limits)
            value = _parse(value, limits)
            taken += 1
        if not plain:
            _check(value, limits)
        if not isinstance(value, dict):
            raise _Unreadable(f"they are {_kind(value)}, not an object")
    except _Unreadable as unreadable:
        return fault(str(unreadable), raw), taken
    return value, taken


def fault(what: str, raw: Any) -> ShapeFault:
    """A fault in the arguments' shape; the raw input stays behind as a digest."""
    text = f"the arguments cannot be read: {what}; send one json object"
    return ShapeFault(Code.ARGUMENTS_INVALID, text, raw_digest(raw), empty=raw == "")


def raw_digest(raw: Any) -> str:
    """A digest of input that may be no JSON at all."""
    if isinstance(raw, str):
        return digest_bytes(raw.encode("utf-8", "surrogatepass"))
    try:
        return digest_bytes(canonical_bytes(raw))
    except (TypeError, ValueError, RecursionError):
        return digest_bytes(repr(type(raw)).encode())


def unreadable(arguments: Any, limits: Limits) -> str | None:
    """Why already parsed `arguments` cannot be a call's; None when they can."""
    try:
        _check(arguments, limits)
    except _Unreadable as reason:
        return str(reason)
    return None if isinstance(arguments, dict) else f"they are {_kind(arguments)}, not an object"


class _Unreadable(Exception):
    pass


def _parse(text: str, limits: Limits) -> Any:
    # Characters first: encoding a giant string only to refuse it would copy it.
    if len(text) > limits.argument_bytes:
        raise _Unreadable(f"they are longer than {limits.argument_bytes:,} bytes")
    bare = text.strip(_BLANK)
    try:
        value, end = _DECODER.raw_decode(bare)
    except RecursionError:
        raise _Unreadable(f"they are nested deeper than {limits.argument_depth} levels") from None
    except ValueError:
        raise _Unreadable(_fault_of(text)) from None
    if end != len(bare):
        raise _Unreadable("they are not valid json")
    return value


def _fault_of(text: str) -> str:
    if not text.strip():
        return "they are empty"
    if text.startswith("\ufeff"):
        return "they start with a byte order mark"
    return "they are not valid json"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Unreadable("a key stands twice in one object")
    return result


def _constant(name: str) -> Any:
    raise _Unreadable("they hold NaN or Infinity")


def _integer(text: str) -> int:
    # Beyond what a double holds, to read it and write it down takes quadratic time.
    if len(text) > _SHORT_NUMBER and (len(text) > 310 or int(text).bit_length() > 1024):
        raise _Unreadable("a number is out of range")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Unreadable("a number is out of range")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_float=_float,
    parse_int=_integer,
)


def copied(value: dict[str, Any]) -> dict[str, Any]:
    """A copy of a readable object, however deep."""
    result = dict(value)
    pending: list[dict[str, Any] | list[Any]] = [result]
    while pending:
        here: Any = pending.pop()
        for place, item in here.items() if isinstance(here, dict) else enumerate(here):
            if isinstance(item, dict | list):
                here[place] = inner = dict(item) if isinstance(item, dict) else list(item)
                pending.append(inner)
    return result


def _is_plain(text: str, limits: Limits) -> bool:
    """Whether all that a text of so many characters holds is surely within the limits.

    Each value takes at least as many bytes of it as it counts, no level can be too deep, and no
    half of a pair is in it. Its numbers were looked at when they were read.
    """
    return (
        "\\ud" not in text
        and "\\uD" not in text
        and text.count("{") + text.count("[") <= limits.argument_depth
        and (text.isascii() or _is_short(text, limits))
    )


def _is_short(text: str, limits: Limits) -> bool:
    try:
        return len(text.encode("utf-8")) <= limits.argument_bytes
    except UnicodeEncodeError:
        return False


def _check(value: Any, limits: Limits) -> None:
    """Walks `value` level by level; what JSON cannot carry has no business here."""
    size, depth = 0, 1
    level = [value]
    while level:
        below: list[Any] = []
        for item in level:
            size += 1
            if isinstance(item, str):
                size += len(item) if item.isascii() else _text_size(item)
            elif isinstance(item, dict | list):
                if depth > limits.argument_depth:
                    raise _Unreadable(f"they are nested deeper than {limits.argument_depth} levels")
                if isinstance(item, dict):
                    size += _size_of_keys(item)
                    below.extend(item.values())
                else:
                    below.extend(item)
            elif isinstance(item, float):
                if not math.isfinite(item):
                    raise _Unreadable("they hold NaN or Infinity")
            elif isinstance(item, int):
                # Beyond this no double holds it, and writing it down takes quadratic time.
                if item.bit_length() > 1024:
                    raise _Unreadable("a number is out of range")
            elif item is not None:
                raise _Unreadable("they hold something that json cannot carry")
            if size > limits.argument_bytes:
                raise _Unreadable(f"they are longer than {limits.argument_bytes:,} bytes")
        level = below
        depth += 1


def _size_of_keys(item: dict[Any, Any]) -> int:
    size = 0
    for key in item:
        if not isinstance(key, str):
            raise _Unreadable("a key is not a string")
        size += len(key) if key.isascii() else _text_size(key)
    return size


def _text_size(text: str) -> int:
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise _Unreadable("a string is not valid unicode") from None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a string"
    return "a number" if isinstance(value, (int, float)) else "not json"
