from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps
from toolkeeper_planner import parse_intent

NAMES = ("a.one", "b.two", "c.three", "d.four")


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(*NAMES, "x.extra", "mcp.git.log", "mcp.git.push")


@pytest.fixture
def agent(make: Any) -> Any:
    return make.agent(
        *NAMES, servers=("git",), deferred_tools=("*",), overlays={"more": ("x.extra",)}
    )


def test_what_the_parent_defers_is_defined_for_its_child(
    make: Any, agent: Any, registry: Any
) -> None:
    parent = make.plan(agent, registry)
    assert parent.defined == ("tool.call", "tool.search")
    child = make.plan(agent, registry, granted=parent.pins)
    assert child.defined == (*NAMES, "mcp.git.log", "mcp.git.push")
    assert child.pins == parent.pins


def test_the_childs_own_caps_hold(make: Any, agent: Any, registry: Any) -> None:
    parent = make.plan(agent, registry)
    child = make.plan(replace(agent, caps=Caps(definitions=4)), registry, granted=parent.pins)
    assert child.defined == ("a.one", "b.two", "tool.call", "tool.search")
    assert child.pins == parent.pins


def test_a_child_never_has_more_than_its_parent(make: Any, agent: Any, registry: Any) -> None:
    parent = make.plan(agent, registry, intent=parse_intent(["a.one", "mcp.git.log"]))
    child = make.plan(agent, registry, granted=parent.pins)
    assert set(child.pins) == {"a.one", "mcp.git.log"}
    rows = make.rows(child.filtered)
    assert rows == dict.fromkeys(["b.two", "c.three", "d.four", "mcp.git.push"], "not_permitted")
    grandchild = make.plan(agent, registry, granted=child.pins, intent=parse_intent(["a.one"]))
    assert set(grandchild.pins) == {"a.one"}


def test_the_brief_picks_among_the_grant_and_the_rest_is_not_permitted(
    make: Any, agent: Any, registry: Any
) -> None:
    parent = make.plan(agent, registry, intent=parse_intent({"disabled": ["b.two"]}))
    brief = parse_intent(["a.one", "b.two", "x.extra", "no.such"])
    child = make.plan(agent, registry, granted=parent.pins, intent=brief)
    assert child.defined == ("a.one",)
    rows = make.rows(child.filtered)
    assert {name for name, reason in rows.items() if reason == "not_permitted"} == {
        "b.two",
        "x.extra",
        "no.such",
    }
    assert rows["c.three"] == "disabled"


def test_what_an_overlay_gave_the_parent_reaches_the_child(
    make: Any, agent: Any, registry: Any
) -> None:
    parent = make.plan(agent, registry, intent=parse_intent({"overlays": {"more": True}}))
    assert "x.extra" in parent.pins
    assert "x.extra" in make.plan(agent, registry, granted=parent.pins).defined
    brief = parse_intent({"disabled": ["a.one"]})
    child = make.plan(agent, registry, granted=parent.pins, intent=brief)
    assert set(child.pins) == set(parent.pins) - {"a.one"}


def test_a_definition_that_changed_since_is_not_what_was_given(
    make: Any, agent: Any, registry: Any
) -> None:
    granted = {**make.plan(agent, registry).pins, "b.two": "0" * 64, "mcp.git.log": "0" * 64}
    child = make.plan(agent, registry, granted=granted)
    assert make.rows(child.filtered) == dict.fromkeys(["b.two", "mcp.git.log"], "not_permitted")
    assert not {"b.two", "mcp.git.log"} & set(child.pins)


def test_a_grant_of_nothing_gives_nothing(make: Any, agent: Any, registry: Any) -> None:
    child = make.plan(agent, registry, granted={}, results_offloadable=True)
    assert (child.defined, dict(child.pins)) == ((), {})


def test_a_grant_widens_no_agent(make: Any, registry: Any) -> None:
    other = make.agent("a.one")
    granted = {tool.name: tool.fingerprint for tool in registry.tools.values()}
    assert set(make.plan(other, registry, granted=granted).pins) == {"a.one"}
    brief = parse_intent(["b.two"])
    child = make.plan(other, registry, granted=granted, intent=brief)
    assert make.rows(child.filtered) == {"b.two": "not_permitted", "a.one": "disabled"}


def test_a_granted_tool_whose_source_is_gone_is_unavailable(
    make: Any, agent: Any, registry: Any
) -> None:
    granted = make.plan(agent, registry).pins
    without = make.registry(*NAMES[1:], "mcp.git.log")
    child = make.plan(agent, without, granted=granted)
    assert make.rows(child.skipped) == {"a.one": "source_unavailable"}
