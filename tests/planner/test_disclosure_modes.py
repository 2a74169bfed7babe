from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps, Code, ConfigError
from toolkeeper_index import boundary_token, plan_control, plan_region
from toolkeeper_planner import check_profile

NAMES = ("a.one", "b.two", "c.three", "d.four")


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(*NAMES, "mcp.git.log", "mcp.git.status")


def core(make: Any, **settings: Any) -> Any:
    """`a.one` is always there, everything else is deferred."""
    return make.agent(
        *NAMES,
        servers=("git",),
        always_defined=("a.one",),
        deferred_tools=("*",),
        disclosure="search",
        **settings,
    )


def test_search_needs_no_tool_call_and_lists_what_it_loads(make: Any, registry: Any) -> None:
    plan = make.plan(core(make, control_tools=("tool.search",)), registry)
    assert plan.defined == ("a.one", "tool.search")
    assert plan.deferred_names == (*NAMES[1:], "mcp.git.log", "mcp.git.status")
    assert (plan.disclosure.asked, plan.disclosure.used) == ("search", "search")
    assert plan.disclosure.reason is None


def test_search_may_have_tool_call_beside_it(make: Any, registry: Any) -> None:
    plan = make.plan(core(make), registry)
    assert plan.defined == ("a.one", "tool.call", "tool.search")


def test_search_without_its_control_tool_is_a_configuration_error(make: Any, registry: Any) -> None:
    agent = core(make, control_tools=("tool.call",))
    for attempt in (lambda: check_profile(agent, registry), lambda: make.plan(agent, registry)):
        with pytest.raises(ConfigError) as caught:
            attempt()
        assert caught.value.code is Code.CONTROL_TOOL_UNAVAILABLE
        assert caught.value.key == "agents.chat.disclosure"


def test_a_listing_of_names_has_no_cap_on_entries_and_costs_name_and_newline(
    make: Any, registry: Any
) -> None:
    agent = core(make, listing="names", caps=Caps(index_entries=1))
    pricing = make.Prices(overhead=len)
    plan = make.plan(agent, registry, pricing=pricing)
    assert (plan.listing, len(plan.deferred)) == ("names", 5)
    for name in plan.deferred_names:
        assert plan.costs.tools[name] == len(name) + 1
    region = plan_region(plan, registry.tools, token=boundary_token(plan.digest))
    entries = [line for line in region.split("\n") if line in plan.deferred_names]
    assert tuple(entries) == plan.deferred_names
    inside = region.split("<EXTERNAL_UNTRUSTED", 1)[1].split("</EXTERNAL_UNTRUSTED")[0]
    assert inside.split("\n")[1:-1] == ["mcp.git.log", "mcp.git.status"]


@pytest.mark.parametrize("listing", ["index", "names"])
@pytest.mark.parametrize("disclosure", ["index", "search"])
@pytest.mark.parametrize("controls", [("tool.call", "tool.search"), ("tool.search",)])
@pytest.mark.parametrize("entries", [400, 620])
def test_the_region_costs_exactly_what_the_plan_says(
    make: Any, registry: Any, listing: str, disclosure: str, controls: Any, entries: int
) -> None:
    agent = replace(
        core(make, control_tools=controls, caps=Caps(index_tokens=entries)),
        disclosure=disclosure,
        listing=listing,
        caps=Caps(definitions=3, index_tokens=entries),
    )
    # Characters as tokens: what is priced in parts is the whole but for the newlines between.
    pricing = make.Prices(overhead=len)
    pricing.index_line = lambda tool: len(tool.name)
    plan = make.plan(agent, registry, pricing=pricing)
    region = plan_region(plan, registry.tools, token=boundary_token(plan.digest))
    lines = [line.split("(")[0] for line in region.split("\n")]
    rest = [line for line in lines if line not in plan.deferred_names]
    assert plan.costs.index_overhead_tokens == len("\n".join(rest))
    newline = 1 if listing == "names" else 0
    assert plan.costs.index_tokens == sum(len(name) + newline for name in plan.deferred_names)
    if plan.deferred:
        assert plan.costs.index_tokens + plan.costs.index_overhead_tokens <= entries


def test_without_a_listing_everything_deferred_is_searchable_and_nothing_is_said(
    make: Any, registry: Any
) -> None:
    plan = make.plan(core(make, listing="none"), registry, pricing=make.Prices(overhead=len))
    assert plan.deferred == ()
    assert plan.searchable == (*NAMES[1:], "mcp.git.log", "mcp.git.status")
    assert (plan.costs.index_tokens, plan.costs.index_overhead_tokens) == (0, 0)
    assert plan_region(plan, registry.tools, token=boundary_token(plan.digest)) == ""


