"""What does the value that a Python function gave back look like as a tool's result?"""

import inspect
import re
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from toolkeeper_contract import Blob, Text, ToolResult, canonical_text
from toolkeeper_pipeline.bounds import ResultTooLarge, oversize
from toolkeeper_sources.limits import RESULT_LIMITS

_SURROGATE = re.compile("[\ud800-\udfff]")
_BINARY = "application/octet-stream"


def result_of(value: Any) -> ToolResult:
    """Text as it is, bytes as a blob, nothing as empty text, everything else as canonical JSON.

    Raises TypeError for a value that JSON cannot carry, ResultTooLarge for one that is too deep or
    too large to be copied.
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
        if memoryview(value).nbytes > RESULT_LIMITS.size and not isinstance(value, bytes):
            raise ResultTooLarge("the tool returned more bytes than can be copied")
        return ToolResult((Blob(bytes(value), _BINARY),))
    return _structured(value)


def _structured(value: Any) -> ToolResult:
    if inspect.isgenerator(value) or inspect.isasyncgen(value) or inspect.isawaitable(value):
        raise TypeError("the tool returned something that still has to run")
    limits = RESULT_LIMITS
    if oversize(value, depth=limits.depth, nodes=limits.nodes, size=limits.size) is not None:
        raise ResultTooLarge("the tool returned a value that is too deep or too large")
    try:
        # NaN and infinities become words: JSON has no number for them, and null would hide them.
        written = to_json(value, inf_nan_mode="strings", bytes_mode="base64")
        if len(written) > limits.size:
            raise ResultTooLarge("the tool returned a value that is too large")
        plain = from_json(written)
        text = canonical_text(plain)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise TypeError("the tool returned a value that json cannot carry") from error
    return ToolResult((Text(text),), structured=plain)


def _encodable(text: str) -> str:
    # A lone surrogate would break the row, the digest and the provider's request alike.
    return text if text.isascii() else _SURROGATE.sub("?", text)
