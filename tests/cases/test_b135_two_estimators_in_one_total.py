"""B135: two estimators are added up in one total, and their errors hide each other.

Right: one estimator; definitions and index lines are each what they put on the wire, each checked
on its own, and the totals are the sums of what is listed.
"""

from typing import Any

import pytest

from toolkeeper_contract import Caps
from toolkeeper_planner.tokens import estimate
from toolkeeper_wire import format_for

PROVIDERS = ["generic", "openai", "openai-responses", "anthropic", "gemini", "mcp"]


def planned(shop: Any, provider: str, **agent: Any) -> Any:
    async def act(turn: Any, keeper: Any) -> Any:
        return turn.plan, turn.system, keeper.registry(keeper.agent("chat")).tools, turn.cost

    return shop.turn(act, provider=provider, **agent)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_half_is_the_sum_of_its_own_parts(shop: Any, provider: str) -> None:
    plan, system, tools, cost = planned(shop, provider)
    costs = plan.costs
    form = format_for(provider)
    assert costs.definition_tokens == sum(costs.tools[name] for name in plan.defined)
    assert costs.index_tokens == sum(costs.tools[name] for name in plan.deferred_names)
    for name in plan.defined:
        if name in tools:
            texts = form.texts(tools[name])
            assert costs.tools[name] == max(estimate(text) for text in texts)
    lines = {line.partition("(")[0]: line for line in system.splitlines() if "(" in line}
    for name in plan.deferred_names:
        assert costs.tools[name] == estimate(lines[name] + "\n") or costs.tools[name] == estimate(
            lines[name]
        )
    assert cost == costs.definition_tokens + costs.index_tokens + costs.index_overhead_tokens
    # Region and array apart: neither pays for the other.
    region = costs.index_tokens + costs.index_overhead_tokens
    assert abs(estimate(system) - region) <= 0.05 * region


def test_a_tool_costs_the_same_in_whatever_plan_it_stands(shop: Any) -> None:
    first, _, _, _ = planned(shop, "openai")
    other, _, _, _ = planned(shop, "openai", deferred_tools=("mail.send",))
    both = set(first.defined) & set(other.defined)
    assert both
    assert {name: first.costs.tools[name] for name in both} == {
        name: other.costs.tools[name] for name in both
    }
    lines = set(first.deferred_names) & set(other.deferred_names)
    assert {name: first.costs.tools[name] for name in lines} == {
        name: other.costs.tools[name] for name in lines
    }
    assert other.costs.tools["notes.read"] > first.costs.tools["notes.read"]


def test_a_bare_name_costs_a_bare_name(shop: Any) -> None:
    plan, system, _, _ = planned(shop, "openai", listing="names")
    for name in plan.deferred_names:
        assert plan.costs.tools[name] == estimate(f"{name}\n")
        assert name in system.splitlines()
    none, empty, _, _ = planned(
        shop, "openai", listing="none", control_tools=("tool.call", "tool.search")
    )
    assert (empty, none.costs.index_tokens) == ("", 0)


def test_the_caps_bound_each_half_and_not_their_sum(shop: Any) -> None:
    plan, _, _, _ = planned(shop, "openai")
    tight = Caps(
        definition_tokens=plan.costs.definition_tokens,
        index_tokens=plan.costs.index_tokens + plan.costs.index_overhead_tokens,
    )
    same, _, _, _ = planned(shop, "openai", caps=tight)
    assert same.defined == plan.defined
    assert same.deferred == plan.deferred
    tighter = Caps(definition_tokens=tight.definition_tokens, index_tokens=tight.index_tokens - 1)
    less, _, _, _ = planned(shop, "openai", caps=tighter)
    assert less.defined == plan.defined or "tool.search" in less.defined
    assert len(less.deferred) < len(plan.deferred)
