"""B01: the names of server and tool are too long together, unnoticed while the tool is deferred.

Right: the name that a provider sees is measured wherever it will ever stand (definition, search
answer, native reference, history), and an over-long one becomes an alias that is a pure function of
the whole identity. Nothing is merely cut.
"""

import re
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_wire import (
    Capability,
    NativeTools,
    RecordedCall,
    Step,
    ToolChoice,
    format_for,
    tombstones,
)

SERVER = "acme_developer_platform_connector"
NAME = "search_all_product_documentation_pages"
LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
WIRE_KEYS = ("name", "tool_name", "allowedFunctionNames")
READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")
PROVIDERS = ["generic", "openai", "openai-responses", "anthropic", "gemini"]


def tool(server: str, name: str) -> Tool:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    definition = ToolDefinition(name, None, "Search the documentation.", schema)
    return Tool.of(ToolIdentity(SourceKind.MCP, server, name), definition, READ)


LONG = [
    tool(SERVER, NAME),
    tool(SERVER, NAME + "_x"),
    tool("s" * 64, "t" * 128),
    tool("s" * 64, "t" * 127 + "u"),
    tool("s" * 63 + "r", "t" * 128),
]


def names_in(value: Any) -> list[str]:
    """Every name that a provider would check, wherever it stands; schemas have none here."""
    if isinstance(value, dict):
        found = [value[key] for key in WIRE_KEYS if isinstance(value.get(key), str)]
        found += [name for name in value.get("allowedFunctionNames", [])]
        return found + [name for inner in value.values() for name in names_in(inner)]
    return [name for inner in value for name in names_in(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_name_on_the_wire_fits(provider: str) -> None:
    form = format_for(provider)
    codec = form.codec(one.identity for one in LONG)
    talk = [Step(tuple(RecordedCall("c", one.name, {}, "r") for one in LONG))]
    choice = ToolChoice.forced(LONG[2].name)
    names = names_in(form.request(LONG, codec, "", choice=choice))
    names += names_in(form.history(talk, codec))
    assert len(names) >= 2 * len(LONG)
    assert all(LEGAL.fullmatch(name) for name in names)
    assert {codec.canonical(name) for name in names} == {one.name for one in LONG}


@pytest.mark.parametrize(
    ("provider", "variant"), [("anthropic", "bm25"), ("openai-responses", "hosted")]
)
def test_native_references_bear_the_same_alias(provider: str, variant: str) -> None:
    form = format_for(provider)
    gone = tombstones([tool("g" * 64, "x" * 100).name], [])
    codec = form.codec(one.identity for one in LONG).extended(gone)
    native = NativeTools(Capability(provider, variant), tuple(LONG), gone)
    names = names_in(form.tools([], codec, native))
    assert all(LEGAL.fullmatch(name) for name in names)
    assert {codec.wire(one.name) for one in LONG} <= set(names)


def test_the_alias_depends_on_nothing_but_the_identity() -> None:
    form = format_for("anthropic")
    alone = [form.codec([one.identity]).wire(one.name) for one in LONG]
    together = form.codec(one.identity for one in reversed(LONG))
    assert alone == [together.wire(one.name) for one in LONG]
    assert len(set(alone)) == len(LONG)


def test_a_deferred_long_name_is_found_called_and_answered(home: Any) -> None:
    home.agent["deferred_tools"] = [f"mcp.{SERVER}.{NAME}"]
    home.serve(
        SERVER,
        [{"name": NAME, "description": "Search the documentation.", "inputSchema": {}}],
        trust="trusted",
    )
    home.settings["classification"] = [
        {"tools": [f"mcp.{SERVER}.{NAME}"], "side_effect": "network_read"}
    ]
    home.write()
    (request,) = home.here("plan", "--agent", "chat", "--render", "--provider", "anthropic")
    assert all(LEGAL.fullmatch(one["name"]) for one in request["tools"])
    wire = format_for("anthropic").codec([LONG[0].identity]).wire(LONG[0].name)
    found, by_name, by_wire = home.run(
        {"id": "c1", "tool": "tool.search", "arguments": {"query": "documentation"}},
        {"id": "c2", "tool": "tool.call", "arguments": {"name": LONG[0].name, "arguments": {}}},
        {"id": "c3", "tool": wire, "arguments": {}},
        expect=0,
    )
    assert LONG[0].name in found["result"]
    assert by_name["tool"] == by_wire["tool"] == LONG[0].name
    assert by_name["result"] == by_wire["result"]
