"""Is a tool choice written as each provider wants it?"""

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
)
from toolkeeper_wire import ANY_TOOL, AUTO, NO_TOOL, PROVIDERS, ChoiceMode, ToolChoice, format_for

READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")


def tool(kind: SourceKind, source: str, name: str) -> Tool:
    return Tool.of(ToolIdentity(kind, source, name), ToolDefinition(name, None, "", {}), READ)


TOOLS = [
    tool(SourceKind.FUNCTION, "functions", "notes.add"),
    tool(SourceKind.FUNCTION, "functions", "none"),
    tool(SourceKind.MCP, "git", "x" * 70),
]
FORCED = ToolChoice.forced("notes.add")


def chosen(provider: str, choice: ToolChoice | None, tools: list[Tool] = TOOLS) -> dict[str, Any]:
    form = format_for(provider)
    request = form.request(tools, form.codec(one.identity for one in tools), "", choice=choice)
    return {key: value for key, value in request.items() if key not in ("tools", "system")}


@pytest.mark.parametrize(
    ("provider", "choice", "expected"),
    [
        ("openai", AUTO, {"tool_choice": "auto"}),
        ("generic", NO_TOOL, {"tool_choice": "none"}),
        ("openai", ANY_TOOL, {"tool_choice": "required"}),
        (
            "openai",
            FORCED,
            {"tool_choice": {"type": "function", "function": {"name": "notes_add"}}},
        ),
        ("openai-responses", AUTO, {"tool_choice": "auto"}),
        ("openai-responses", NO_TOOL, {"tool_choice": "none"}),
        ("openai-responses", ANY_TOOL, {"tool_choice": "required"}),
        (
            "openai-responses",
            FORCED,
            {"tool_choice": {"type": "function", "name": "notes_add"}},
        ),
        ("anthropic", AUTO, {"tool_choice": {"type": "auto"}}),
        ("anthropic", NO_TOOL, {"tool_choice": {"type": "none"}}),
        ("anthropic", ANY_TOOL, {"tool_choice": {"type": "any"}}),
        ("anthropic", FORCED, {"tool_choice": {"type": "tool", "name": "notes_add"}}),
        ("gemini", AUTO, {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
        ("gemini", NO_TOOL, {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
        ("gemini", ANY_TOOL, {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
        (
            "gemini",
            FORCED,
            {
                "toolConfig": {
                    "functionCallingConfig": {
                        "mode": "ANY",
                        "allowedFunctionNames": ["notes_add"],
                    }
                }
            },
        ),
        ("mcp", AUTO, {}),
    ],
)
def test_each_provider_gets_its_own_words(
    provider: str, choice: ToolChoice, expected: dict[str, Any]
) -> None:
    assert chosen(provider, choice) == expected


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_is_said_where_nothing_is_chosen(provider: str) -> None:
    assert chosen(provider, None) == {}


@pytest.mark.parametrize("choice", [NO_TOOL, ANY_TOOL, FORCED])
def test_mcp_has_no_tool_choice(choice: ToolChoice) -> None:
    with pytest.raises(ConfigError, match="provider `mcp` has no tool choice"):
        chosen("mcp", choice)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_forced_tool_has_to_be_defined(provider: str) -> None:
    with pytest.raises(ConfigError, match="forces `notes\\.ad`, which") as seen:
        chosen(provider, ToolChoice.forced("notes.ad"))
    assert seen.value.hint == "did you mean `notes.add`?"


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "mcp"])
def test_a_choice_among_no_tools_is_left_out_and_a_demand_is_refused(provider: str) -> None:
    assert chosen(provider, AUTO, []) == {}
    assert chosen(provider, NO_TOOL, []) == {}
    with pytest.raises(ConfigError, match="this request defines no tool"):
        chosen(provider, ANY_TOOL, [])


def test_a_tool_may_be_called_like_a_mode() -> None:
    assert chosen("anthropic", ToolChoice.forced("none")) == {
        "tool_choice": {"type": "tool", "name": "none"}
    }


def test_a_long_name_is_forced_by_its_alias() -> None:
    form = format_for("anthropic")
    wire = form.codec(one.identity for one in TOOLS).wire(TOOLS[2].name)
    assert len(wire) <= 64
    assert chosen("anthropic", ToolChoice.forced(TOOLS[2].name))["tool_choice"]["name"] == wire


def test_a_mode_and_a_name_have_to_fit() -> None:
    for mode, name in ((ChoiceMode.TOOL, None), (ChoiceMode.AUTO, "notes.add")):
        with pytest.raises(ConfigError, match="names a tool exactly when it forces one"):
            ToolChoice(mode, name)


@pytest.mark.parametrize("choice", [AUTO, NO_TOOL, ANY_TOOL, FORCED])
def test_the_sdks_types_accept_every_choice(choice: ToolChoice) -> None:
    anthropic = pytest.importorskip("anthropic.types")
    openai = pytest.importorskip("openai.types")
    genai = pytest.importorskip("google.genai.types")
    said = chosen("anthropic", choice)["tool_choice"]
    assert TypeAdapter(anthropic.ToolChoiceParam).validate_python(said) == said
    said = chosen("openai", choice)["tool_choice"]
    adapter = TypeAdapter(openai.chat.ChatCompletionToolChoiceOptionParam)
    assert adapter.validate_python(said) == said
    said = chosen("openai-responses", choice)["tool_choice"]
    adapter = TypeAdapter(openai.responses.response_create_params.ToolChoice)
    assert adapter.validate_python(said) == said
    said = chosen("gemini", choice)["toolConfig"]
    assert genai.ToolConfig.model_validate(said).function_calling_config is not None
