from typing import Any

from toolkeeper_contract import Caps
from toolkeeper_index import region_overhead


def envelopes(text: str) -> int:
    return 5 + 20 * text.count("</EXTERNAL_UNTRUSTED")


def test_the_token_cap_holds_for_the_lines_and_the_region_around_them(make: Any) -> None:
    registry = make.registry("a", "b", "c")
    agent = make.agent(
        "a",
        "b",
        "c",
        deferred_tools=("*",),
        control_tools=("tool.call",),
        caps=Caps(index_tokens=29),
    )
    plan = make.plan(agent, registry, pricing=make.Prices(overhead=envelopes))
    assert plan.deferred_names == ("a", "b")
    assert (plan.costs.index_tokens, plan.costs.index_overhead_tokens) == (20, 5)
    assert make.rows(plan.skipped) == {"c": "index_tokens"}


def test_each_foreign_source_pays_for_its_envelope_once(make: Any) -> None:
    registry = make.registry("a", "mcp.x.1", "mcp.x.2", "mcp.y.1")
    agent = make.agent(
        "a",
        servers=("x", "y"),
        deferred_tools=("*",),
        control_tools=("tool.call",),
    )
    plan = make.plan(agent, registry, pricing=make.Prices(overhead=envelopes))
    assert plan.costs.index_overhead_tokens == 5 + 2 * 20


def test_a_source_whose_envelope_does_not_fit_stops_only_its_own_tools(make: Any) -> None:
    registry = make.registry("a", "mcp.x.1", "mcp.y.1", "mcp.x.2", "b")
    agent = make.agent(
        "a",
        "mcp.x.1",
        "mcp.y.1",
        "mcp.x.2",
        "b",
        deferred_tools=("*",),
        control_tools=("tool.call",),
        caps=Caps(index_tokens=5 + 20 + 40),
    )
    plan = make.plan(agent, registry, pricing=make.Prices(overhead=envelopes))
    assert plan.deferred_names == ("a", "mcp.x.1", "mcp.x.2", "b")
    assert make.rows(plan.skipped) == {"mcp.y.1": "index_tokens"}


def test_a_tool_of_ours_needs_no_envelope_whatever_its_source_is_called(make: Any) -> None:
    registry = make.registry("a")
    agent = make.agent("a", deferred_tools=("a",))
    plan = make.plan(agent, registry, pricing=make.Prices(overhead=envelopes))
    assert plan.costs.index_overhead_tokens == 5


def test_the_line_about_searching_is_paid_for_when_something_is_left(make: Any) -> None:
    def hint(text: str) -> int:
        return 12 if "more tool" in text.splitlines()[-1] else 1

    registry = make.registry("a", "b", "c")
    agent = make.agent("a", "b", "c", deferred_tools=("*",), caps=Caps(index_tokens=30))
    plan = make.plan(agent, registry, pricing=make.Prices(overhead=hint))
    assert plan.deferred_names == ("a",)
    assert plan.searchable == ("b", "c")
    assert plan.costs.index_overhead_tokens == 12
    roomy = make.agent("a", "b", deferred_tools=("*",), caps=Caps(index_tokens=21))
    plan = make.plan(roomy, registry, pricing=make.Prices(overhead=hint))
    assert plan.deferred_names == ("a", "b")
    assert plan.costs.index_overhead_tokens == 1


def test_without_an_entry_the_region_costs_only_its_line_about_searching(make: Any) -> None:
    registry = make.registry("a", "b")
    agent = make.agent("a", "b", control_tools=("tool.search",), caps=Caps(definitions=1))
    plan = make.plan(agent, registry, pricing=make.Prices(overhead=len))
    assert plan.searchable == ("a", "b")
    assert 0 < plan.costs.index_overhead_tokens < len(region_overhead(()))
