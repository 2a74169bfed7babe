"""Which bytes of a request body a provider's cache sees, and in which order."""

import json
from typing import Any

import pytest

from toolkeeper.runtime.request_prefix import MESSAGES, SYSTEM, TOOLS, RequestPrefix

SCHEMA = {"type": "object", "properties": {}}
SYSTEM_TEXT = "Be kind.\nBe brief."

BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {
        "messages": [{"role": "user", "content": "hi"}],
        "system": SYSTEM_TEXT,
        "tools": [{"name": "a", "input_schema": SCHEMA}, {"name": "b", "input_schema": SCHEMA}],
    },
    "anthropic blocks": {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "\nBe brief."}],
        "tools": [{"name": "a", "input_schema": SCHEMA}, {"name": "b", "input_schema": SCHEMA}],
    },
    "openai": {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": [{"type": "text", "text": "\nBe brief."}]},
            {"role": "user", "content": "hi"},
        ],
        "tools": [
            {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in "ab"
        ],
    },
    "openai-responses": {
        "input": [{"role": "user", "content": "hi"}],
        "instructions": SYSTEM_TEXT,
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA} for name in "ab"],
    },
    "openai-responses text": {
        "input": "hi",
        "instructions": SYSTEM_TEXT,
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA} for name in "ab"],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": SYSTEM_TEXT}]},
        "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}],
    },
}


@pytest.mark.parametrize("provider", BODIES)
def test_tools_come_first_then_the_system_text_then_messages(provider: str) -> None:
    prefix = RequestPrefix.of(BODIES[provider])
    kinds = [piece.kind for piece in prefix.pieces]
    assert kinds == [TOOLS, TOOLS, SYSTEM, SYSTEM, MESSAGES]
    assert [tool.name for tool in prefix.of_kind(TOOLS)] == ["a", "b"]
    assert "".join(line.text for line in prefix.of_kind(SYSTEM)) == SYSTEM_TEXT
    assert [piece.position for piece in prefix.pieces] == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("provider", BODIES)
def test_the_order_of_the_bodys_keys_does_not_matter(provider: str) -> None:
    body = BODIES[provider]
    assert RequestPrefix.of(dict(reversed(body.items()))) == RequestPrefix.of(body)


@pytest.mark.parametrize("provider", BODIES)
def test_cache_markers_are_no_part_of_what_is_cached(provider: str) -> None:
    marked = json.loads(json.dumps(BODIES[provider]))
    marker = {"type": "ephemeral"}
    for key in ("tools", "system", "messages"):
        for entry in marked.get(key, ()):
            if isinstance(entry, dict):
                entry["cache_control"] = marker
                if isinstance(entry.get("content"), list):
                    entry["content"][-1]["cache_control"] = marker
    assert RequestPrefix.of(marked) == RequestPrefix.of(BODIES[provider])


def test_a_schema_property_called_like_the_marker_counts() -> None:
    with_it = {"name": "a", "input_schema": {"properties": {"cache_control": {}}}}
    without = {"name": "a", "input_schema": {"properties": {}}}
    first, second = (RequestPrefix.of({"tools": [tool]}) for tool in (with_it, without))
    assert first != second


def test_the_key_order_inside_a_tool_counts() -> None:
    first = RequestPrefix.of({"tools": [{"name": "a", "description": "x"}]})
    second = RequestPrefix.of({"tools": [{"description": "x", "name": "a"}]})
    assert first != second


def test_a_later_system_message_is_a_message() -> None:
    body = {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "Be brief."},
        ]
    }
    prefix = RequestPrefix.of(body)
    assert [line.text for line in prefix.of_kind(SYSTEM)] == ["Be kind."]
    assert [message.name for message in prefix.of_kind(MESSAGES)] == ["user", "system"]


def test_absent_and_null_parts_are_empty() -> None:
    assert RequestPrefix.of({}) == RequestPrefix.of({"tools": None, "system": None, "input": None})


def test_sizes_are_bytes_and_not_characters() -> None:
    prefix = RequestPrefix.of({"system": "grüß 日本 \ud83d", "tools": [{"name": "é"}]})
    assert prefix.size(SYSTEM) == len("grüß 日本 ".encode()) + 3
    assert prefix.size(TOOLS) == len('{"name":"é"}'.encode())
    assert prefix.size(TOOLS, SYSTEM) == prefix.size(TOOLS) + prefix.size(SYSTEM)


def test_lines_carry_the_break_in_front_of_them() -> None:
    lines = RequestPrefix.of({"system": "\na\n\nb\n"}).of_kind(SYSTEM)
    assert [line.text for line in lines] == ["\na", "\n", "\nb", "\n"]


@pytest.mark.parametrize("key", ["tools", "system", "messages", "input", "contents"])
def test_a_part_in_a_form_that_no_provider_takes_is_refused_by_its_key(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        RequestPrefix.of({key: 7})


def test_a_providers_own_tools_are_known_by_label_or_type() -> None:
    body = {
        "tools": [{"type": "web_search"}, {"type": "mcp", "server_label": "crm"}, "odd", {"x": 1}]
    }
    names = [tool.name for tool in RequestPrefix.of(body).of_kind(TOOLS)]
    assert names == ["web_search", "crm", "", ""]


def test_tools_inside_a_namespace_are_pieces_of_their_own_behind_its_head() -> None:
    space = {"type": "namespace", "name": "crm", "description": "Tools of the server crm."}
    inner = [{"type": "function", "name": name} for name in "xy"]
    tools = [{"type": "tool_search"}, {**space, "tools": inner}, {"type": "function", "name": "z"}]
    pieces = RequestPrefix.of({"tools": tools}).of_kind(TOOLS)
    assert [piece.name for piece in pieces] == ["tool_search", "namespace crm", "x", "y", "z"]
    assert [piece.position for piece in pieces] == [0, 1, 2, 3, 4]


def test_what_stands_beside_declarations_is_kept() -> None:
    body = {"tools": [{"functionDeclarations": [{"name": "a"}], "googleSearch": {}}]}
    pieces = RequestPrefix.of(body).of_kind(TOOLS)
    assert [piece.text for piece in pieces] == ['{"googleSearch":{}}', '{"name":"a"}']
