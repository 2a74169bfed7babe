from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps, ConfigError, Principal, RefusedTool, Registry
from toolkeeper_planner import BUILDER, parse_intent


def test_filters_apply_in_a_fixed_order_and_each_name_has_one_reason(make: Any) -> None:
    scoped = {"scopes": ("mail",)}
    registry = make.registry(
        make.tool("a.all", **scoped),
        make.tool("b.quarantined", **scoped),
        make.tool("c.scope", **scoped),
        "d.policy",
        "e.free",
        quarantined=["a.all", "b.quarantined"],
    )
    agent = make.agent(*registry.tools)
    plan = make.plan(
        agent,
        registry,
        intent=parse_intent({"disabled": ["a.all"]}),
        policy_hidden=frozenset(registry.tools) - {"e.free"},
    )
    assert make.rows(plan.filtered) == {
        "a.all": "disabled",
        "b.quarantined": "quarantined",
        "c.scope": "scope",
        "d.policy": "policy",
    }
    assert plan.defined == ("e.free",)
    assert list(plan.pins) == ["e.free"]


def test_every_scope_of_a_tool_must_be_held(make: Any) -> None:
    registry = make.registry(make.tool("mail.send", scopes=("mail", "send")))
    agent = make.agent("mail.send")
    for scopes, offered in [((), False), (("mail",), False), (("send", "mail", "x"), True)]:
        plan = make.plan(agent, registry, principal=Principal("ana", frozenset(scopes)))
        assert ("mail.send" in plan.pins) is offered


def test_a_name_of_a_source_that_is_down_is_skipped_wherever_it_was_written(make: Any) -> None:
    registry = make.registry("notes.read", unavailable=["git", "crm"])
    agent = make.agent(
        "mcp.git.log",
        "notes.read",
        always_defined=("mcp.crm.find",),
        deferred_tools=("mcp.git.add", "mcp.git.*"),
        servers=("git",),
    )
    plan = make.plan(agent, registry)
    assert plan.defined == ("notes.read",)
    assert make.rows(plan.skipped) == dict.fromkeys(
        ["mcp.crm.find", "mcp.git.log", "mcp.git.add"], "source_unavailable"
    )


def test_policy_hides_a_name_also_while_its_source_is_down(make: Any) -> None:
    registry = make.registry(unavailable=["git"])
    plan = make.plan(make.agent("mcp.git.log"), registry, policy_hidden=frozenset({"mcp.git.log"}))
    assert make.rows(plan.filtered) == {"mcp.git.log": "policy"}
    assert plan.skipped == ()


def test_always_defined_tools_come_first_and_no_glob_defers_them(make: Any) -> None:
    registry = make.registry("a.one", "b.two", "mcp.git.log")
    agent = make.agent(
        "a.one", "b.two", always_defined=("mcp.git.log", "b.two"), deferred_tools=("*",)
    )
    plan = make.plan(agent, registry)
    assert plan.defined == ("mcp.git.log", "b.two", "tool.call", "tool.search")
    assert make.rows(plan.deferred) == {"a.one": "configured"}


def test_a_tool_may_ask_to_be_deferred_itself(make: Any) -> None:
    registry = make.registry(make.tool("a.rare", deferred=True), "b.often")
    plan = make.plan(make.agent("a.rare", "b.often"), registry)
    assert make.rows(plan.deferred) == {"a.rare": "configured"}


def test_always_defined_beyond_the_caps_is_a_configuration_error(make: Any) -> None:
    registry = make.registry("a.one", "b.two", "c.three")
    agent = make.agent(*registry.tools, always_defined=("a.one", "b.two"), control_tools=())
    for caps in (Caps(definitions=1), Caps(definition_tokens=199)):
        with pytest.raises(ConfigError, match=r"`b\.two` in always_defined") as caught:
            make.plan(replace(agent, caps=caps), registry)
        assert caught.value.key == "agents.chat.always_defined"


def test_caps_without_room_for_the_control_tools_are_a_configuration_error(make: Any) -> None:
    registry = make.registry(*(f"t.{number}" for number in range(5)))
    agent = make.agent(*registry.tools, caps=Caps(definitions=2))
    with pytest.raises(ConfigError, match="no room for the control tools") as caught:
        make.plan(agent, registry, results_offloadable=True)
    assert caught.value.key == "agents.chat.caps"


def test_no_tools_means_an_empty_array(make: Any) -> None:
    registry = make.registry("a.one", "mcp.git.log")
    agent = make.agent("a.one", servers=("git",), deferred_tools=("*",))
    values: list[Any] = [[], {"enabled": False}, {"enabled": False, "overlays": {"web": True}}]
    for value in values:
        plan = make.plan(agent, registry, intent=parse_intent(value), results_offloadable=True)
        assert (plan.defined, plan.deferred, plan.searchable, dict(plan.pins)) == ((), (), (), {})


def test_the_plan_keeps_what_it_was_built_from(make: Any) -> None:
    agent = replace(make.agent("a.one"), revision="r7", caps=Caps(5, 500, 4, 40))
    plan = make.plan(
        agent, make.registry("a.one"), provider="anthropic", intent=parse_intent({"enabled": True})
    )
    assert (plan.builder, plan.agent, plan.agent_revision) == (BUILDER, "chat", "r7")
    assert (plan.provider, plan.caps, plan.intent) == (
        "anthropic",
        Caps(5, 500, 4, 40),
        {"enabled": True},
    )


def test_another_way_to_disclose_falls_back_to_the_index_and_says_so(make: Any) -> None:
    registry = make.registry("a.one")
    assert make.plan(make.agent("a.one"), registry).disclosure.reason is None
    plan = make.plan(make.agent("a.one", disclosure="native"), registry)
    assert (plan.disclosure.asked, plan.disclosure.used) == ("native", "index")
    assert plan.disclosure.reason


def test_refused_tools_stand_on_the_plans_of_the_agents_that_have_their_source(make: Any) -> None:
    refused = [
        RefusedTool("hr", "x", "bad schema"),
        RefusedTool("git", "b", "bad schema"),
        RefusedTool("git", "a", "bad name"),
        RefusedTool("functions", "f", "bad schema"),
    ]
    registry = make.registry("a.one", "mcp.git.log", refused=refused)
    plan = make.plan(make.agent("a.one", servers=("git",)), registry)
    assert [(tool.source, tool.name) for tool in plan.refused] == [
        ("functions", "f"),
        ("git", "a"),
        ("git", "b"),
    ]


def test_an_agent_without_anything_gets_an_empty_plan(make: Any) -> None:
    plan = make.plan(make.agent(), Registry({}))
    assert (plan.defined, plan.deferred, plan.skipped, plan.filtered) == ((), (), (), ())


def test_equal_input_is_one_plan_by_digest_and_another_intent_is_another(make: Any) -> None:
    agent = make.agent("a.one", "b.two")
    first = make.plan(agent, make.registry("a.one", "b.two"))
    assert make.plan(agent, make.registry("b.two", "a.one")).digest == first.digest
    other = make.plan(agent, make.registry("a.one", "b.two"), intent=parse_intent(["a.one"]))
    assert other.digest != first.digest
