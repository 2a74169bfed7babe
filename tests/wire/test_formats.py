"""Do the formats read what providers send, and write what their own types accept?"""

import dataclasses
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
    canonical_text,
)
from toolkeeper_wire import (
    PROVIDERS,
    Anthropic,
    Gemini,
    Generic,
    Mcp,
    OpenAIChat,
    OpenAIResponses,
    WireCall,
    WireResult,
    cache_marked,
    format_for,
)

WRITE = Classification(SideEffect.NETWORK_WRITE, frozenset(), "worst_case")


def tool(name: str, schema: dict[str, Any], description: str = "does it") -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.MCP, "kb", name),
        ToolDefinition(name, "A title", description, schema),
        WRITE,
    )


TOOLS = [
    tool("add", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}),
    tool("att.create", {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
    tool("bare", {}),
    tool("meta", {"properties": {"$meta": {"type": "string"}}, "required": ["$meta"]}),
]


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "generic"])
def test_one_definition_costs_exactly_what_it_puts_on_the_wire(provider: str) -> None:
    form = format_for(provider)
    codec = form.codec(one.identity for one in TOOLS)
    rendered = canonical_text(form.tools(TOOLS, codec))
    for one in TOOLS:
        assert any(text in rendered for text in form.texts(one))


def test_generic_is_written_like_chat_and_priced_as_other_formats_write_it() -> None:
    codec = Generic().codec(one.identity for one in TOOLS)
    assert Generic().tools(TOOLS, codec) == OpenAIChat().tools(TOOLS, codec)
    others = [form for form in map(format_for, PROVIDERS) if form.name != "generic"]
    for one in TOOLS:
        assert set(Generic().texts(one)) <= {text for form in others for text in form.texts(one)}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_was_rendered_may_be_written_into(provider: str) -> None:
    form = format_for(provider)
    codec = form.codec(one.identity for one in TOOLS)
    before = canonical_text(form.tools(TOOLS, codec))
    rendered = form.tools(TOOLS, codec)
    for entry in rendered[0].get("functionDeclarations", rendered):
        body = entry.get("function", entry)
        for key in ("parameters", "input_schema", "inputSchema", "parametersJsonSchema"):
            body.get(key, {}).get("properties", {}).clear()
    assert canonical_text(form.tools(TOOLS, codec)) == before


def test_tools_of_one_fingerprint_and_other_words_are_not_confused() -> None:
    first = dataclasses.replace(tool("a", {}, "the first"), fingerprint="same")
    second = dataclasses.replace(
        tool("b", {"properties": {"q": {}}}, "another"), fingerprint="same"
    )
    for form in map(format_for, PROVIDERS):
        assert all("the first" in text for text in form.texts(first))
        assert all("another" in text for text in form.texts(second))


def test_an_unknown_provider_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="`antropic` is not a known provider") as caught:
        format_for("antropic")
    assert caught.value.hint == "did you mean `anthropic`?"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_request_without_tools_has_an_empty_array(provider: str) -> None:
    form = format_for(provider)
    assert form.request([], form.codec([]), "be brief") == {"tools": [], "system": "be brief"}


def test_foreign_texts_are_cleaned_and_capped() -> None:
    dirty = "a\u202eb\x1b[31mc" + "d" * 10_000
    one = tool("x", {"properties": {"q": {"description": dirty}}}, dirty)
    for provider in PROVIDERS:
        for text in format_for(provider).texts(one):
            assert "\u202e" not in text
            assert "\\u001b" not in text
            assert len(text) < 9_500


