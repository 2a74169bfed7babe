from typing import Any

import pytest

from toolkeeper_contract import Plan
from toolkeeper_planner import ConservationError, check_conservation, expand


@pytest.fixture
def plan(make: Any) -> Plan:
    registry = make.registry("a", "b", "c")
    agent = make.agent("a", "b", "c", deferred_tools=("c",), control_tools=("tool.call",))
    plan: Plan = make.plan(agent, registry)
    return plan


def changed(plan: Plan, **body: Any) -> Plan:
    return Plan.from_body({**plan.body(), **body})


def test_a_sound_plan_passes(make: Any, plan: Plan) -> None:
    check_conservation(["a", "b", "c"], plan)


def test_a_lost_tool_is_named(plan: Plan) -> None:
    with pytest.raises(ConservationError, match="lost `d`; from nowhere nothing"):
        check_conservation(["a", "b", "c", "d"], plan)


def test_a_tool_from_nowhere_is_named(plan: Plan) -> None:
    with pytest.raises(ConservationError, match="from nowhere `c`"):
        check_conservation(["a", "b"], plan)


def test_a_tool_in_two_places_is_named(plan: Plan) -> None:
    double = changed(plan, filtered_tool_names=[{"name": "a", "reason": "scope"}])
    with pytest.raises(ConservationError, match="twice `a`"):
        check_conservation(["a", "b", "c"], double)


def test_a_candidate_listed_twice_is_named(plan: Plan) -> None:
    with pytest.raises(ConservationError, match="twice `b`"):
        check_conservation(["a", "b", "b", "c"], plan)


@pytest.mark.parametrize("extra", [{}, {"z": "0" * 64}])
def test_pins_are_exactly_what_the_plan_offers(plan: Plan, extra: dict[str, str]) -> None:
    pins = {"a": "0" * 64, "c": "0" * 64, **extra}
    with pytest.raises(ConservationError, match=r"pins .*`b`"):
        check_conservation(["a", "b", "c"], changed(plan, pins=pins))


def test_a_long_difference_is_cut_and_counted(plan: Plan) -> None:
    names = [f"x{number:03}" for number in range(100)]
    with pytest.raises(ConservationError, match="`x019` and 80 more"):
        check_conservation(["a", "b", "c", *names], plan)


def test_the_names_of_an_expansion_are_all_it_brought_up(make: Any) -> None:
    expansion = expand(make.agent("a", "gone"), make.registry("a"))
    assert expansion.names == ["a", "gone"]
