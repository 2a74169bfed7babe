"""Is the same conversation read the same in every provider's form, and as objects of their SDKs?"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from toolkeeper_wire.transcript import (
    CallSeen,
    NativeFound,
    ResultSeen,
    SearchSeen,
    Transcript,
    read_transcript,
)

FOLDER = Path(__file__).parents[1] / "golden" / "transcripts"
FORMS = ("openai", "openai-responses", "anthropic", "gemini", "generic")


def conversation(provider: str) -> list[Any]:
    messages: list[Any] = json.loads((FOLDER / f"{provider}.json").read_text("utf-8"))
    return messages


SEARCHES = (SearchSeen("c1", 1, "tool_search", True), SearchSeen("c1", 2, "tool_search", False))
NOTES = ("inv_7f3a", "inv_91c0")
FOUND = ("mcp__crm__find", "mcp__crm__list", "mcp__git__git_log")


def four(kind: str, *places: tuple[int, int]) -> tuple[CallSeen, ...]:
    calls = (
        ("c1", 1, "tool_search", True),
        ("c1", 2, "notes_list", True),
        ("", 1, "mcp__git__git_log", True),
        ("c1", 3, "tool_search", False),
    )
    return tuple(
        CallSeen(call_id, occurrence, name, index, end, kind, answered)
        for (call_id, occurrence, name, answered), (index, end) in zip(calls, places, strict=True)
    )


def three(*indices: int) -> tuple[ResultSeen, ...]:
    ids = ("c1", "c1", "")
    return tuple(ResultSeen(i, at, n) for n, (i, at) in enumerate(zip(ids, indices, strict=True)))


EXPECTED = {
    "openai": Transcript(
        calls=four("function", (3, 5), (3, 5), (8, 9), (8, 9)),
        results=three(4, 5, 9),
        searches=SEARCHES,
        notes=NOTES,
        turns=(2, 7),
        open_from=2,
    ),
    "openai-responses": Transcript(
        calls=four("function_call", (4, 7), (5, 7), (12, 14), (13, 14)),
        results=three(6, 7, 14),
        searches=SEARCHES,
        native=(NativeFound(FOUND, 11),),
        notes=NOTES,
        turns=(2, 9),
        open_from=2,
    ),
    "anthropic": Transcript(
        calls=four("tool_use", (2, 3), (2, 3), (6, 7), (6, 7)),
        results=three(3, 3, 7),
        searches=SEARCHES,
        native=(NativeFound(FOUND, 6),),
        notes=NOTES,
        turns=(1, 5),
        open_from=2,
    ),
    "generic": Transcript(
        calls=four("own", (3, 4), (3, 4), (7, 8), (7, 8)),
        results=three(4, 4, 8),
        searches=SEARCHES,
        notes=NOTES,
        turns=(2, 6),
        open_from=2,
    ),
    # Calls here may have no id: they get the one that the response's reader gives them.
    "gemini": Transcript(
        calls=(
            CallSeen("call_1", 1, "tool_search", 1, 2, "functionCall", True),
            CallSeen("g2", 1, "notes_list", 1, 2, "functionCall", True),
            CallSeen("call_1", 2, "mcp__git__git_log", 5, 6, "functionCall", True),
            CallSeen("call_2", 1, "tool_search", 5, 6, "functionCall", False),
        ),
        results=(ResultSeen("call_1", 2, 0), ResultSeen("g2", 2, 1), ResultSeen("", 6, 2)),
        searches=(
            SearchSeen("call_1", 1, "tool_search", True),
            SearchSeen("call_2", 1, "tool_search", False),
        ),
        turns=(0, 4),
        open_from=2,
    ),
}


@pytest.mark.parametrize("provider", FORMS)
def test_a_conversation_is_read_in_its_providers_form(provider: str) -> None:
    messages = conversation(provider)
    assert read_transcript(messages, provider) == EXPECTED[provider]
    assert messages == conversation(provider)


def chat_objects(messages: list[Any]) -> list[Any]:
    chat = pytest.importorskip("openai.types.chat")
    return [
        chat.ChatCompletionMessage.model_validate(message)
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def chat_calls_as_objects(messages: list[Any]) -> list[Any]:
    objects = chat_objects(messages)
    return [
        {"role": "assistant", "content": one.content, "tool_calls": one.tool_calls}
        if not isinstance(one, dict)
        else one
        for one in objects
    ]


def response_items(messages: list[Any]) -> list[Any]:
    responses = pytest.importorskip("openai.types.responses")
    output = TypeAdapter(responses.ResponseOutputItem)
    mine = ("function_call_output", None)
    return [
        item
        if item.get("type") in mine or (item["type"] == "message" and item["role"] != "assistant")
        else output.validate_python(item)
        for item in messages
    ]


def anthropic_blocks(messages: list[Any]) -> list[Any]:
    types = pytest.importorskip("anthropic.types")
    block = TypeAdapter(types.ContentBlock)
    return [
        {**message, "content": [block.validate_python(one) for one in message["content"]]}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def anthropic_messages(messages: list[Any]) -> list[Any]:
    types = pytest.importorskip("anthropic.types")
    extra = {"id": "msg_1", "type": "message", "model": "m", "usage": None}
    extra["usage"] = {"input_tokens": 1, "output_tokens": 1}  # type: ignore[assignment]
    rest = {"stop_reason": "tool_use", "stop_sequence": None}
    return [
        types.Message.model_validate({**message, **extra, **rest})
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def gemini_contents(messages: list[Any]) -> list[Any]:
    types = pytest.importorskip("google.genai.types")
    return [types.Content.model_validate(message) for message in messages]


@pytest.mark.parametrize(
    ("provider", "objects"),
    [
        ("openai", chat_objects),
        ("generic", chat_objects),
        ("openai", chat_calls_as_objects),
        ("openai-responses", response_items),
        ("anthropic", anthropic_blocks),
        ("anthropic", anthropic_messages),
        ("gemini", gemini_contents),
    ],
)
def test_objects_of_the_sdk_are_read_like_dictionaries(
    provider: str, objects: Callable[[list[Any]], list[Any]]
) -> None:
    form = "openai" if provider == "generic" else provider
    messages = objects(conversation(form))
    assert any(not isinstance(message, dict) for message in messages) or any(
        hasattr(part, "model_dump")
        for message in messages
        for key in ("content", "tool_calls")
        if isinstance(message.get(key), list)
        for part in message[key]
    )
    assert read_transcript(messages, provider) == EXPECTED[form]


def test_the_goldens_are_what_the_sdks_take() -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    anthropic = pytest.importorskip("anthropic.types")
    adapters = {
        "openai": TypeAdapter(list[chat.ChatCompletionMessageParam]),
        "openai-responses": TypeAdapter(list[responses.ResponseInputItemParam]),
        "anthropic": TypeAdapter(list[anthropic.MessageParam]),
    }
    for provider, adapter in adapters.items():
        adapter.validate_python(conversation(provider))


def test_own_form_and_chat_may_be_mixed_in_a_generic_session() -> None:
    mixed = conversation("generic")[:5] + conversation("openai")[6:]
    read = read_transcript(mixed, "generic")
    assert [call.kind for call in read.calls] == ["own", "own", "function", "function"]
    assert [call.answered for call in read.calls] == [True, True, True, False]
    assert read.searches == SEARCHES


@pytest.mark.parametrize("provider", FORMS)
def test_a_renamed_search_tool_is_found_by_its_name(provider: str) -> None:
    messages = conversation(provider)
    assert read_transcript(messages, provider, search_name=["find"]).searches == ()
    for names in ("notes_list", ["notes_list"], {"notes_list", "find"}):
        (seen,) = read_transcript(messages, provider, search_name=names).searches
        assert (seen.wire_name, seen.occurrence, seen.answered) == ("notes_list", 1, True)


def test_results_that_were_cleared_leave_the_search() -> None:
    messages = conversation("openai")
    kept = [message for message in messages if message["role"] != "tool"]
    seen = read_transcript(kept, "openai").searches
    assert [(one.call_id, one.occurrence) for one in seen] == [("c1", 1), ("c1", 2)]
    assert not any(one.answered for one in seen)


def test_a_fork_before_a_search_does_not_show_it() -> None:
    for provider in FORMS:
        messages = conversation(provider)
        turn = EXPECTED[provider].turns[1]
        assert len(read_transcript(messages[:turn], provider).searches) == 1
        assert read_transcript(messages[: EXPECTED[provider].turns[0]], provider).searches == ()


def test_legacy_function_calls_and_custom_tools_are_calls() -> None:
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "function_call": {"name": "tool_search", "arguments": "{}"}},
        {"role": "function", "name": "tool_search", "content": "found"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "k", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
        },
    ]
    read = read_transcript(messages, "openai")
    assert [(c.call_id, c.wire_name, c.kind, c.answered) for c in read.calls] == [
        ("function_call", "tool_search", "legacy", True),
        ("k", "sh", "custom", False),
    ]
    items = [
        {"type": "custom_tool_call", "call_id": "k", "name": "sh", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "k", "output": "a"},
    ]
    (call,) = read_transcript(items, "openai-responses").calls
    assert (call.kind, call.answered) == ("custom_tool_call", True)


def test_a_message_that_only_brings_results_is_no_turn() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    text = {"type": "text", "text": "and now?"}
    messages = [
        {"role": "user", "content": [result]},
        {"role": "user", "content": [result, text]},
        {"role": "user", "content": []},
        {"role": "user", "content": ""},
    ]
    assert read_transcript(messages, "anthropic").turns == (1, 2, 3)
    contents = [
        {"role": "user", "parts": [{"functionResponse": {"name": "t"}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "t"}}]},
        {"parts": [{"text": "hi"}]},
    ]
    assert read_transcript(contents, "gemini").turns == (2,)
    own = [
        {"role": "user", "results": [{"id": "t", "text": "x"}]},
        {"role": "user", "content": "hi", "results": [{"id": "t", "text": "x"}]},
    ]
    assert read_transcript(own, "generic").turns == (1,)


def test_a_client_side_tool_search_of_the_provider_is_not_native() -> None:
    tools = [{"type": "function", "name": "x"}]
    output = {"type": "tool_search_output", "execution": "client", "tools": tools}
    assert read_transcript([output], "openai-responses").native == ()
    assert read_transcript([{**output, "execution": "server"}], "openai-responses").native


def test_references_in_a_tools_result_or_a_users_message_are_not_native() -> None:
    found = {
        "type": "tool_search_tool_result",
        "tool_use_id": "s",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "x"}],
        },
    }
    nested = {"type": "tool_result", "tool_use_id": "t", "content": [found]}
    messages = [{"role": "user", "content": [found, nested]}]
    assert read_transcript(messages, "anthropic").native == ()
    assert read_transcript([{"role": "assistant", "content": [found]}], "anthropic").native


def test_a_native_search_that_failed_has_found_nothing() -> None:
    types = pytest.importorskip("anthropic.types")
    block = types.ToolSearchToolResultBlock.model_validate(
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "s",
            "content": {
                "type": "tool_search_tool_result_error",
                "error_code": "unavailable",
                "error_message": None,
            },
        }
    )
    assert read_transcript([{"role": "assistant", "content": [block]}], "anthropic").native == ()
