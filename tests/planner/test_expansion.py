from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_planner import Expansion, expand, parse_intent


@pytest.fixture
def agent(make: Any) -> Any:
    return make.agent(
        "notes.read",
        "notes.write",
        "files.read",
        servers=("git", "crm"),
        toolsets={"research": ("web.search", "files.read"), "office": ("mail.draft",)},
        overlays={"web": ("web.search", "web.fetch")},
    )


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(
        "notes.read",
        "notes.write",
        "files.read",
        "web.search",
        "web.fetch",
        "mail.draft",
        "bank.pay",
        "mcp.git.log",
        "mcp.crm.find",
        "mcp.hr.salaries",
    )


OWN = ["notes.read", "notes.write", "files.read", "mcp.crm.find", "mcp.git.log"]


def selected(expansion: Expansion) -> list[str]:
    return [tool.name for tool in (*expansion.configured, *expansion.discovered)]


def reasons(expansion: Expansion) -> dict[str, str]:
    return {row.name: row.reason.value for row in expansion.filtered}


@pytest.mark.parametrize("value", [None, {}, {"enabled": None}, {"enabled": True}])
def test_nothing_and_null_follow_the_agent(agent: Any, registry: Any, value: Any) -> None:
    expansion = expand(agent, registry, parse_intent(value))
    assert selected(expansion) == OWN
    assert expansion.filtered == ()


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"enabled": False},
        {"enabled": False, "overlays": {"web": True}},
        {"allowed": [], "overlays": {"web": True}},
        {"enabled": False, "toolset": "research", "allowed": ["notes.read"]},
    ],
)
def test_off_and_an_empty_list_mean_no_tools_and_beat_overlays(
    agent: Any, registry: Any, value: Any
) -> None:
    expansion = expand(agent, registry, parse_intent(value))
    assert selected(expansion) == []
    assert {name: "disabled" for name in OWN}.items() <= reasons(expansion).items()


def test_a_hand_picked_list_selects_only_what_the_agent_permits(agent: Any, registry: Any) -> None:
    expansion = expand(
        agent,
        registry,
        parse_intent(["mcp.git.log", "bank.pay", "notes.read", "mcp.hr.salaries", "web.fetch"]),
    )
    assert selected(expansion) == ["notes.read", "web.fetch", "mcp.git.log"]
    assert reasons(expansion) == {
        "bank.pay": "not_permitted",
        "mcp.hr.salaries": "not_permitted",
        "notes.write": "disabled",
        "files.read": "disabled",
        "mcp.crm.find": "disabled",
    }


def test_a_toolset_takes_the_place_of_the_agents_own_set(agent: Any, registry: Any) -> None:
    expansion = expand(agent, registry, parse_intent({"toolset": "research"}))
    assert selected(expansion) == ["files.read", "web.search"]


def test_an_overlay_adds_its_tools_also_beyond_allowed(agent: Any, registry: Any) -> None:
    intent = parse_intent({"allowed": ["notes.read"], "overlays": {"web": True}})
    assert selected(expand(agent, registry, intent)) == ["notes.read", "web.search", "web.fetch"]


def test_disabled_subtracts_last(agent: Any, registry: Any) -> None:
    intent = parse_intent(
        {
            "allowed": ["notes.read"],
            "overlays": {"web": True},
            "disabled": ["web.fetch", "notes.read"],
        }
    )
    expansion = expand(agent, registry, intent)
    assert selected(expansion) == ["web.search"]
    assert reasons(expansion)["web.fetch"] == "disabled"


def test_an_overlay_that_is_off_adds_nothing(agent: Any, registry: Any) -> None:
    expansion = expand(agent, registry, parse_intent({"overlays": {"web": False}}))
    assert selected(expansion) == OWN


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"toolset": "finance"}, "finance"),
        ({"overlays": {"finance": True}}, "finance"),
        ({"allowed": ["bank.pay"]}, "bank.pay"),
        ({"allowed": ["no.such.tool"]}, "no.such.tool"),
        ({"allowed": ["mcp.git.*"]}, "mcp.git.*"),
        ({"allowed": ["Notes.Read"]}, "Notes.Read"),
    ],
)
def test_what_the_agent_does_not_list_is_not_permitted(
    agent: Any, registry: Any, value: Any, name: str
) -> None:
    expansion = expand(agent, registry, parse_intent(value))
    assert reasons(expansion)[name] == "not_permitted"
    assert name not in selected(expansion)


def test_a_toolset_that_is_gone_becomes_nothing_rather_than_everything(
    agent: Any, registry: Any
) -> None:
    assert selected(expand(agent, registry, parse_intent({"toolset": "finance"}))) == []


def test_a_set_and_a_tool_of_one_name_are_told_apart(agent: Any, registry: Any) -> None:
    intent = parse_intent({"toolset": "notes.read", "overlays": {"x": True}, "allowed": ["x"]})
    expansion = expand(agent, registry, intent)
    assert reasons(expansion)["toolset notes.read"] == "not_permitted"
    assert reasons(expansion)["x"] == "not_permitted"
    assert reasons(expansion)["overlay x"] == "not_permitted"
    assert len(set(expansion.names)) == len(expansion.names)


def test_the_order_is_the_configurations_and_not_the_intents(agent: Any, registry: Any) -> None:
    names = ["mcp.git.log", "web.search", "notes.write", "mail.draft", "notes.read"]
    forward = selected(expand(agent, registry, parse_intent(names)))
    backward = selected(expand(agent, registry, parse_intent(names[::-1] * 2)))
    assert forward == backward
    assert forward == ["notes.read", "notes.write", "mail.draft", "web.search", "mcp.git.log"]


def test_control_tools_are_neither_added_nor_removed_by_an_intent(
    agent: Any, registry: Any
) -> None:
    for value in ({"disabled": ["tool.call"]}, {"allowed": [*OWN, "tool.call", "tool.result"]}):
        expansion = expand(agent, registry, parse_intent(value))
        assert selected(expansion) == OWN
        assert expansion.filtered == ()


def test_a_tool_added_to_a_server_since_reaches_an_old_intent(
    make: Any, agent: Any, registry: Any
) -> None:
    intent = parse_intent({"disabled": ["notes.write"]})
    later = replace(registry, tools={**registry.tools, "mcp.git.blame": make.tool("mcp.git.blame")})
    assert "mcp.git.blame" not in selected(expand(agent, registry, intent))
    assert "mcp.git.blame" in selected(expand(agent, later, intent))


def test_a_hand_picked_tool_of_a_server_that_is_down_is_awaited(make: Any) -> None:
    registry = make.registry("notes.read", unavailable=["git"])
    expansion = expand(
        make.agent("notes.read", servers=("git",)), registry, parse_intent(["mcp.git.log"])
    )
    assert expansion.unavailable == ("mcp.git.log",)


def test_a_discovered_tool_named_in_tools_is_a_configured_one(make: Any) -> None:
    registry = make.registry("mcp.git.log", "mcp.git.add", "notes.read")
    agent = make.agent("mcp.git.log", "notes.read", "mcp.git.log", servers=("git",))
    expansion = expand(agent, registry)
    assert [tool.name for tool in expansion.configured] == ["mcp.git.log", "notes.read"]
    assert [tool.name for tool in expansion.discovered] == ["mcp.git.add"]
