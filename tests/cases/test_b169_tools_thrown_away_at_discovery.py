"""B169: tools that fail validation are thrown away at registration, and nobody is told.

Right: the listing, the plan and the stored event name each of them with its reason, and the others
live.
"""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

GOOD = [
    {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}}
    for name in ("one", "two", "three")
]
BAD = [
    {"name": "no name at all!", "description": "x", "inputSchema": {"type": "object"}},
    {"name": "remote", "description": "x", "inputSchema": {"$ref": "https://evil.example/s"}},
]


@pytest.mark.parametrize("way", ["server", "catalog"])
def test_two_of_five_are_refused_by_name_everywhere(home: Any, way: str) -> None:
    tools = [GOOD[0], BAD[0], GOOD[1], BAD[1], GOOD[2]]
    if way == "server":
        home.serve("shelf", tools)
    else:
        (home.folder / "saved.json").write_text(json.dumps({"tools": tools}))
        home.servers["shelf"] = {"catalog": "saved.json"}
        home.agent["servers"] = ["shelf"]
        home.write()
    (plan,) = home.here("plan", "--agent", "chat")
    listed = home.here("tools")[0]["tools"]
    refused = {row["name"]: row["reason"] for row in plan["refused_tools"]}
    assert len(refused) == 2
    assert "remote" in refused
    assert all(reason and "\n" not in reason for reason in refused.values())
    for number in ("one", "two", "three"):
        name = f"mcp.shelf.{number}"
        assert name in {*plan["defined_tool_names"], *plan["deferred_tool_names"]}
        assert name in {row["name"] for row in listed}
    states = [row for row in listed if row["state"] == "refused"]
    assert {row["name"].rpartition("mcp.shelf.")[2] for row in states} == set(refused)
    home.run({"id": "c1", "tool": "notes.list", "arguments": {}}, expect=0)
    (planned,) = [row for row in home.here("audit", "events") if row["event"] == "session.planned"]
    assert {row["name"]: row["reason"] for row in planned["refused_tools"]} == refused
