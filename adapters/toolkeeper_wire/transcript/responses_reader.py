"""What stands in an input or output item of OpenAI's Responses?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_wire.response import text_at
from toolkeeper_wire.transcript.pairing import Pairing
from toolkeeper_wire.transcript.part import names_of, parts_of, texts_of
from toolkeeper_wire.transcript.transcript import NativeFound

CUSTOM_CALL = "custom_tool_call"
_CALLS = ("function_call", CUSTOM_CALL)
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read_item(index: int, item: Mapping[str, Any], found: Pairing) -> None:
    """Adds what an item tells."""
    kind = item.get("type")
    if kind in _CALLS:
        found.call(index, text_at(item, "call_id"), text_at(item, "name"), str(kind))
    elif kind in _OUTPUTS:
        found.result(index, text_at(item, "call_id"))
    elif kind == "tool_search_output":
        found.said()
        # A search that the client ran is the caller's own; its calls stand in the ledger.
        names = _names(item) if item.get("execution") != "client" else ()
        if names:
            found.native.append(NativeFound(names, index))
    elif kind in (None, "message"):
        _message(index, item, found)
    else:
        found.said()


def _message(index: int, item: Mapping[str, Any], found: Pairing) -> None:
    role = item.get("role")
    if role in ("system", "developer"):
        found.interposed()
        found.texts += texts_of(item.get("content"))
    elif role == "user":
        found.interposed()
        found.turns.append(index)
    else:
        found.said()


def _names(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The functions that were loaded; those of a namespace by their own names."""
    names: list[str] = []
    for tool in parts_of(item.get("tools")):
        inner = parts_of(tool.get("tools")) if tool.get("type") == "namespace" else [tool]
        names += names_of(inner)
    return tuple(dict.fromkeys(names))
