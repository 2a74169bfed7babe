"""Can a recorded conversation go on with another provider?"""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from toolkeeper_contract import (
    Classification,
    ConfigError,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
    canonical_bytes,
)
from toolkeeper_wire import (
    Anthropic,
    CallIds,
    Capability,
    Entry,
    Gemini,
    NameCodec,
    NativeTools,
    OpenAIChat,
    OpenAIResponses,
    RecordedCall,
    Said,
    Step,
    WireCall,
    format_for,
    tombstones,
)

TALKING = ["generic", "openai", "openai-responses", "anthropic", "gemini"]
ADD = ToolIdentity(SourceKind.FUNCTION, "functions", "notes.add")
LOG = ToolIdentity(SourceKind.MCP, "git", "log")
LONG = ToolIdentity(SourceKind.MCP, "s" * 60, "t" * 60)
CODEC = NameCodec.of([ADD, LOG, LONG])
TALK: list[Entry] = [
    Said("user", "note the last commit"),
    Step(
        (
            RecordedCall("c1", "mcp.git.log", '{"n": 1}', "abc fix"),
            RecordedCall("c2", "notes.add", {"title": "x"}, "no such page", True),
        ),
        "let me look",
    ),
    Step((RecordedCall("c3", "notes.add", {"title": "abc"}, "added"),)),
    Said("assistant", "done"),
]


def ids(limit: int, *given: str) -> list[str]:
    made = CallIds(limit)
    return [made.next(one) for one in given]


def step(**changes: Any) -> list[Step]:
    fields: dict[str, Any] = {"call_id": "c", "name": "notes.add", "arguments": {}, "result": "r"}
    return [Step((RecordedCall(**fields | changes),))]


