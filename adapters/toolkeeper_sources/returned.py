"""What does the value that a Python function gave back look like as a tool's result?"""

import inspect
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from toolkeeper_contract import Blob, Text, ToolResult, canonical_text

_BINARY = "application/octet-stream"


def result_of(value: Any) -> ToolResult:
    """Text as it is, bytes as a blob, nothing as empty text, everything else as canonical JSON.

    Raises TypeError for a value that JSON cannot carry.
    """
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, Text | Blob):
        return ToolResult((value,))
    if value is None:
        return ToolResult((Text(""),))
    if isinstance(value, str):
        return ToolResult((Text(_encodable(str.__str__(value))),))
    if isinstance(value, bytes | bytearray | memoryview):
        return ToolResult((Blob(bytes(value), _BINARY),))
    return _structured(value)


def _structured(value: Any) -> ToolResult:
    if inspect.isgenerator(value) or inspect.isasyncgen(value) or inspect.isawaitable(value):
        raise TypeError("the tool returned something that still has to run")
    try:
        # NaN and infinities become words: JSON has no number for them, and null would hide them.
        plain = from_json(to_json(value, inf_nan_mode="strings", bytes_mode="base64"))
        text = canonical_text(plain)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise TypeError("the tool returned a value that json cannot carry") from error
    return ToolResult((Text(text),), structured=plain)


def _encodable(text: str) -> str:
    # A lone surrogate would break the row, the digest and the provider's request alike.
    return text.encode("utf-8", "replace").decode("utf-8")
