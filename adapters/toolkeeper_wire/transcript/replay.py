"""Which parts of a conversation may be sent again after the tools array has changed?

Anthropic signs thinking blocks under the request that they were made in: what was thought under
another tools array is not sent again. No other provider asks for a change.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from toolkeeper_wire.provider import format_for

_THINKING = ("thinking", "redacted_thinking")


def replayable(messages: Sequence[Any], provider: str, *, keep_from: int) -> list[Any]:
    """The messages to send, when the array has changed at index `keep_from`.

    For Anthropic, assistant messages before it lose their thinking blocks; one that held nothing
    else is left out, because an empty message is refused. Every other message, and with other
    providers every message, is the very same object. `messages` stay as they are.
    """
    if format_for(provider).name != "anthropic":
        return list(messages)
    kept: list[Any] = []
    for index, message in enumerate(messages):
        if index >= keep_from:
            kept.append(message)
            continue
        blocks = _blocks(message)
        spoken = [block for block in blocks if _kind(block) not in _THINKING]
        if len(spoken) == len(blocks):
            kept.append(message)
        elif spoken:
            kept.append(_spoken(message, spoken))
    return kept


def _blocks(message: Any) -> Sequence[Any]:
    """The blocks of an assistant message, as they are; none for any other."""
    if _at(message, "role") != "assistant":
        return ()
    content = _at(message, "content")
    return content if isinstance(content, list | tuple) else ()


def _spoken(message: Any, blocks: list[Any]) -> dict[str, Any]:
    # A response object has fields that a request does not take.
    rest = message if isinstance(message, Mapping) else {"role": "assistant"}
    return {**rest, "content": blocks}


def _kind(block: Any) -> Any:
    return _at(block, "type")


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
