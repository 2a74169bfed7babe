"""B167: protected tools leave no room, or a big server pushes one out, and nothing says so.

Right: configured tools first, the overflow deferred, the rest named with a reason, the counts
visible; the slot of `tool.call` is counted before filling.
"""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

FUNCTIONS = '''
"""As many functions as the case needs."""

from toolkeeper import tool


def _made(number):
    @tool(name=f"own.t{number:02}", side_effect="workspace_write")
    def own(text: str = "") -> str:
        """Do it."""
        return f"own {number}"

    return own


TOOLS = [_made(number) for number in range(31)]
'''


def office(home: Any, configured: int, discovered: int, *, reads: bool = True) -> Any:
    (home.folder / "many_tools.py").write_text(FUNCTIONS)
    tools = [
        {
            "name": f"r{number:03}",
            "description": f"Reads number {number}.",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": reads, "openWorldHint": False},
        }
        for number in range(discovered)
    ]
    (home.folder / "saved.json").write_text(json.dumps({"tools": tools}))
    home.servers["big"] = {"catalog": "saved.json", "trust": "trusted", "annotations": "trusted"}
    home.settings["functions"] = ["many_tools:TOOLS"]
    home.agent = {
        "tools": [f"own.t{number:02}" for number in range(configured)],
        "servers": ["big"],
        **home.agent,
    }
    home.agent.setdefault("deferred_tools", [])
    home.settings["agents"] = {"chat": home.agent}
    home.write()
    (plan,) = home.here("plan", "--agent", "chat")
    return plan


def accounted(plan: Any) -> dict[str, str]:
    """The place of every name; no name has two."""
    places = {
        "defined": plan["defined_tool_names"],
        "deferred": plan["deferred_tool_names"],
        "searchable": plan["searchable_tool_names"],
        "skipped": [row["name"] for row in plan["skipped_tool_names"]],
        "filtered": [row["name"] for row in plan["filtered_tool_names"]],
    }
    names = [name for place in places.values() for name in place]
    assert len(names) == len(set(names))
    return {name: place for place, all in places.items() for name in all}


CONTROLS = {"tool.call", "tool.search", "tool.result"}


def test_thirty_one_configured_and_five_discovered(home: Any) -> None:
    home.agent = {"control_tools": ["tool.call"]}
    plan = office(home, 31, 5)
    places = accounted(plan)
    assert plan["defined_tool_names"] == [
        *(f"own.t{number:02}" for number in range(29)),
        "tool.call",
    ]
    assert plan["deferred_tool_names"] == [
        "own.t29",
        "own.t30",
        *(f"mcp.big.r{number:03}" for number in range(5)),
    ]
    assert set(plan["deferred_reasons"].values()) == {"definition_cap"}
    assert plan["skipped_tool_names"] == []
    assert len(places.keys() - CONTROLS) == 36


@pytest.mark.parametrize("reads", [True, False])
def test_six_configured_and_five_hundred_and_sixty_discovered(home: Any, reads: bool) -> None:
    home.agent = {"control_tools": ["tool.call"]}
    plan = office(home, 6, 560, reads=reads)
    places = accounted(plan)
    assert plan["defined_tool_names"][:6] == [f"own.t{number:02}" for number in range(6)]
    assert len(plan["defined_tool_names"]) == 30
    assert 0 < len(plan["deferred_tool_names"]) <= 40
    skipped = plan["skipped_tool_names"]
    assert {row["reason"] for row in skipped} <= {"index_entries", "index_tokens"}
    assert len(places.keys() - CONTROLS) == 566
    assert sum(place == "skipped" for place in places.values()) == len(skipped) > 400
    assert plan["costs"]["index_tokens"] <= plan["caps"]["index_tokens"]


def test_with_a_search_the_rest_is_searchable_instead(home: Any) -> None:
    plan = office(home, 6, 560)
    assert plan["skipped_tool_names"] == []
    assert len(plan["searchable_tool_names"]) > 400
    assert len(accounted(plan).keys() - CONTROLS) == 566
    # Every control tool that is advertised took its slot before the filling.
    assert len(plan["defined_tool_names"]) == 30


def test_without_a_bridge_nothing_is_deferred_and_every_skip_is_named(home: Any) -> None:
    home.agent = {"control_tools": []}
    plan = office(home, 31, 5)
    assert len(plan["defined_tool_names"]) == 30
    assert plan["deferred_tool_names"] == []
    assert [row["name"] for row in plan["skipped_tool_names"]] == [
        "own.t30",
        *(f"mcp.big.r{number:03}" for number in range(5)),
    ]
    assert {row["reason"] for row in plan["skipped_tool_names"]} == {"no_tool_call"}


def test_the_skips_are_on_record_and_in_the_audit(home: Any) -> None:
    home.agent = {"control_tools": ["tool.call"], "caps": {"definitions": 4, "index_entries": 2}}
    plan = office(home, 6, 5)
    names = [row["name"] for row in plan["skipped_tool_names"]]
    assert len(names) == 6
    home.run({"id": "c1", "tool": names[0], "arguments": {}}, expect=1)
    (told,) = home.here("audit", "plans", "--skipped")
    assert told["skipped_tool_names"] == plan["skipped_tool_names"]
    assert all(row["reason"] == "index_entries" for row in told["skipped_tool_names"])
    (row,) = home.here("audit", "calls")
    assert row["code"] == "tool.not_found.not_offered"
    printed = home.toolkeeper("plan", "--agent", "chat", expect=0).out
    assert "4 of 4 definitions" in printed
    assert "2 of 2 index entries" in printed
    for name in names:
        assert name in printed


def test_one_more_configured_tool_evicts_nothing(home: Any) -> None:
    home.agent = {"control_tools": ["tool.call"]}
    before = office(home, 20, 15)
    home.agent.pop("tools")
    after = office(home, 21, 15)
    reached = ("defined", "deferred")
    old = {name for name, place in accounted(before).items() if place in reached}
    new = {name for name, place in accounted(after).items() if place in reached}
    assert old <= new
