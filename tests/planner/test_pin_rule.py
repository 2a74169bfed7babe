from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps, ConfigError
from toolkeeper_planner import PinRule, check_profile

BOUND = {"website": "https://shop.example"}


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry("notes.read", "notes.write", "browser.open", "mcp.web.click", "mcp.a.look")


def bound(make: Any, *tools: str, when: Any = None, **settings: Any) -> Any:
    return make.agent(
        "notes.read",
        "notes.write",
        "browser.open",
        servers=("web", "a"),
        pin=(PinRule(when or {"website": "*"}, tools),),
        **settings,
    )


def test_pinned_tools_come_first_for_sessions_with_the_attribute(make: Any, registry: Any) -> None:
    agent = bound(make, "mcp.web.*", "browser.*")
    plan = make.plan(agent, registry, attributes=BOUND)
    assert plan.defined == (
        "mcp.web.click",
        "browser.open",
        "notes.read",
        "notes.write",
        "mcp.a.look",
    )
    for attributes in ({}, {"website": None}, {"other": "x"}):
        other = make.plan(agent, registry, attributes=attributes)
        assert other.defined[0] == "notes.read"


def test_pinned_tools_are_never_deferred_by_configuration(make: Any, registry: Any) -> None:
    agent = bound(make, "browser.*", deferred_tools=("*",), always_defined=("notes.write",))
    plan = make.plan(agent, registry, attributes=BOUND)
    assert plan.defined[:2] == ("browser.open", "notes.write")
    assert "browser.open" in make.plan(agent, registry).deferred_names


@pytest.mark.parametrize(
    ("when", "attributes", "applies"),
    [
        ({"plan": "pro"}, {"plan": "pro"}, True),
        ({"plan": "pro"}, {"plan": "Pro"}, False),
        ({"plan": 1}, {"plan": True}, False),
        ({"plan": True}, {"plan": True}, True),
        ({"plan": "1"}, {"plan": 1}, False),
        ({"plan": "*"}, {"plan": False}, True),
        ({"plan": "*"}, {"plan": None}, False),
        ({"plan": None}, {}, False),
        ({"plan": "*", "site": "x"}, {"plan": "a"}, False),
        ({"plan": "*", "site": "x"}, {"plan": "a", "site": "x"}, True),
        ({"plan": ["a"]}, {"plan": ["a"]}, True),
        ({}, {"plan": "a"}, False),
    ],
)
def test_every_attribute_of_a_rule_must_hold(when: Any, attributes: Any, applies: bool) -> None:
    assert PinRule(when, ("a",)).applies(attributes) is applies


def test_a_rule_brings_in_no_tool(make: Any, registry: Any) -> None:
    agent = replace(bound(make, "browser.*", "mcp.web.click"), tools=("notes.read",), servers=())
    plan = make.plan(agent, registry, attributes=BOUND)
    assert plan.defined == ("notes.read",)


def test_a_pinned_tool_is_filtered_like_any_other(make: Any, registry: Any) -> None:
    agent = bound(make, "browser.open")
    plan = make.plan(agent, registry, attributes=BOUND, policy_hidden=frozenset({"browser.open"}))
    assert make.rows(plan.filtered) == {"browser.open": "policy"}


def test_what_an_exact_pin_names_must_fit(make: Any, registry: Any) -> None:
    agent = bound(make, "browser.open", "mcp.web.click", control_tools=(), caps=Caps(definitions=1))
    with pytest.raises(ConfigError, match=r"`mcp\.web\.click` in pin does not fit") as caught:
        make.plan(agent, registry, attributes=BOUND)
    assert caught.value.key == "agents.chat.pin"
    assert make.plan(agent, registry).defined == ("notes.read",)


def test_what_a_glob_pins_overflows_with_the_caps_reason_and_ends_no_session(
    make: Any, registry: Any
) -> None:
    grown = make.registry(*registry.tools, *(f"mcp.web.x{number}" for number in range(9)))
    agent = bound(make, "mcp.web.*", always_defined=("notes.read",), caps=Caps(definitions=4))
    plan = make.plan(agent, grown, attributes=BOUND)
    assert plan.defined == ("mcp.web.click", "notes.read", "tool.call", "tool.search")
    rows = make.rows(plan.deferred)
    assert {name for name in rows if name.startswith("mcp.web.")} == {
        f"mcp.web.x{number}" for number in range(9)
    }
    assert set(rows.values()) == {"definition_cap"}


def test_the_same_tool_under_two_rules_stands_where_it_is_named_first(
    make: Any, registry: Any
) -> None:
    agent = replace(
        bound(make),
        pin=(
            PinRule({"website": "*"}, ("mcp.a.look", "browser.*")),
            PinRule({"website": "*"}, ("browser.open", "notes.write", "mcp.a.look")),
        ),
    )
    plan = make.plan(agent, registry, attributes=BOUND)
    assert plan.defined[:3] == ("mcp.a.look", "browser.open", "notes.write")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("browser.opne", "unknown tool"),
        ("br?wser", "has a character"),
        ("tool.call", "control tool"),
    ],
)
def test_a_pin_of_nothing_is_a_configuration_error(
    make: Any, registry: Any, name: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        check_profile(bound(make, "browser.*", name), registry)
    assert caught.value.key == "agents.chat.pin[0].tools[1]"


def test_a_pin_of_a_tool_that_the_agent_lacks_is_a_configuration_error(
    make: Any, registry: Any
) -> None:
    agent = replace(bound(make, "browser.open"), tools=())
    with pytest.raises(ConfigError, match="no tool of this agent"):
        check_profile(agent, registry)
    check_profile(replace(agent, overlays={"web": ("browser.open",)}), registry)


def test_a_rule_without_an_attribute_is_a_configuration_error(make: Any, registry: Any) -> None:
    agent = replace(bound(make), pin=(PinRule({}, ("browser.*",)),))
    with pytest.raises(ConfigError) as caught:
        check_profile(agent, registry)
    assert caught.value.key == "agents.chat.pin[0].when"
