"""The deferred index in the prompt."""

from collections import Counter

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import index_line, region_overhead, render_region

TOKEN = "0123456789abcdef"


def tool(name: str, server: str | None = None, kind: SourceKind = SourceKind.MCP) -> Tool:
    identity = ToolIdentity(kind if server else SourceKind.FUNCTION, server or "functions", name)
    return Tool.of(identity, ToolDefinition(name, None, f"Does <{name}>. Well.", {}), CONTROL)


def test_nothing_to_say_is_an_empty_string() -> None:
    assert render_region(token=TOKEN, tools=[]) == ""
    assert render_region(token=TOKEN, tools=[], searchable=3) == ""


def test_ours_stand_plain_before_one_envelope_for_each_source() -> None:
    tools = [tool("a", "two"), tool("mine"), tool("b", "one"), tool("c", "two")]
    lines = render_region(token=TOKEN, tools=tools).split("\n")
    assert lines[-8:] == [
        "mine() - Does <mine>.",
        f"<EXTERNAL_UNTRUSTED id={TOKEN} source=two>",
        "mcp.two.a() - Does &lt;a&gt;.",
        "mcp.two.c() - Does &lt;c&gt;.",
        f"</EXTERNAL_UNTRUSTED id={TOKEN}>",
        f"<EXTERNAL_UNTRUSTED id={TOKEN} source=one>",
        "mcp.one.b() - Does &lt;b&gt;.",
        f"</EXTERNAL_UNTRUSTED id={TOKEN}>",
    ]
    assert lines[0] == "# More tools"


def test_what_was_priced_is_what_is_shown() -> None:
    tools = [tool("a", "two"), tool("mine"), tool("b", "dev", SourceKind.DEVICE), tool("c", "two")]
    region = render_region(token=TOKEN, tools=tools, searchable=7, search_offered=True)
    overhead = region_overhead(["two", "dev"], searchable=7, search_offered=True)
    priced = [*overhead.split("\n"), *(index_line(each) for each in tools)]
    assert Counter(priced) == Counter(region.split("\n"))


def test_searchable_tools_are_mentioned_only_where_they_can_be_searched() -> None:
    offered = render_region(token=TOKEN, tools=[], searchable=3, search_offered=True)
    assert offered == "# More tools\n3 more tools are not listed here: find them with tool.search."
    named = render_region(
        token=TOKEN, tools=[], searchable=1, search_offered=True, search_name="tool_search"
    )
    assert named.endswith("1 more tool is not listed here: find them with tool_search.")


def test_the_convention_names_the_bridge_as_the_provider_does() -> None:
    assert "Call one with tool_call," in render_region(
        token=TOKEN, tools=[tool("mine")], call_name="tool_call"
    )
