import json
from dataclasses import replace
from typing import Any

from toolkeeper_contract import Caps
from toolkeeper_planner import diff_plans, parse_intent


def test_a_plan_does_not_differ_from_itself(make: Any) -> None:
    plan = make.plan(make.agent("a", "b"), make.registry("a", "b"))
    diff = diff_plans(plan, plan)
    assert diff.same
    assert (diff.moved, diff.added, diff.removed) == ((), (), ())
    assert (diff.redefined, diff.repriced, diff.settings) == ((), (), ())
    assert (diff.reordered, diff.array) == (False, False)


def test_what_moved_says_from_where_to_where_and_why(make: Any) -> None:
    registry = make.registry("a", "b", "c", "d")
    agent = make.agent("a", "b", "c", "d")
    before = make.plan(agent, registry)
    after = make.plan(
        replace(agent, revision="r2", deferred_tools=("a",), caps=Caps(definitions=4)),
        registry,
        policy_hidden=frozenset({"b"}),
    )
    moves: dict[str, Any] = {
        tool.name: (tool.before, tool.after) for tool in diff_plans(before, after).moved
    }
    assert set(moves) == {"a", "b"}
    assert (moves["a"][0].place, moves["a"][1].place, moves["a"][1].reason) == (
        "defined",
        "deferred",
        "configured",
    )
    assert (moves["b"][1].place, moves["b"][1].reason) == ("filtered", "policy")
    diff = diff_plans(before, after)
    assert [tool.name for tool in diff.added] == ["tool.call", "tool.search"]
    settings = {setting.key: (setting.before, setting.after) for setting in diff.settings}
    assert settings["caps.definitions"] == (30, 4)
    assert settings["agent_revision"] == ("r1", "r2")
    assert diff.array


def test_another_reason_in_the_same_place_is_a_move(make: Any) -> None:
    registry = make.registry("a", "b", "c", "d")
    agent = make.agent("a", "b", "c", "d", caps=Caps(definitions=3))
    before = make.plan(agent, registry)
    after = make.plan(replace(agent, deferred_tools=("d",)), registry)
    move: Any = diff_plans(before, after).moved[0]
    assert (move.before.reason, move.after.reason) == ("definition_cap", "configured")


def test_changed_definitions_and_prices_are_told_apart(make: Any) -> None:
    agent = make.agent("a", "b")
    changed = replace(make.tool("b"), fingerprint="f" * 64)
    before = make.plan(agent, make.registry("a", "b"))
    after = make.plan(agent, make.registry("a", changed), pricing=make.Prices({"a": 7}))
    diff: Any = diff_plans(before, after)
    assert [tool.name for tool in diff.redefined] == ["b"]
    assert [(tool.name, tool.before.tokens, tool.after.tokens) for tool in diff.repriced] == [
        ("a", 100, 7)
    ]
    assert diff.moved == ()
    assert diff.array


def test_a_changed_deferred_definition_leaves_the_array_alone(make: Any) -> None:
    agent = make.agent("a", "b", deferred_tools=("b",))
    changed = replace(make.tool("b"), fingerprint="f" * 64)
    before = make.plan(agent, make.registry("a", "b"))
    diff = diff_plans(before, make.plan(agent, make.registry("a", changed)))
    assert [tool.name for tool in diff.redefined] == ["b"]
    assert not diff.array


def test_another_order_alone_is_seen(make: Any) -> None:
    registry = make.registry("a", "b")
    diff = diff_plans(
        make.plan(make.agent("a", "b"), registry), make.plan(make.agent("b", "a"), registry)
    )
    assert (diff.moved, diff.added, diff.removed) == ((), (), ())
    assert (diff.reordered, diff.array) == (True, True)


def test_settings_name_whatever_holds_for_the_whole_plan(make: Any) -> None:
    registry = make.registry("a", "b")
    agent = make.agent("a", "b", deferred_tools=("b",))
    before = make.plan(agent, registry)
    after = make.plan(
        replace(agent, disclosure="search", listing="names"),
        registry,
        provider="anthropic",
        intent=parse_intent({"enabled": True}),
    )
    keys = [setting.key for setting in diff_plans(before, after).settings]
    assert keys == sorted(keys)
    assert {"provider", "intent", "listing", "disclosure.used", "disclosure.asked"} <= set(keys)


def test_the_json_form_is_plain_and_backwards_is_the_mirror(make: Any) -> None:
    registry = make.registry("a", "b", "c", "mcp.git.log")
    before = make.plan(make.agent("a", "b"), registry)
    after = make.plan(make.agent("b", "c", servers=("git",), deferred_tools=("b",)), registry)
    there, back = diff_plans(before, after), diff_plans(after, before)
    assert json.loads(json.dumps(there.as_json())) == there.as_json()
    assert [tool.name for tool in there.added] == [tool.name for tool in back.removed]
    assert [(tool.before, tool.after) for tool in there.moved] == [
        (tool.after, tool.before) for tool in back.moved
    ]
    names = [tool["name"] for tool in there.as_json()["added"]]
    assert names == sorted(names)
