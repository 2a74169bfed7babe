"""Is native search rendered as providers document it, and are their answers read?"""

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
    Capability,
    Gemini,
    NameCodec,
    NativeTools,
    OpenAIChat,
    OpenAIResponses,
    ProtocolViolation,
    WireCall,
    format_for,
    tombstones,
)

READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")
BM25 = Capability("anthropic", "bm25")
HOSTED = Capability("openai-responses", "hosted")


def tool(name: str, server: str | None = "git") -> Tool:
    kind = SourceKind.MCP if server else SourceKind.FUNCTION
    return Tool.of(
        ToolIdentity(kind, server or "functions", name),
        ToolDefinition(name, None, f"Does {name}.", {"properties": {"q": {"type": "string"}}}),
        READ,
    )


DEFINED = [tool("notes.add", None), tool("status")]
DEFERRED = (tool("log"), tool("notes.find", None), tool("find", "crm"), tool("blame"))
GONE = tombstones(
    ["mcp.git.old", "mcp.lost.thing", "notes.lost", "mcp.git.log"], ["mcp.git.log", "mcp.git.x"]
)


def native(capability: Capability, **changes: Any) -> NativeTools:
    return NativeTools(capability, **{"deferred": DEFERRED, "tombstones": GONE, **changes})


def codec() -> NameCodec:
    known = [one.identity for one in (*DEFINED, *DEFERRED)]
    return NameCodec.of([*known, *GONE])


# Anthropic.


def test_anthropic_gets_its_search_and_every_tool_and_defers_those_of_the_plan() -> None:
    rendered = Anthropic().tools(DEFINED, codec(), native(BM25))
    assert rendered[0] == {
        "type": "tool_search_tool_bm25_20251119",
        "name": "tool_search_tool_bm25",
    }
    assert [(one["name"], one.get("defer_loading")) for one in rendered[1:]] == [
        ("notes_add", None),
        ("mcp__git__status", None),
        ("mcp__git__log", True),
        ("notes_find", True),
        ("mcp__crm__find", True),
        ("mcp__git__blame", True),
        ("mcp__git__old", True),
        ("mcp__lost__thing", True),
        ("notes_lost", True),
    ]


def test_the_regex_search_can_be_asked_for() -> None:
    regex = native(Capability("anthropic", "regex"))
    assert Anthropic().tools(DEFINED, codec(), regex)[0] == {
        "type": "tool_search_tool_regex_20251119",
        "name": "tool_search_tool_regex",
    }


def test_a_tombstone_has_a_constant_description_and_an_empty_schema() -> None:
    *_, last = Anthropic().tools(DEFINED, codec(), native(BM25))
    assert last == {
        "name": "notes_lost",
        "description": "This tool is not available any more.",
        "input_schema": {"type": "object", "properties": {}},
        "defer_loading": True,
    }


def test_a_tool_that_is_there_has_no_tombstone() -> None:
    both = native(BM25, tombstones=(DEFINED[1].identity, DEFERRED[0].identity, GONE[0], GONE[0]))
    names = [one["name"] for one in Anthropic().tools(DEFINED, codec(), both)]
    assert len(names) == len(set(names)) == 1 + len(DEFINED) + len(DEFERRED) + 1


def test_the_order_of_the_tombstones_does_not_matter() -> None:
    for form, capability in ((Anthropic(), BM25), (OpenAIResponses(), HOSTED)):
        backwards = native(capability, tombstones=tuple(reversed(GONE)))
        assert form.tools(DEFINED, codec(), backwards) == form.tools(
            DEFINED, codec(), native(capability)
        )


def test_the_cache_marker_never_stands_on_a_deferred_tool() -> None:
    request = Anthropic().request(DEFINED, codec(), "", native=native(BM25), cached=True)
    marked = [one["name"] for one in request["tools"] if "cache_control" in one]
    assert marked == ["mcp__git__status"]
    everything_deferred = Anthropic().request([], codec(), "", native=native(BM25), cached=True)
    marked = [one["name"] for one in everything_deferred["tools"] if "cache_control" in one]
    assert marked == ["tool_search_tool_bm25"]