@pytest.mark.parametrize("levels", [100, 300, 5_000])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_of_any_depth_costs_no_other_tool(provider: str, levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    form = format_for(provider)
    tools = [TOOLS[0], dataclasses.replace(tool("deep", {}), fingerprint=f"deep {levels}")]
    tools[1] = dataclasses.replace(
        tools[1], definition=dataclasses.replace(tools[1].definition, input_schema=schema)
    )
    codec = form.codec(one.identity for one in tools)
    text = canonical_text(form.tools(tools, codec))
    assert canonical_text(form.tools(tools[:1], codec))[1:-3] in text
    assert ("nested too deeply" in text) == (levels > 100)
    assert form.texts(tools[1])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_huge_is_rendered_within_bounds(provider: str) -> None:
    huge = tool("x", {"properties": {"q": {"description": "d" * 5_000_000}}}, "d" * 5_000_000)
    (first, *_) = format_for(provider).texts(huge)
    assert len(first) < 10_000


def test_a_description_of_ours_is_cleaned_but_not_cut() -> None:
    own = Tool.of(
        ToolIdentity(SourceKind.FUNCTION, "functions", "x"),
        ToolDefinition("x", None, "d" * 10_000, {}),
        WRITE,
    )
    (text,) = OpenAIChat().texts(own)
    assert "d" * 10_000 in text


# What the official types accept.


def test_openai_types_accept_what_is_rendered() -> None:
    openai = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    chat = OpenAIChat()
    codec = chat.codec(one.identity for one in TOOLS)
    adapter = TypeAdapter(openai.ChatCompletionFunctionToolParam)
    flat = TypeAdapter(responses.FunctionToolParam)
    for rendered in chat.tools(TOOLS, codec):
        assert adapter.validate_python(rendered) == rendered
    for rendered in OpenAIResponses().tools(TOOLS, codec):
        assert flat.validate_python(rendered) == rendered
    message = chat.result(WireResult("c1", "add", "done"))
    TypeAdapter(openai.ChatCompletionToolMessageParam).validate_python(message)
    item = OpenAIResponses().result(WireResult("c1", "add", "done"))
    TypeAdapter(responses.response_input_param.FunctionCallOutput).validate_python(item)


def test_anthropic_types_accept_what_is_rendered() -> None:
    types = pytest.importorskip("anthropic.types")
    form = Anthropic()
    adapter = TypeAdapter(types.ToolParam)
    for rendered in form.tools(TOOLS, form.codec(one.identity for one in TOOLS)):
        assert adapter.validate_python(rendered)["name"] == rendered["name"]
    (message,) = form.results([WireResult("t1", "add", "done"), WireResult("t2", "x", "no", True)])
    TypeAdapter(types.MessageParam).validate_python(message)
    assert [block["tool_use_id"] for block in message["content"]] == ["t1", "t2"]
    assert [block["is_error"] for block in message["content"]] == [False, True]


def test_gemini_types_accept_what_is_rendered() -> None:
    types = pytest.importorskip("google.genai.types")
    form = Gemini()
    (rendered,) = form.tools(TOOLS, form.codec(one.identity for one in TOOLS))
    parsed = types.Tool.model_validate(rendered)
    assert len(parsed.function_declarations) == len(TOOLS)
    (message,) = form.results([WireResult("c1", "mcp__kb__add", "done")])
    assert types.Content.model_validate(message).parts[0].function_response.name == "mcp__kb__add"


def test_mcp_types_accept_what_is_rendered() -> None:
    types = pytest.importorskip("mcp_types")
    form = Mcp()
    for rendered in form.tools(TOOLS, form.codec(one.identity for one in TOOLS)):
        assert types.Tool.model_validate(rendered).title == "A title"
    result = form.result(WireResult("1", "mcp.kb.add", "no", True))
    assert types.CallToolResult.model_validate(result).is_error


# What providers send.

CHAT = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "mcp__kb__add", "arguments": '{"q": 1, "q": 2}'},
                    },
                    {"id": "c2", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
                ],
            },
        }
    ],
}
CHAT_CALLS = [
    WireCall("c1", "mcp__kb__add", '{"q": 1, "q": 2}'),
    WireCall("c2", "shell", "ls"),
]
RESPONSES = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {"id": "rs", "type": "reasoning", "summary": []},
        {
            "id": "fc",
            "type": "function_call",
            "call_id": "c1",
            "name": "mcp__kb__add",
            "arguments": "{}",
            "status": "completed",
        },
    ],
}
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": "let me look", "citations": None},
        {"type": "tool_use", "id": "t1", "name": "mcp__kb__add", "input": {"q": "x", "n": None}},
    ],
}
GENERATED = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "let me look"},
                    {"functionCall": {"name": "mcp__kb__add", "args": {"q": "x"}}},
                    {"functionCall": {"id": "g7", "name": "mcp__kb__bare"}},
                ],
            }
        }
    ]
}


def test_chat_completions_are_read_as_mapping_and_as_object() -> None:
    assert OpenAIChat().calls(CHAT) == CHAT_CALLS
    assert OpenAIChat().calls(CHAT["choices"][0]["message"]) == CHAT_CALLS  # type: ignore[index]
    chat = pytest.importorskip("openai.types.chat")
    assert OpenAIChat().calls(chat.ChatCompletion.model_validate(CHAT)) == CHAT_CALLS


def test_responses_are_read_as_mapping_and_as_object() -> None:
    expected = [WireCall("c1", "mcp__kb__add", "{}")]
    assert OpenAIResponses().calls(RESPONSES) == expected
    responses = pytest.importorskip("openai.types.responses")
    assert OpenAIResponses().calls(responses.Response.model_validate(RESPONSES)) == expected


