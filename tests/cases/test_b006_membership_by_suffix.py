"""B06: which server a tool belongs to is read off the end of a joined name.

Right: server and tool travel as data; nothing splits or matches a joined name, so that one server
never answers, or disappears, for another whose id ends or begins alike.
"""

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
from toolkeeper_wire import Capability, NameCodec, NativeTools, OpenAIResponses, format_for

SERVERS = ["bar", "foo__bar", "foo_x_bar", "bar__foo", "bar_", "mcp__bar", "ba"]
READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")


def tool(server: str, name: str = "get") -> Tool:
    identity = ToolIdentity(SourceKind.MCP, server, name)
    return Tool.of(identity, ToolDefinition(name, None, f"Of {server}.", {}), READ)


TOOLS = [tool(server) for server in SERVERS]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mcp"])
def test_a_wire_name_leads_back_to_its_own_server(provider: str) -> None:
    codec = format_for(provider).codec(one.identity for one in TOOLS)
    for one in TOOLS:
        assert codec.canonical(codec.wire(one.name)) == one.name
        assert codec.identity(one.name) == one.identity


def test_a_discovered_name_never_changes_for_another_server() -> None:
    alone = {one.name: NameCodec.of([one.identity]).wire(one.name) for one in TOOLS}
    assert dict(NameCodec.of(one.identity for one in TOOLS).names()) == alone


def test_each_server_is_a_namespace_of_its_own() -> None:
    codec = NameCodec.of(one.identity for one in TOOLS)
    native = NativeTools(Capability("openai-responses", "hosted"), tuple(TOOLS))
    spaces = [
        one for one in OpenAIResponses().tools([], codec, native) if one["type"] == "namespace"
    ]
    assert len({one["name"] for one in spaces}) == len(SERVERS)
    assert all(len(one["tools"]) == 1 for one in spaces)
    for one, server in zip(spaces, SERVERS, strict=True):
        assert one["tools"][0]["description"] == f"Of {server}."


def test_taking_one_server_away_takes_no_other_tools(home: Any) -> None:
    for server in ("bar", "foo__bar"):
        home.serve(server, [{"name": "get", "description": f"Of {server}.", "inputSchema": {}}])
    (both,) = home.here("plan", "--agent", "chat")
    del home.servers["bar"]
    home.agent["servers"].remove("bar")
    home.write()
    (one,) = home.here("plan", "--agent", "chat")
    assert {"mcp.bar.get", "mcp.foo__bar.get"} <= set(both["costs"]["tools"])
    assert set(both["costs"]["tools"]) - set(one["costs"]["tools"]) == {"mcp.bar.get"}