def test_a_marker_is_only_there_where_it_is_asked_for() -> None:
    for provider in PROVIDERS:
        form = format_for(provider)
        plain = form.request(DEFINED, form.codec(one.identity for one in DEFINED), "hi")
        assert "cache_control" not in canonical_text(plain)


def test_a_tool_of_ours_never_bears_the_name_of_the_providers_search() -> None:
    ours = ToolIdentity(SourceKind.FUNCTION, "functions", "tool_search_tool_bm25")
    found = NameCodec.of([ours])
    wire = found.wire("tool_search_tool_bm25")
    assert wire != "tool_search_tool_bm25"
    assert found.canonical(wire) == "tool_search_tool_bm25"


def test_anthropic_types_accept_what_is_rendered() -> None:
    types = pytest.importorskip("anthropic.types")
    adapter = TypeAdapter(types.ToolUnionParam)
    request = Anthropic().request(DEFINED, codec(), "", native=native(BM25), cached=True)
    for one in request["tools"]:
        assert adapter.validate_python(one)["name"] == one["name"]


# OpenAI.


def test_responses_get_one_namespace_for_each_server() -> None:
    rendered = OpenAIResponses().tools(DEFINED, codec(), native(HOSTED))
    assert rendered[0] == {"type": "tool_search"}
    flat = [one for one in rendered[1:] if one["type"] == "function"]
    assert [(one["name"], one.get("defer_loading")) for one in flat] == [
        ("notes_add", None),
        ("mcp__git__status", None),
        ("notes_find", True),
        ("notes_lost", True),
    ]
    spaces = [one for one in rendered if one["type"] == "namespace"]
    assert [(one["name"], [inner["name"] for inner in one["tools"]]) for one in spaces] == [
        ("mcp__git", ["mcp__git__log", "mcp__git__blame", "mcp__git__old"]),
        ("mcp__crm", ["mcp__crm__find"]),
        ("mcp__lost", ["mcp__lost__thing"]),
    ]
    assert all(inner["defer_loading"] for one in spaces for inner in one["tools"])
    assert all("defer_loading" not in one for one in spaces)


def test_names_of_namespaces_are_legal_and_distinct() -> None:
    servers = ["s" * 64, "s" * 63 + "x", "a", "a_", "x_0123456789abcdef"]
    form = OpenAIResponses()
    tools = tuple(tool("t", server) for server in servers)
    found = form.codec(one.identity for one in tools)
    rendered = form.tools([], found, NativeTools(HOSTED, tools))
    names = [one["name"] for one in rendered if one["type"] == "namespace"]
    assert len(set(names)) == len(servers)
    assert all(len(name) <= 64 for name in names)


def test_openai_types_accept_what_is_rendered() -> None:
    responses = pytest.importorskip("openai.types.responses")
    adapter = TypeAdapter(responses.ToolParam)
    for one in OpenAIResponses().tools(DEFINED, codec(), native(HOSTED)):
        accepted = adapter.validate_python(one)
        assert accepted["type"] == one["type"]


# Both.


@pytest.mark.parametrize("provider", ["generic", "openai", "gemini", "mcp"])
def test_a_provider_without_search_refuses_to_render_it(provider: str) -> None:
    form = format_for(provider)
    with pytest.raises(ConfigError, match=f"provider `{provider}` has no tool search of its own"):
        form.request(DEFINED, codec(), "", native=native(BM25))


def test_a_capability_of_another_provider_is_refused() -> None:
    for form, capability in ((Anthropic(), HOSTED), (OpenAIResponses(), BM25)):
        with pytest.raises(ConfigError, match="has no tool search of its own"):
            form.tools(DEFINED, codec(), native(capability))