def test_chat_completions_get_a_message_for_each_result() -> None:
    assert OpenAIChat().history(TALK, CODEC) == [
        {"role": "user", "content": "note the last commit"},
        {
            "role": "assistant",
            "content": "let me look",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "mcp__git__log", "arguments": '{"n": 1}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "notes_add", "arguments": '{"title":"x"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "abc fix"},
        {"role": "tool", "tool_call_id": "c2", "content": "no such page"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c3",
                    "type": "function",
                    "function": {"name": "notes_add", "arguments": '{"title":"abc"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c3", "content": "added"},
        {"role": "assistant", "content": "done"},
    ]


def test_responses_get_flat_items() -> None:
    items = OpenAIResponses().history(TALK, CODEC)
    assert [item.get("type", item.get("role")) for item in items] == [
        "user",
        "assistant",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "function_call",
        "function_call_output",
        "assistant",
    ]
    assert items[2] == {
        "type": "function_call",
        "call_id": "c1",
        "name": "mcp__git__log",
        "arguments": '{"n": 1}',
    }


def test_anthropic_gets_all_results_of_a_step_in_one_message() -> None:
    _, asked, answered, *_ = Anthropic().history(TALK, CODEC)
    assert asked["content"] == [
        {"type": "text", "text": "let me look"},
        {"type": "tool_use", "id": "c1", "name": "mcp__git__log", "input": {"n": 1}},
        {"type": "tool_use", "id": "c2", "name": "notes_add", "input": {"title": "x"}},
    ]
    assert answered["role"] == "user"
    assert [(one["tool_use_id"], one["is_error"]) for one in answered["content"]] == [
        ("c1", False),
        ("c2", True),
    ]


def test_gemini_gets_parts_and_its_own_roles() -> None:
    said, asked, answered, *_, last = Gemini().history(TALK, CODEC)
    assert said == {"role": "user", "parts": [{"text": "note the last commit"}]}
    assert asked["role"] == last["role"] == "model"
    assert asked["parts"][1] == {
        "functionCall": {"id": "c1", "name": "mcp__git__log", "args": {"n": 1}}
    }
    assert answered["parts"][1]["functionResponse"]["response"] == {"error": "no such page"}


def test_mcp_carries_no_conversation() -> None:
    with pytest.raises(ConfigError, match="provider `mcp` carries no conversation"):
        format_for("mcp").history(TALK, CODEC)


def test_the_sdks_types_accept_the_history() -> None:
    openai = pytest.importorskip("openai.types")
    anthropic = pytest.importorskip("anthropic.types")
    genai = pytest.importorskip("google.genai.types")
    chat = TypeAdapter(openai.chat.ChatCompletionMessageParam)
    for message in OpenAIChat().history(TALK, CODEC):
        assert chat.validate_python(message)["role"] == message["role"]
    items = TypeAdapter(openai.responses.ResponseInputItemParam)
    for item in OpenAIResponses().history(TALK, CODEC):
        items.validate_python(item)
    messages = TypeAdapter(anthropic.MessageParam)
    for message in Anthropic().history(TALK, CODEC):
        messages.validate_python(message)
    for message in Gemini().history(TALK, CODEC):
        assert genai.Content.model_validate(message).parts


def test_what_was_rendered_as_history_reads_as_the_same_calls() -> None:
    answer = OpenAIChat().history(TALK, CODEC)[1]
    assert OpenAIChat().calls(answer) == [
        WireCall("c1", "mcp__git__log", '{"n": 1}'),
        WireCall("c2", "notes_add", '{"title":"x"}'),
    ]
    assert Anthropic().calls(Anthropic().history(TALK, CODEC)[1]) == [
        WireCall("c1", "mcp__git__log", {"n": 1}),
        WireCall("c2", "notes_add", {"title": "x"}),
    ]
    content = Gemini().history(TALK, CODEC)[1]
    assert len(Gemini().calls({"candidates": [{"content": content}]})) == 2
    items = OpenAIResponses().history(TALK, CODEC)
    assert len(OpenAIResponses().calls({"output": items[2:4]})) == 2


# Names.


@pytest.mark.parametrize("provider", TALKING)
@pytest.mark.parametrize(
    "name", ["mcp.gone.tool", "x" * 200_000, "get role", "", "\ud800", "a.b", "mcp..", "mcp.a."]
)
def test_a_name_that_no_provider_takes_becomes_a_legal_alias(provider: str, name: str) -> None:
    history = format_for(provider).history(step(name=name), CODEC)
    canonical_bytes(history)
    (wire,) = {
        value
        for value in _named(history, "name")
        if not isinstance(value, dict)  # the message of a call
    }
    assert CODEC.form.takes(wire)
    assert wire not in CODEC.names().values()


def _named(value: Any, key: str) -> list[Any]:
    if isinstance(value, dict):
        own = [value[key]] if key in value else []
        return own + [found for inner in value.values() for found in _named(inner, key)]
    if isinstance(value, list):
        return [found for inner in value for found in _named(inner, key)]
    return []


def test_a_vanished_tool_keeps_the_wire_name_that_it_had() -> None:
    (message, *_) = Anthropic().history(step(name="mcp.git.log"), NameCodec())
    assert message["content"][0]["name"] == "mcp__git__log"
    (message, *_) = Anthropic().history(step(name=LONG.canonical_name), NameCodec())
    assert message["content"][0]["name"] == CODEC.wire(LONG.canonical_name)


def test_a_near_miss_stays_what_the_model_said() -> None:
    (message, *_) = Anthropic().history(step(name="notes_ad"), CODEC)
    assert message["content"][0]["name"] == "notes_ad"


# Ids.


def test_ids_that_fit_stay_and_clashes_get_a_number() -> None:
    assert ids(64, "c1", "c2", "c1", "c1") == ["c1", "c2", "c1_2", "c1_3"]
    assert ids(64, "c1", "c1", "c1_2") == ["c1", "c1_2", "c1_2_2"]
    assert ids(64, "c1_2", "c1", "c1") == ["c1_2", "c1", "c1_3"]
    assert ids(64, "", "", "call") == ["call", "call_2", "call_3"]


def test_ids_that_a_provider_refuses_become_a_prefix_and_a_hash() -> None:
    first, second, third = ids(40, "c" * 41, "a b", "c" * 42)
    assert first != third
    assert all(len(one) <= 40 for one in (first, second, third))
    assert second.startswith("a_b_")
    assert ids(40, "a b", "a_b", "a.b") == ids(40, "a b", "a_b", "a.b")
    assert len(set(ids(40, "a b", "a_b", "a.b", "\ud800", "ü"))) == 5


def test_numbers_never_make_an_id_too_long() -> None:
    found = ids(40, *["c" * 40] * 12, *["d" * 39] * 3)
    assert len(set(found)) == 15
    assert all(len(one) <= 40 for one in found)


def test_each_result_stays_with_its_call_when_a_server_repeats_ids() -> None:
    talk: list[Entry] = [
        Step(
            (
                RecordedCall("c1", "notes.add", {"title": "a"}, "first"),
                RecordedCall("c1", "notes.add", {"title": "b"}, "second"),
            )
        ),
        Said("user", "go on"),
        Step((RecordedCall("c1", "notes.add", {"title": "c"}, "third"),)),
    ]
    messages = OpenAIChat().history(talk, CODEC)
    called = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    answered = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    assert called == ["c1", "c1_2", "c1_3"]
    assert answered == {"c1": "first", "c1_2": "second", "c1_3": "third"}


# Arguments and results.


@pytest.mark.parametrize(
    "text",
    ['{"a": ', "[1]", '"x"', '{"a": 1, "a": 2}', '{"a": NaN}', "null", "", '{"a": "\\ud800"}'],
)
def test_arguments_that_are_no_object_are_carried_as_text(text: str) -> None:
    chat = OpenAIChat().history(step(arguments=text), CODEC)[0]
    assert chat["tool_calls"][0]["function"]["arguments"] == text
    block = Anthropic().history(step(arguments=text), CODEC)[0]["content"][0]
    assert block["input"] == {"unreadable_arguments": text}
    part = Gemini().history(step(arguments=text), CODEC)[0]["parts"][0]
    assert part["functionCall"]["args"] == {"unreadable_arguments": text}


@pytest.mark.parametrize("arguments", [None, {"b": 1, "a": "é"}, {"n": 10**30}, {"f": 1.0}])
def test_parsed_arguments_are_written_canonically(arguments: Any) -> None:
    chat = OpenAIChat().history(step(arguments=arguments), CODEC)[0]
    assert json.loads(chat["tool_calls"][0]["function"]["arguments"]) == (arguments or {})
    block = Anthropic().history(step(arguments=arguments), CODEC)[0]["content"][0]
    assert block["input"] == (arguments or {})


@pytest.mark.parametrize("provider", TALKING)
def test_nothing_in_a_recorded_call_breaks_the_request(provider: str) -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"a": deep}
    for arguments in ("\ud800", {"a": "\udfff"}, "[" * 100_000, {"a": object()}, deep, 7):
        history = format_for(provider).history(
            [Said("user", "\ud83d"), *step(arguments=arguments, result="\udc00", call_id="\ud800")],
            CODEC,
        )
        json.dumps(history, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("provider", TALKING)
def test_a_call_without_a_result_gets_one(provider: str) -> None:
    history = format_for(provider).history(step(result=None), CODEC)
    assert "was interrupted, and its outcome is not known" in json.dumps(history)


@pytest.mark.parametrize("provider", TALKING)
def test_empty_words_and_empty_steps_make_no_message(provider: str) -> None:
    empty: list[Entry] = [Said("user", ""), Step(()), Step((), "only words"), Said("assistant", "")]
    assert len(format_for(provider).history(empty, CODEC)) == 1
    assert format_for(provider).history([], CODEC) == []


# Native search.


def test_a_call_of_a_deferred_tool_names_its_namespace() -> None:
    log = Tool.of(
        LOG,
        ToolDefinition("log", None, "", {}),
        Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case"),
    )
    native = NativeTools(
        Capability("openai-responses", "hosted"), (log,), tombstones(["mcp.old.x"], [])
    )
    codec = CODEC.extended(native.tombstones)
    talk: list[Entry] = [
        *step(name="mcp.git.log"),
        *step(name="notes.add"),
        *step(name="mcp.old.x"),
    ]
    calls = [
        item
        for item in OpenAIResponses().history(talk, codec, native)
        if item["type"] == "function_call"
    ]
    assert [call.get("namespace") for call in calls] == ["mcp__git", None, "mcp__old"]
    responses = pytest.importorskip("openai.types.responses")
    adapter = TypeAdapter(responses.ResponseFunctionToolCallParam)
    for call in calls:
        assert adapter.validate_python(call) == call
    assert not any("namespace" in item for item in OpenAIResponses().history(talk, codec))
