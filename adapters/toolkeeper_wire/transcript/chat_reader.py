"""What stands in a message of Chat Completions, or of our own form?

Our own form is a list of mappings, for conversations that are kept apart from any provider:

    {"role": "system" | "developer" | "user" | "assistant" | "tool",
     "content": TEXT,                                               optional
     "calls": [{"id": ID, "name": WIRE_NAME, "arguments": JSON}],   of an assistant
     "results": [{"id": ID, "text": TEXT, "is_error": BOOL}]}       of a tool or a user

Where a session's provider is `generic`, both forms are read, also mixed.
"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_wire.response import text_at
from toolkeeper_wire.transcript.pairing import Pairing
from toolkeeper_wire.transcript.part import part_at, parts_of, texts_of

FUNCTION, CUSTOM, LEGACY, OWN = "function", "custom", "legacy", "own"
_LEGACY_ID = "function_call"
_SYSTEM = ("system", "developer")


def read_chat_message(index: int, message: Mapping[str, Any], found: Pairing) -> None:
    """Adds what a Chat Completions message tells."""
    role = message["role"]
    if role in _SYSTEM:
        found.interposed()
        found.texts += texts_of(message.get("content"))
    elif role == "user":
        found.interposed()
        found.turns.append(index)
    elif role == "assistant":
        _calls(index, message, found)
    elif role == "tool":
        found.result(index, text_at(message, "tool_call_id"))
    elif role == "function":
        found.result(index, _LEGACY_ID)


def read_own_message(index: int, message: Mapping[str, Any], found: Pairing) -> None:
    """Adds what a message of our own form, or of Chat Completions, tells."""
    role = message["role"]
    calls = parts_of(message.get("calls")) if role == "assistant" else []
    results = parts_of(message.get("results")) if role in ("tool", "user") else []
    if not calls and not results:
        read_chat_message(index, message, found)
        return
    for call in calls:
        found.call(index, text_at(call, "id"), text_at(call, "name"), OWN)
    if role == "user" and message.get("content"):
        found.interposed()
        found.turns.append(index)
    for result in results:
        found.result(index, text_at(result, "id"))


def _calls(index: int, message: Mapping[str, Any], found: Pairing) -> None:
    calls = parts_of(message.get("tool_calls"))
    for call in calls:
        custom = call.get("type") == "custom"
        inner = part_at(call, "custom" if custom else "function")
        kind = CUSTOM if custom else FUNCTION
        found.call(index, text_at(call, "id"), text_at(inner, "name"), kind)
    legacy = part_at(message, "function_call")
    if legacy and not calls:
        found.call(index, _LEGACY_ID, text_at(legacy, "name"), LEGACY)
    elif not calls:
        # Here a result must follow its call at once; not even the model may speak in between.
        found.interposed()