ANTHROPIC_FOUND = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": "let me look", "citations": None},
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "tool_search_tool_bm25",
            "input": {"query": "history of a line"},
        },
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {
                "type": "tool_search_tool_search_result",
                "tool_references": [
                    {"type": "tool_reference", "tool_name": "mcp__git__blame"},
                    {"type": "tool_reference", "tool_name": "never_offered"},
                    {"type": "tool_reference", "tool_name": "mcp__git__log"},
                    {"type": "tool_reference", "tool_name": "mcp__git__blame"},
                ],
            },
        },
        {"type": "tool_use", "id": "t1", "name": "mcp__git__blame", "input": {"q": "x"}},
    ],
}
RESPONSES_FOUND = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "id": "ts1",
            "type": "tool_search_call",
            "execution": "server",
            "call_id": None,
            "status": "completed",
            "arguments": {"paths": ["mcp__git"]},
        },
        {
            "id": "to1",
            "type": "tool_search_output",
            "execution": "server",
            "call_id": None,
            "status": "completed",
            "tools": [
                {
                    "type": "namespace",
                    "name": "mcp__git",
                    "description": "Tools of the server git.",
                    "tools": [
                        {
                            "type": "function",
                            "name": "mcp__git__blame",
                            "parameters": {"type": "object"},
                            "defer_loading": True,
                        },
                        {"type": "function", "name": "mcp__git__log"},
                    ],
                },
                {
                    "type": "function",
                    "name": "notes_find",
                    "parameters": {"type": "object"},
                    "strict": False,
                },
            ],
        },
        {
            "id": "fc1",
            "type": "function_call",
            "call_id": "c1",
            "namespace": "mcp__git",
            "name": "mcp__git__blame",
            "arguments": '{"q":"x"}',
            "status": "completed",
        },
    ],
}


def test_anthropics_finds_are_read_and_its_calls_are_ordinary_ones() -> None:
    types = pytest.importorskip("anthropic.types")
    response: Any
    for response in (ANTHROPIC_FOUND, types.Message.model_validate(ANTHROPIC_FOUND)):
        assert Anthropic().found(response, codec()) == ("mcp.git.blame", "mcp.git.log")
        assert Anthropic().calls(response) == [WireCall("t1", "mcp__git__blame", {"q": "x"})]
        assert Anthropic().pause(response) is None


def test_openais_finds_are_read_and_its_calls_are_ordinary_ones() -> None:
    responses = pytest.importorskip("openai.types.responses")
    response: Any
    for response in (RESPONSES_FOUND, responses.Response.model_validate(RESPONSES_FOUND)):
        found = OpenAIResponses().found(response, codec())
        assert found == ("mcp.git.blame", "mcp.git.log", "notes.find")
        assert OpenAIResponses().calls(response) == [WireCall("c1", "mcp__git__blame", '{"q":"x"}')]


def test_a_failed_search_finds_nothing() -> None:
    content = {"type": "tool_search_tool_result_error", "error_code": "unavailable"}
    block = {"type": "tool_search_tool_result", "tool_use_id": "s", "content": content}
    assert Anthropic().found({"content": [block]}, codec()) == ()
    assert Anthropic().found({"content": "hello"}, codec()) == ()


@pytest.mark.parametrize("provider", ["generic", "openai", "gemini", "mcp"])
def test_a_provider_without_search_finds_nothing_and_never_pauses(provider: str) -> None:
    answers: dict[str, Any] = {
        "generic": {"choices": []},
        "openai": {"choices": []},
        "gemini": {"candidates": []},
        "mcp": {"method": "tools/call"},
    }
    response = answers[provider]
    form = format_for(provider)
    assert form.found(response, codec()) == ()
    assert form.pause(response) is None
    with pytest.raises(ConfigError, match=f"not a response of provider `{provider}`"):
        form.found({}, codec())