def test_a_listing_of_nothing_by_index_needs_a_search(make: Any, registry: Any) -> None:
    agent = make.agent("a.one", listing="none", control_tools=("tool.call",))
    with pytest.raises(ConfigError) as caught:
        check_profile(agent, registry)
    assert caught.value.key == "agents.chat.listing"


def test_what_does_not_fit_the_listing_is_searchable(make: Any, registry: Any) -> None:
    plan = make.plan(core(make, caps=Caps(index_entries=2)), registry)
    assert plan.deferred_names == NAMES[1:3]
    assert plan.searchable == ("d.four", "mcp.git.log", "mcp.git.status")


def test_a_renamed_search_stands_under_its_name(make: Any, registry: Any) -> None:
    agent = core(make, search_name="find_tools", control_tools=("tool.search",))
    check_profile(agent, registry)
    plan = make.plan(agent, registry)
    assert plan.defined == ("a.one", "find_tools")
    assert plan.controls == ("find_tools",)
    tool = plan_control(plan, "find_tools")
    assert (tool.name, tool.definition.name) == ("find_tools", "find_tools")
    assert "load" in tool.definition.description
    region = plan_region(plan, registry.tools, token=boundary_token(plan.digest))
    assert "find_tools" in region
    assert "tool.search" not in region


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.one", Code.TOOL_NAME_TAKEN),
        ("A_ONE", Code.TOOL_NAME_TAKEN),
        ("tool.call", Code.TOOL_NAME_RESERVED),
        ("tool_result", Code.TOOL_NAME_RESERVED),
        ("tool.malformed", Code.TOOL_NAME_RESERVED),
        ("mcp.git.find", Code.TOOL_NAME_RESERVED),
        ("find tools", Code.CONFIG_INVALID),
        ("", Code.CONFIG_INVALID),
    ],
)
def test_the_search_takes_no_name_that_is_somebody_elses(
    make: Any, registry: Any, name: str, code: Code
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_profile(core(make, search_name=name), registry)
    assert caught.value.code is code
    assert caught.value.key == "agents.chat.search.name"


def test_the_name_of_a_renamed_search_is_reserved_in_every_list(make: Any, registry: Any) -> None:
    agent = replace(core(make, search_name="find_tools"), tools=("find_tools",))
    with pytest.raises(ConfigError, match="is a control tool"):
        check_profile(agent, registry)


@pytest.mark.parametrize("key", ["disclosure", "listing"])
def test_an_unknown_way_gets_the_known_ones(make: Any, registry: Any, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_profile(replace(core(make), **{key: "nowhere"}), registry)
    assert caught.value.key == f"agents.chat.{key}"
    assert caught.value.hint


def test_native_defers_what_is_not_defined_without_bridges_index_or_price(
    make: Any, registry: Any
) -> None:
    agent = replace(core(make, caps=Caps(index_entries=0, index_tokens=0)), disclosure="native")
    plan = make.plan(agent, registry, native=True, results_offloadable=True)
    assert plan.defined == ("a.one", "tool.result")
    assert plan.deferred_names == (*NAMES[1:], "mcp.git.log", "mcp.git.status")
    assert (plan.listing, plan.searchable, plan.skipped) == ("none", (), ())
    assert (plan.costs.index_tokens, plan.costs.index_overhead_tokens) == (0, 0)
    assert {plan.costs.tools[name] for name in plan.deferred_names} == {0}
    assert plan.disclosure.used == "native"
    assert set(plan.pins) == {*NAMES, "mcp.git.log", "mcp.git.status"}
    assert plan_region(plan, registry.tools, token=boundary_token(plan.digest)) == ""


def test_native_keeps_what_was_loaded_deferred_on_the_wire(make: Any, registry: Any) -> None:
    agent = replace(core(make), disclosure="native")
    loaded = [("b.two", registry.tools["b.two"].fingerprint)]
    plan = make.plan(agent, registry, native=True, loaded=loaded)
    assert (plan.loaded, plan.overflow) == ((), ())
    assert "b.two" in plan.deferred_names
    # Another model that cannot search knows them.
    other = make.plan(agent, registry, loaded=loaded)
    assert other.disclosure.used == "index"
    assert other.disclosure.reason
    assert other.loaded == ("b.two",)


def test_a_fall_back_tells_the_reason_that_the_wire_gives(make: Any, registry: Any) -> None:
    agent = replace(core(make), disclosure="native")
    plan = make.plan(agent, registry, native_reason="`m1` has no search of its own")
    assert plan.disclosure.reason == "`m1` has no search of its own"


def test_native_hides_what_policy_hides(make: Any, registry: Any) -> None:
    agent = replace(core(make), disclosure="native")
    plan = make.plan(agent, registry, native=True, policy_hidden=frozenset({"b.two"}))
    assert "b.two" not in {*plan.defined, *plan.deferred_names, *plan.pins}
