from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import CONTROL_TOOLS, Caps


def test_what_fits_needs_no_control_tool(make: Any) -> None:
    registry = make.registry("a", "b")
    plan = make.plan(make.agent("a", "b", caps=Caps(definitions=2)), registry)
    assert plan.defined == ("a", "b")


def test_one_tool_too_many_costs_the_bridges_their_slots(make: Any) -> None:
    registry = make.registry("a", "b", "c", "mcp.s.x")
    agent = make.agent("a", "b", "c", servers=("s",), caps=Caps(definitions=3))
    plan = make.plan(agent, registry)
    assert plan.defined == ("a", "tool.call", "tool.search")
    assert make.rows(plan.deferred) == dict.fromkeys(["b", "c", "mcp.s.x"], "definition_cap")


def test_tool_result_takes_its_slot_whether_or_not_anything_is_deferred(make: Any) -> None:
    registry = make.registry("a", "mcp.s.x")
    agent = make.agent("a", servers=("s",), caps=Caps(definitions=3))
    plan = make.plan(agent, registry, results_offloadable=True)
    assert plan.defined == ("a", "tool.result", "mcp.s.x")
    assert plan.deferred == ()
    without = replace(agent, control_tools=("tool.call",))
    assert make.plan(without, registry, results_offloadable=True).defined == ("a", "mcp.s.x")


def test_control_tools_stand_in_one_order_whatever_order_they_are_written_in(make: Any) -> None:
    registry = make.registry("a", "b", "c", "d")
    agent = make.agent(
        "a", "b", "c", "d", caps=Caps(definitions=3), control_tools=CONTROL_TOOLS[::-1]
    )
    plan = make.plan(agent, registry, results_offloadable=True)
    assert plan.defined == CONTROL_TOOLS


def test_the_token_cap_passes_a_big_one_over_and_goes_on(make: Any) -> None:
    registry = make.registry("big", "small", "late")
    agent = make.agent("big", "small", "late", caps=Caps(definition_tokens=400))
    pricing = make.Prices({"big": 301})
    plan = make.plan(agent, registry, pricing=pricing)
    assert plan.defined == ("small", "late", "tool.call", "tool.search")
    assert make.rows(plan.deferred) == {"big": "definition_tokens"}
    assert plan.costs.definition_tokens == 400


def test_a_full_array_is_the_reason_before_a_dear_one(make: Any) -> None:
    registry = make.registry("a", "b")
    agent = make.agent("a", "b", caps=Caps(2, 250), control_tools=("tool.call",))
    plan = make.plan(agent, registry, pricing=make.Prices({"b": 9_999}))
    assert make.rows(plan.deferred) == {"b": "definition_cap"}


def test_the_index_takes_configured_deferrals_before_the_overflow(make: Any) -> None:
    registry = make.registry("a", "b", "c", "d")
    agent = make.agent(
        "a",
        "b",
        "c",
        "d",
        deferred_tools=("d", "b"),
        control_tools=("tool.call",),
        caps=Caps(definitions=2, index_entries=2),
    )
    plan = make.plan(agent, registry)
    assert plan.defined == ("a", "tool.call")
    assert plan.deferred_names == ("b", "d")
    assert make.rows(plan.skipped) == {"c": "index_entries"}


def test_an_index_line_too_dear_is_passed_over_with_its_reason(make: Any) -> None:
    registry = make.registry("a", "b", "c")
    agent = make.agent(
        "a",
        "b",
        "c",
        deferred_tools=("*",),
        control_tools=("tool.call",),
        caps=Caps(index_tokens=25),
    )
    plan = make.plan(agent, registry, pricing=make.Prices(lines={"a": 26}))
    assert plan.deferred_names == ("b", "c")
    assert make.rows(plan.skipped) == {"a": "index_tokens"}
    assert plan.costs.index_tokens == 20


def test_with_tool_search_what_fits_nowhere_is_searchable_and_pinned(make: Any) -> None:
    registry = make.registry("a", "b", "c")
    agent = make.agent("a", "b", "c", deferred_tools=("*",), caps=Caps(index_entries=1))
    plan = make.plan(agent, registry)
    assert plan.deferred_names == ("a",)
    assert plan.searchable == ("b", "c")
    assert plan.skipped == ()
    assert set(plan.pins) == {"a", "b", "c"}


def test_with_tool_search_alone_nothing_is_deferred_and_the_overflow_is_searchable(
    make: Any,
) -> None:
    registry = make.registry("a", "b", "c")
    agent = make.agent(
        "a",
        "b",
        "c",
        deferred_tools=("a",),
        control_tools=("tool.search",),
        caps=Caps(definitions=2),
    )
    plan = make.plan(agent, registry)
    assert plan.defined == ("a", "tool.search")
    assert plan.searchable == ("b", "c")
    assert plan.deferred == ()
    roomy = make.plan(replace(agent, caps=Caps()), registry)
    assert roomy.defined == ("a", "b", "c")


@pytest.mark.parametrize(
    ("caps", "reason"),
    [
        (Caps(definitions=2, index_entries=0), "index_entries"),
        (Caps(definitions=2, index_tokens=0), "index_tokens"),
    ],
)
def test_an_index_that_holds_nothing_gives_its_slot_back(
    make: Any, caps: Caps, reason: str
) -> None:
    registry = make.registry("a", "b", "c")
    agent = make.agent("a", "b", "c", control_tools=("tool.call",), caps=caps)
    plan = make.plan(agent, registry)
    assert plan.defined == ("a", "b")
    assert make.rows(plan.skipped) == {"c": reason}
    assert "c" not in plan.pins


def test_a_configured_deferral_that_no_index_holds_is_defined_rather_than_lost(make: Any) -> None:
    registry = make.registry("a", "b")
    agent = make.agent(
        "a",
        "b",
        deferred_tools=("a",),
        control_tools=("tool.call",),
        caps=Caps(index_entries=0),
    )
    plan = make.plan(agent, registry)
    assert plan.defined == ("a", "b")
    assert plan.skipped == ()


def test_reads_of_servers_come_before_their_other_tools_by_server_and_raw_name(make: Any) -> None:
    registry = make.registry(
        make.tool("mcp.b.wipe", "network_write"),
        make.tool("mcp.a.send", "message_send"),
        make.tool("mcp.b.z", "none"),
        make.tool("mcp.b.Z", "network_read"),
        make.tool("device.a.z", "workspace_read"),
        make.tool("mcp.a.z", "network_read"),
        make.tool("mcp.c.not_mine"),
        "k",
    )
    plan = make.plan(make.agent("k", servers=("b", "a")), registry)
    assert plan.defined == (
        "k",
        "device.a.z",
        "mcp.a.z",
        "mcp.b.Z",
        "mcp.b.z",
        "mcp.a.send",
        "mcp.b.wipe",
    )


def test_costs_name_every_defined_and_deferred_tool(make: Any) -> None:
    registry = make.registry("a", "b", "c")
    agent = make.agent("a", "b", "c", deferred_tools=("c",), control_tools=("tool.call",))
    plan = make.plan(agent, registry, pricing=make.Prices({"a": 7, "tool.call": 3}, {"c": 2}))
    assert dict(plan.costs.tools) == {"a": 7, "b": 100, "tool.call": 3, "c": 2}
    assert plan.costs.definition_tokens == 110
    assert plan.costs.index_tokens == 2