def test_finding_tools_does_not_change_the_array() -> None:
    before = canonical_text(Anthropic().tools(DEFINED, codec(), native(BM25)))
    Anthropic().found(ANTHROPIC_FOUND, codec())
    assert canonical_text(Anthropic().tools(DEFINED, codec(), native(BM25))) == before


# What a provider may not do.


def chat(part: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}, part]}}]}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}},
        {"type": "server_tool_use", "id": "s", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "s", "content": {}},
        {"type": "mcp_tool_use", "id": "m", "name": "x", "server_name": "y", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m", "content": []},
        {"type": "container_upload", "file_id": "f"},
    ],
)
def test_a_tool_that_anthropic_executed_is_a_protocol_violation(block: dict[str, Any]) -> None:
    call = {"type": "tool_use", "id": "t", "name": "notes_add", "input": {}}
    for content in ([block, call], [call, block]):
        for read in (Anthropic().calls, Anthropic().pause):
            with pytest.raises(ProtocolViolation, match="executed a tool itself") as caught:
                read({"content": content})
            assert caught.value.hint is not None


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "computer_call",
        "local_shell_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "program",
    ],
)
def test_a_tool_that_openai_executed_is_a_protocol_violation(kind: str) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "notes_add", "arguments": "{}"}
    with pytest.raises(ProtocolViolation, match=f"executed a tool itself \\(`{kind}`\\)"):
        OpenAIResponses().calls({"output": [call, {"type": kind, "id": "x"}]})


def test_a_search_that_the_client_should_have_run_is_a_protocol_violation() -> None:
    item = {"type": "tool_search_call", "execution": "client", "call_id": "c", "arguments": {}}
    with pytest.raises(ProtocolViolation):
        OpenAIResponses().calls({"output": [item]})


@pytest.mark.parametrize(
    "part",
    [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
        {"tool_call": {"id": "x"}},
    ],
)
def test_a_tool_that_gemini_executed_is_a_protocol_violation(part: dict[str, Any]) -> None:
    with pytest.raises(ProtocolViolation, match="executed a tool itself"):
        Gemini().calls(chat(part))


def test_a_search_of_the_web_by_gemini_is_a_protocol_violation() -> None:
    response = {"candidates": [{"groundingMetadata": {"webSearchQueries": ["x"]}}]}
    with pytest.raises(ProtocolViolation, match="`groundingMetadata`"):
        Gemini().calls(response)
    assert Gemini().calls({"candidates": [{"groundingMetadata": {}}]}) == []


@pytest.mark.parametrize(
    ("provider", "response"),
    [
        ("anthropic", {"content": [{"type": "from_the_future"}]}),
        ("anthropic", {"content": [{"type": "\x1b[31m"}]}),
        ("anthropic", {"content": [{}]}),
        ("anthropic", {"content": [7]}),
        ("anthropic", {"content": [{"type": ["text"]}]}),
        ("openai-responses", {"output": [{"type": "from_the_future"}]}),
        ("openai-responses", {"output": [None]}),
        ("gemini", chat({"fromTheFuture": {}})),
        ("gemini", {"candidates": [{"content": {"parts": ["x"]}}]}),
    ],
)
def test_a_part_of_an_unknown_type_is_no_silent_loss(provider: str, response: Any) -> None:
    with pytest.raises(ProtocolViolation, match="a part of an unknown type") as caught:
        format_for(provider).calls(response)
    assert "\x1b" not in str(caught.value)


def test_a_call_of_gemini_without_any_field_still_counts() -> None:
    assert Gemini().calls(chat({"functionCall": {}})) == [WireCall("call_1", "", {})]
    assert Gemini().calls(chat({"functionCall": 7})) == [WireCall("call_1", "", {})]


def test_an_unknown_kind_of_call_in_chat_completions_becomes_a_call_without_a_name() -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "new"}]}
    assert OpenAIChat().calls(message) == [WireCall("c", "", None)]