def test_messages_are_read_as_mapping_and_as_object() -> None:
    expected = [WireCall("t1", "mcp__kb__add", {"q": "x", "n": None})]
    assert Anthropic().calls(MESSAGE) == expected
    types = pytest.importorskip("anthropic.types")
    assert Anthropic().calls(types.Message.model_validate(MESSAGE)) == expected


def test_generated_content_is_read_as_mapping_and_as_object() -> None:
    expected = [WireCall("call_1", "mcp__kb__add", {"q": "x"}), WireCall("g7", "mcp__kb__bare", {})]
    assert Gemini().calls(GENERATED) == expected
    types = pytest.importorskip("google.genai.types")
    response = types.GenerateContentResponse.model_validate(GENERATED)
    assert Gemini().calls(response) == expected


def test_mcp_requests_are_read() -> None:
    request = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "a.b"}}
    assert Mcp().calls(request) == [WireCall("7", "a.b", {})]
    request["params"] = {"name": "a.b", "arguments": None}
    assert Mcp().calls(request) == [WireCall("7", "a.b", None)]


@pytest.mark.parametrize(
    ("provider", "response"),
    [
        ("openai", {}),
        ("openai", {"choices": {}}),
        ("openai", []),
        ("openai", "text"),
        ("openai", None),
        ("openai", MESSAGE | {"role": "user"}),
        ("openai-responses", CHAT),
        ("openai-responses", {"output": "x"}),
        ("anthropic", CHAT),
        ("anthropic", {"content": 7}),
        ("gemini", MESSAGE),
        ("gemini", {"candidates": {}}),
        ("mcp", [{"method": "tools/call"}, {"method": "tools/call"}]),
        ("mcp", {"method": "resources/read"}),
    ],
)
def test_what_is_no_response_of_the_provider_is_refused(provider: str, response: Any) -> None:
    with pytest.raises(ConfigError, match=f"not a response of provider `{provider}`"):
        format_for(provider).calls(response)


@pytest.mark.parametrize(
    ("provider", "response"),
    [
        ("openai", {"choices": []}),
        ("openai", {"choices": [{"message": {"content": "hello", "tool_calls": None}}]}),
        ("openai-responses", {"output": [{"type": "reasoning", "summary": []}]}),
        ("anthropic", {"content": "hello"}),
        ("anthropic", {"content": [{"type": "thinking", "thinking": "x"}]}),
        ("gemini", {"candidates": None, "promptFeedback": {"blockReason": "SAFETY"}}),
        ("gemini", {"candidates": [{"finishReason": "STOP"}]}),
    ],
)
def test_a_response_without_calls_has_none(provider: str, response: Any) -> None:
    assert format_for(provider).calls(response) == []


@pytest.mark.parametrize("name", ["", None, 7, ["a"]])
def test_a_call_without_a_usable_name_still_counts(name: Any) -> None:
    function = {"id": "c1", "function": {"name": name, "arguments": "{}"}}
    block = {"type": "tool_use", "id": "c1", "name": name, "input": {}}
    expected = [WireCall("c1", "", "{}")]
    assert OpenAIChat().calls({"choices": [{"message": {"tool_calls": [function]}}]}) == expected
    assert Anthropic().calls({"content": [block]}) == [WireCall("c1", "", {})]
    assert OpenAIChat().calls({"choices": [{"message": {"tool_calls": [7]}}]}) == [
        WireCall("", "", None)
    ]


def test_a_legacy_function_call_is_read() -> None:
    message = {"role": "assistant", "function_call": {"name": "a", "arguments": "{}"}}
    assert OpenAIChat().calls(message) == [WireCall("function_call", "a", "{}")]


# Cache markers.


def test_the_cache_marker_is_on_the_last_tool_that_is_not_deferred() -> None:
    tools: list[dict[str, Any]] = [
        {"name": "a"},
        {"name": "b"},
        {"name": "c", "defer_loading": True},
    ]
    marked = cache_marked(tools)
    assert ["cache_control" in one for one in marked] == [False, True, False]
    assert "cache_control" not in tools[1]
    assert cache_marked([{"name": "c", "defer_loading": True}]) == [tools[2]]
    assert cache_marked([]) == []


def test_everything_rendered_is_plain_json() -> None:
    for provider in PROVIDERS:
        form = format_for(provider)
        request = form.request(TOOLS, form.codec(one.identity for one in TOOLS), "hi")
        assert json.loads(json.dumps(request)) == request
