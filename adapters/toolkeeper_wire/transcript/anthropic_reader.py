"""What stands in a message of Anthropic's?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_wire.response import text_at
from toolkeeper_wire.transcript.pairing import Pairing
from toolkeeper_wire.transcript.part import names_of, part_at, parts_of, texts_of
from toolkeeper_wire.transcript.transcript import NativeFound

TOOL_USE = "tool_use"


def read_message(index: int, message: Mapping[str, Any], found: Pairing) -> None:
    """Adds what a message tells; blocks of other kinds are passed over."""
    role = message["role"]
    if role == "assistant":
        found.said()
        for block in parts_of(message.get("content")):
            _block(index, block, found)
    elif role == "user":
        _user(index, message.get("content"), found)
    elif role == "system":
        found.interposed()
        found.texts += texts_of(message.get("content"))


def _block(index: int, block: Mapping[str, Any], found: Pairing) -> None:
    kind = block.get("type")
    if kind == TOOL_USE:
        found.call(index, text_at(block, "id"), text_at(block, "name"), TOOL_USE)
    elif kind == "tool_search_tool_result":
        # Only here, in the model's own message: a block in a tool's result is that tool's word.
        references = parts_of(part_at(block, "content").get("tool_references"))
        names = tuple(dict.fromkeys(names_of(references, "tool_name")))
        if names:
            found.native.append(NativeFound(names, index))


def _user(index: int, content: Any, found: Pairing) -> None:
    blocks = parts_of(content)
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results or len(results) < len(content):
        found.interposed()
        found.turns.append(index)
    for block in results:
        found.result(index, text_at(block, "tool_use_id"))
