"""B58: another spelling of a denied tool's name, or an equivalent of another name, slips past.

Right: names are compared whole, so a variant is no tool at all and its call is recorded as not
offered; what is meant more broadly is said by class or by source, never guessed from synonyms.
"""

from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper_contract import Code, Ending

pytestmark = pytest.mark.in_this_process

VARIANTS = [
    "Web_Search", "WEB_SEARCH", "web.search", "web-search", "websearch", "web__search",
    " web_search", "web_search ", "web_search\u200b", "web_\u0455earch", "mcp.web_search",
    "functions.web_search", "functions/web_search",
]  # fmt: skip
DENY = "version: 1\nrules:\n  - {id: no-web, tools: [web_search], effect: deny}\n"
BROAD = """
version: 1
rules:
  - {id: no-network, side_effects: [network_read, network_write], effect: deny}
"""


@tool(name="web_search", side_effect="network_read")
def web_search(query: str = "") -> str:
    """Search the web."""
    raise AssertionError("this must not run")


@tool(name="bing_search", side_effect="network_read")
def bing_search(query: str = "") -> str:
    """Search the web elsewhere."""
    return "found"


def ways(name: str) -> list[tuple[str, Any]]:
    return [
        (name, {"query": "x"}),
        ("tool.call", {"name": name, "arguments": {"query": "x"}}),
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_of_a_denied_name_is_no_tool_and_its_call_is_on_record(
    shop: Any, name: str
) -> None:
    rows = shop.rows(*ways(name), more=(web_search,), policy=DENY)
    assert [(row.outcome, row.code) for row in rows] == [(Ending.REFUSED, Code.NOT_OFFERED)] * 2


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_of_an_allowed_name_gains_nothing_either(shop: Any, name: str) -> None:
    for row in shop.rows(*ways(name), more=(web_search,)):
        assert row.code is Code.NOT_OFFERED


def test_an_equivalent_tool_is_met_by_its_class_and_not_by_its_name(shop: Any) -> None:
    named = shop.one("bing_search", {}, more=(web_search, bing_search), policy=DENY)
    assert named.outcome is Ending.COMPLETED
    for row in shop.rows(*ways("bing_search"), more=(web_search, bing_search), policy=BROAD):
        assert row.outcome is Ending.REFUSED


def test_a_servers_equivalents_are_met_by_source_whatever_they_are_called(home: Any) -> None:
    schema = {"type": "object"}
    names = ["bing_search", "Web_Search", "lookup"]
    home.serve("search", [{"name": name, "inputSchema": schema} for name in names])
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(
        "version: 1\nhardline:\n  - {id: no-search, sources: [search], effect: deny}\n"
    )
    home.write()
    calls = [
        {"id": f"c{at}", "tool": f"mcp.search.{name}", "arguments": {}}
        for at, name in enumerate(names)
    ]
    lines = home.run(*calls, approvals={"*": "approve"}, expect=1)
    assert [line["code"] for line in lines] == ["tool.denied.hardline"] * 3
    assert [line["decision"]["rules"] for line in lines] == [["no-search"]] * 3
    assert home.called("search") == []


def test_a_rule_for_a_spelling_that_nobody_has_is_warned_about(home: Any) -> None:
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(
        "version: 1\nrules:\n  - {id: r, tools: [Notes.List], effect: deny}\n"
    )
    home.write()
    printed = home.toolkeeper("policy", "check", expect=0)
    assert "policy.yaml:3" in printed.out
    assert "`Notes.List`" in printed.out
    assert "`notes.list`" in printed.out
    home.toolkeeper("policy", "check", "--strict", expect=1)
