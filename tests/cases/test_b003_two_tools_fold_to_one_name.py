"""B03: two tools of one server fold to the same sanitised name; one can never be reached.

Right: the final names are unique, inside a server and across servers; a clash is resolved
deterministically, never by who came first.
"""

import itertools
from typing import Any

import pytest

from toolkeeper_contract import SourceKind, ToolIdentity
from toolkeeper_wire import PROVIDERS, format_for

pytestmark = pytest.mark.in_this_process

# Each of these groups folds to one name under some popular sanitiser.
GROUPS = [
    [("kb", "search-a"), ("kb", "search_a"), ("kb", "search.a"), ("kb", "Search_a")],
    [("a", "b__c"), ("a__b", "c"), ("a_", "_b__c"), ("a", "b_c")],
    [("kb", "x"), ("kb", "x_"), ("kb", "_x"), ("kb", "x-"), ("kb", "x.")],
    [("s" * 40, "t" * 60), ("s" * 40, "t" * 61), ("s" * 41, "t" * 60)],
]


def identity(server: str, name: str) -> ToolIdentity:
    return ToolIdentity(SourceKind.MCP, server, name)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("group", GROUPS)
def test_every_tool_has_a_name_of_its_own_in_any_order(
    provider: str, group: list[tuple[str, str]]
) -> None:
    form = format_for(provider)
    tools = [identity(*one) for one in group]
    tables = [dict(form.codec(order).names()) for order in itertools.permutations(tools)]
    assert all(table == tables[0] for table in tables)
    assert len(set(tables[0].values())) == len(tools)


def test_a_tool_of_ours_may_be_spelled_like_a_discovered_one() -> None:
    ours = ToolIdentity(SourceKind.FUNCTION, "functions", "mcp__kb__x")
    dotted = ToolIdentity(SourceKind.FUNCTION, "functions", "notes.add")
    flat = ToolIdentity(SourceKind.FUNCTION, "functions", "notes_add")
    tools = [ours, identity("kb", "x"), dotted, flat]
    for order in itertools.permutations(tools):
        codec = format_for("openai").codec(order)
        names = codec.names()
        assert len(set(names.values())) == len(tools)
        assert all(codec.canonical(wire) == name for name, wire in names.items())
        assert names["notes_add"] == "notes_add"


def test_both_tools_can_be_called(home: Any) -> None:
    names = ["search-a", "search_a", "search.a"]
    listed = [
        {"name": name, "description": f"Search by {name}.", "inputSchema": {}} for name in names
    ]
    home.settings["classification"] = [{"tools": ["mcp.kb.*"], "side_effect": "network_read"}]
    home.serve("kb", listed, trust="trusted")
    codec = format_for("generic").codec(identity("kb", name) for name in names)
    lines = home.run(
        *(
            {"id": f"c{n}", "tool": codec.wire(f"mcp.kb.{name}"), "arguments": {}}
            for n, name in enumerate(names)
        ),
        expect=0,
    )
    assert [line["tool"] for line in lines] == [f"mcp.kb.{name}" for name in names]
    assert all(f"done {name}" in line["result"] for name, line in zip(names, lines, strict=True))
