"""What does a provider's cache see of a request, and in which order?

A cache keeps a request from its first byte to the first one that differs, and providers put the
tools array first, then the system text, then the messages, whatever the order of the keys in the
body. Cache markers say where to cache and are no part of what is cached.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TOOLS, SYSTEM, MESSAGES = "tools", "system", "messages"

NAMESPACE = "namespace "
"""In front of the name of a piece that is the head of a namespace; no tool has a space."""

_MARKER = "cache_control"
_LINE = re.compile(r"\n[^\n]*|[^\n]+")
_SYSTEM_KEYS = ("system", "instructions", "systemInstruction", "system_instruction")
_MESSAGE_KEYS = ("messages", "input", "contents")
_SYSTEM_ROLES = ("system", "developer")
_DECLARATIONS = ("functionDeclarations", "function_declarations")


@dataclass(frozen=True, slots=True)
class Piece:
    """One tool, one line of the system text, or one message.

    `position` counts from 0 among its kind; tools inside a namespace, or declared in one entry,
    count one by one. `name` is a tool's wire name or a message's role, "" where it has none.
    `text` is the JSON of a tool or message in its own key order (a permuted object is another text
    to a cache), and the line itself of a system text.
    """

    kind: str
    position: int
    name: str
    text: str

    @property
    def size(self) -> int:
        """UTF-8 bytes."""
        return len(encoded(self.text))


@dataclass(frozen=True, slots=True)
class RequestPrefix:
    """A request as a row of pieces: the tools, the system text, then the messages."""

    pieces: tuple[Piece, ...]

    def of_kind(self, kind: str) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if piece.kind == kind)

    def size(self, *kinds: str) -> int:
        """The UTF-8 bytes of these kinds of pieces."""
        return sum(piece.size for piece in self.pieces if piece.kind in kinds)

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "RequestPrefix":
        """The prefix of a request body in the form of any provider.

        `tools`; `system`, `instructions` or `systemInstruction`; `messages`, `input` or `contents`,
        whose leading system and developer messages are system text. What is absent or null is
        empty. ValueError, with the key, for a part in a form that no provider takes.
        """
        lines = [line for key in _SYSTEM_KEYS for line in _lines(body.get(key), key)]
        messages: list[Piece] = []
        leading = True
        for message in _messages(body):
            role = message.get("role") if isinstance(message, Mapping) else None
            leading = leading and isinstance(role, str) and role in _SYSTEM_ROLES
            if leading:
                lines += _lines(message.get("content"), "messages")
            else:
                name = role if isinstance(role, str) else ""
                messages.append(Piece(MESSAGES, len(messages), name, _text(message)))
        tools = [Piece(TOOLS, at, _name(tool), _text(tool)) for at, tool in enumerate(_tools(body))]
        system = [Piece(SYSTEM, at, "", line) for at, line in enumerate(lines)]
        return cls((*tools, *system, *messages))


def encoded(text: str) -> bytes:
    """The bytes of `text`; half of a surrogate pair, which JSON can spell, takes three."""
    return text.encode("utf-8", "surrogatepass")


def _tools(body: Mapping[str, Any]) -> Iterator[Any]:
    for entry in _list(body.get(TOOLS), TOOLS):
        nested = _nested(entry)
        if not nested:
            yield entry
            continue
        # One entry holds several tools; each of them can change alone.
        rest = {key: value for key, value in entry.items() if key not in nested}
        if rest.keys() - {_MARKER}:
            yield rest
        for key in nested:
            yield from entry[key]


def _nested(entry: Any) -> tuple[str, ...]:
    """The keys of an entry that hold lists of tools."""
    if not isinstance(entry, Mapping):
        return ()
    keys = (*_DECLARATIONS, *([TOOLS] if entry.get("type") == "namespace" else []))
    return tuple(key for key in keys if isinstance(entry.get(key), list))


def _messages(body: Mapping[str, Any]) -> Iterator[Any]:
    for key in _MESSAGE_KEYS:
        value = body.get(key)
        yield from [value] if isinstance(value, str) else _list(value, key)


def _name(tool: Any) -> str:
    inner = tool.get("function") if isinstance(tool, Mapping) else None
    named = inner if isinstance(inner, Mapping) else tool
    if isinstance(named, Mapping):
        # A tool that the provider has itself may have no name of its own.
        for key in ("name", "server_label", "type"):
            if isinstance(named.get(key), str):
                space = NAMESPACE if named.get("type") == "namespace" else ""
                return f"{space}{named[key]}"
    return ""


def _lines(value: Any, key: str) -> Iterator[str]:
    """The lines of a system text in any form, each with the line break in front of it."""
    if isinstance(value, str):
        yield from _LINE.findall(value)
    elif isinstance(value, Mapping):
        if isinstance(value.get("text"), str):
            yield from _lines(value["text"], key)
        elif "parts" in value:
            yield from _lines(value["parts"], key)
        else:
            yield _text(value)
    else:
        for block in _list(value, key):
            if not isinstance(block, str | Mapping):
                raise ValueError(key)
            yield from _lines(block, key)


def _list(value: Any, key: str) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise ValueError(key)
    return value


def _text(value: Any) -> str:
    return json.dumps(_unmarked(value), ensure_ascii=False, separators=(",", ":"))


def _unmarked(value: Any) -> Any:
    """`value` without the cache markers that stand where providers take them.

    A tool's schema may have a property of that name, which counts.
    """
    if not isinstance(value, Mapping):
        return value
    bare = {key: item for key, item in value.items() if key != _MARKER}
    content = bare.get("content")
    if isinstance(content, list):
        bare["content"] = [_unmarked(block) for block in content]
    return bare
