"""B137: one huge definition eats the budget, or nothing is selected and nobody says why.

Right: what does not fit is deferred with the reason `definition_tokens`, later and smaller tools go
on filling, and the budget is named.
"""

from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

READ = {"readOnlyHint": True, "openWorldHint": False}
TRUSTED = {"trust": "trusted", "annotations": "trusted"}


def tool(name: str, words: int) -> dict[str, Any]:
    # Trusted or not, a discovered description is cut; names and descriptions of many parameters
    # are what a definition is long by.
    properties = {
        f"parameter_{number}": {"type": "string", "description": "another word " * 20}
        for number in range(words // 40)
    }
    return {
        "name": name,
        "description": f"Reads {name}.",
        "inputSchema": {"type": "object", "properties": properties},
        "annotations": READ,
    }


SMALL = [tool(f"b{number}", 40) for number in range(5)]


@pytest.fixture
def served(home: Any) -> Any:
    home.serve("crm", [tool("a-huge", 12_000), *SMALL], **TRUSTED)
    home.agent["tools"] = ["notes.list"]
    home.agent["deferred_tools"] = []
    home.write()
    return home


def test_the_huge_one_is_deferred_and_the_small_ones_are_defined(served: Any) -> None:
    (plan,) = served.here("plan", "--agent", "chat")
    assert plan["costs"]["definition_tokens"] <= plan["caps"]["definition_tokens"] == 9_000
    assert plan["deferred_tool_names"] == ["mcp.crm.a-huge"]
    assert plan["deferred_reasons"] == {"mcp.crm.a-huge": "definition_tokens"}
    assert [name for name in plan["defined_tool_names"] if name.startswith("mcp.")] == [
        f"mcp.crm.b{number}" for number in range(5)
    ]


def test_it_can_be_called_all_the_same_and_the_plan_event_names_the_reason(served: Any) -> None:
    (line,) = served.run(
        {"id": "c1", "tool": "tool.call", "arguments": {"name": "mcp.crm.a-huge"}}, expect=0
    )
    assert (line["tool"], line["outcome"]) == ("mcp.crm.a-huge", "completed")
    (planned,) = [e for e in served.here("audit", "events") if e["event"] == "session.planned"]
    assert planned["deferred_tool_names"] == ["mcp.crm.a-huge"]
    assert planned["deferred_reasons"] == {"mcp.crm.a-huge": "definition_tokens"}
    assert planned["caps"]["definition_tokens"] == 9_000


def test_where_it_cannot_be_deferred_it_is_skipped_by_name(served: Any) -> None:
    served.agent["control_tools"] = []
    served.write()
    (plan,) = served.here("plan", "--agent", "chat")
    assert {"name": "mcp.crm.a-huge", "reason": "no_tool_call"} in plan["skipped_tool_names"]
    assert len(plan["defined_tool_names"]) == 6


def test_when_nothing_fits_everything_is_accounted_for(served: Any) -> None:
    served.agent["caps"] = {"definition_tokens": 1_000, "index_tokens": 500}
    served.agent["servers"] = []
    served.serve("crm", [tool(f"huge{number}", 12_000) for number in range(3)], **TRUSTED)
    (plan,) = served.here("plan", "--agent", "chat")
    placed = {
        *plan["defined_tool_names"],
        *plan["deferred_tool_names"],
        *plan["searchable_tool_names"],
        *(row["name"] for row in plan["skipped_tool_names"]),
        *(row["name"] for row in plan["filtered_tool_names"]),
    }
    assert placed >= {"notes.list", *(f"mcp.crm.huge{number}" for number in range(3))}
    assert set(plan["deferred_reasons"].values()) <= {"definition_tokens"}


def test_an_always_defined_tool_beyond_the_budget_is_a_configuration_error(served: Any) -> None:
    served.agent["always_defined"] = ["mcp.crm.a-huge"]
    served.write()
    answer = served.toolkeeper("plan", "--agent", "chat", "--json", expect=2)
    assert "agents.chat.always_defined" in answer.err
    assert "9000" in answer.err
