"""What does this conversation, in its provider's form, say about tools?"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from toolkeeper_contract import ConfigError
from toolkeeper_wire.provider import format_for
from toolkeeper_wire.transcript.anthropic_reader import read_message
from toolkeeper_wire.transcript.chat_reader import read_chat_message, read_own_message
from toolkeeper_wire.transcript.gemini_reader import read_content
from toolkeeper_wire.transcript.note import cited
from toolkeeper_wire.transcript.pairing import Pairing
from toolkeeper_wire.transcript.part import first, texts_of, view
from toolkeeper_wire.transcript.responses_reader import read_item
from toolkeeper_wire.transcript.transcript import CallSeen, SearchSeen, Transcript

_Reader = Callable[[int, Mapping[str, Any], Pairing], None]

_READERS: Mapping[str, _Reader] = {
    "generic": read_own_message,
    "mcp": read_own_message,
    "openai": read_chat_message,
    "openai-responses": read_item,
    "anthropic": read_message,
    "gemini": read_content,
}
_SAYS_ROLE = (read_own_message, read_chat_message, read_message)
SEARCH_NAME = "tool_search"
"""The wire name of the search tool, unless the agent renames it."""


def read_transcript(
    messages: Sequence[Any],
    provider: str,
    *,
    search_name: str | Collection[str] = SEARCH_NAME,
    system: Any = None,
) -> Transcript:
    """What `messages` say, in the form of `provider`; each is a mapping or an object of its SDK.

    `search_name` is the wire name of the search tool, or all that it has had. `system` is the
    system text where it does not stand among the messages (Anthropic, Gemini): a string, text
    parts, or an object with parts. A conversation may be cut anywhere and hold what nobody knows
    yet: that is passed over. ConfigError for an unknown provider and for what is no message at
    all, with its index; nothing is changed.
    """
    form = format_for(provider).name
    reader = _READERS[form]
    found = Pairing()
    found.texts += _system_texts(system)
    for index, message in enumerate(_listed(messages, provider)):
        body = view(message)
        if body is None:
            raise _unreadable(index, provider, "is neither a mapping nor an object of its sdk")
        if reader in _SAYS_ROLE and not isinstance(body.get("role"), str):
            raise _unreadable(index, provider, "has no `role`")
        if reader is read_item and not _is_item(body):
            raise _unreadable(index, provider, "has neither `type` nor `role`")
        if reader is read_content and not _is_content(body):
            raise _unreadable(index, provider, "has neither `parts` nor `role`")
        reader(index, body, found)
    calls = found.calls
    return Transcript(
        calls=calls,
        results=found.results,
        searches=_searches(calls, search_name),
        native=tuple(found.native),
        notes=cited(found.texts),
        turns=tuple(found.turns),
        open_from=found.open_from,
    )


def _listed(messages: Any, provider: str) -> Sequence[Any]:
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes | bytearray):
        return messages
    raise ConfigError(
        f"the transcript of provider `{provider}` must be a list of messages",
        "hand over the conversation as it is sent to the provider",
    )


def _unreadable(index: int, provider: str, why: str) -> ConfigError:
    return ConfigError(
        f"message {index} of the transcript {why}",
        f"hand over the conversation as it is sent to provider `{provider}`",
    )


def _is_item(body: Mapping[str, Any]) -> bool:
    # A bare id refers to an item that the provider keeps; but a response has one too.
    says = isinstance(body.get("type"), str) or isinstance(body.get("role"), str)
    return says or ("id" in body and "output" not in body)


def _is_content(body: Mapping[str, Any]) -> bool:
    return "parts" in body or isinstance(body.get("role"), str)


def _searches(calls: Sequence[CallSeen], names: str | Collection[str]) -> tuple[SearchSeen, ...]:
    wanted = frozenset((names,) if isinstance(names, str) else names)
    seen: dict[str, int] = {}
    searches: list[SearchSeen] = []
    for call in calls:
        if call.wire_name in wanted:
            occurrence = seen.get(call.call_id, 0) + 1
            seen[call.call_id] = occurrence
            searches.append(SearchSeen(call.call_id, occurrence, call.wire_name, call.answered))
    return tuple(searches)


def _system_texts(system: Any) -> list[str]:
    body = view(system)
    if body is None:
        return texts_of(system)
    held = first(body, "parts", "content", "text")
    return texts_of(held)
