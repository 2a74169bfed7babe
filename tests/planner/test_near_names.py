from typing import Any

import pytest

from toolkeeper_planner import near_names, planned_event


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("hr.get_role", "mcp.new.get_roles"),
        ("mcp.hr.get_role", "mcp.new.get_role"),
        ("mcp.hr.get_role", "mcp.new.Get_Role"),
        ("mcp.hr.get_role", "mcp.new.get-role"),
        ("mcp.hr.get_role", "mcp.new.getrole"),
        ("mcp.hr.get_role", "mcp.new.get_rloe"),
        ("mcp.hr.get_role", "mcp.new.xget_role"),
        ("mcp.hr.users.list", "device.new.lists"),
        ("mcp.hr.ask", "mcp.new.asks"),
    ],
)
def test_names_one_edit_apart_across_sources_are_told(left: str, right: str) -> None:
    assert near_names([left, right]) == (tuple(sorted((left, right))),)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("mcp.hr.get_role", "mcp.hr.get_roles"),
        ("mcp.hr.get_role", "mcp.new.get_rules"),
        ("mcp.hr.get_role", "mcp.new.set_roles"),
        ("mcp.hr.get", "mcp.new.set"),
        ("mcp.hr.abcdef", "mcp.new.badcfe"),
        ("mcp.hr.abcd", "mcp.new.bcda"),
    ],
)
def test_one_source_or_more_edits_are_not(left: str, right: str) -> None:
    assert near_names([left, right]) == ()


def test_the_order_of_the_names_is_nothing() -> None:
    names = ["mcp.b.find", "mcp.a.find", "mcp.a.finds", "mcp.c.fund", "mcp.c.other"]
    assert near_names(names) == near_names(reversed(names))
    assert ("mcp.a.find", "mcp.b.find") in near_names(names)


def test_thousands_of_near_names_give_a_short_answer() -> None:
    many = [f"mcp.s{number % 7}.tool_{number:05}" for number in range(3_000)]
    groups = near_names(many)
    assert len(groups) == 50
    long = [f"mcp.s{number % 7}.{'x' * 100}{number % 2}" for number in range(60)]
    assert all(len(group) <= 10 for group in near_names(long))


def test_the_plan_event_tells_and_names_nothing_that_is_hidden(make: Any) -> None:
    registry = make.registry("mcp.hr.get_role", "mcp.new.get_roles", "mcp.new.get_rola")
    agent = make.agent(servers=("hr", "new"))
    event = planned_event(make.plan(agent, registry, policy_hidden=frozenset({"mcp.new.get_rola"})))
    assert event.data["near_names"] == [["mcp.hr.get_role", "mcp.new.get_roles"]]
    assert planned_event(make.plan(make.agent(servers=("hr",)), registry)).data["near_names"] == []
