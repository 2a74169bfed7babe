"""B86: a server that calls its tool read-only removes the confirmation.

Right: a hint of a server that is not trusted never lowers a class, nor wins a place in the ranking;
it may raise one.
"""

from itertools import product
from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
EVERY = [
    {hint: value for hint, value in zip(HINTS, values, strict=True) if value is not None}
    for values in product((True, False, None), repeat=4)
]
CALL = {"id": "c", "tool": "mcp.notes.purge", "arguments": {}}


def a_tool(name: str, annotations: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": annotations}


def test_no_hint_of_an_untrusted_server_lowers_anything(home: Any) -> None:
    home.serve("notes", [a_tool(f"t{index}", hints) for index, hints in enumerate(EVERY)])
    (registry,) = home.here("tools")
    rows = [row for row in registry["tools"] if row["source"] == "notes"]
    assert len(rows) == 81
    for row in rows:
        assert row["side_effect"] == "network_write", row["annotations"]
        assert {"destructive", "open_world"} <= set(row["flags"]), row["annotations"]
        assert "idempotent" not in row["flags"]
        assert row["classified_by"] == "worst_case"


@pytest.mark.parametrize("trust", ["trusted", "untrusted"])
def test_the_confirmation_stays(home: Any, trust: str) -> None:
    # `trust` is about results; only `annotations` says whose hints are believed.
    home.serve("notes", [a_tool("purge", {"readOnlyHint": True})], trust=trust)
    (line,) = home.run(CALL, expect=1)
    assert (line["outcome"], line["decision"]["effect"]) == ("suspended", "ask")
    assert home.called("notes") == []


def test_a_hint_wins_no_place_among_the_reads(home: Any) -> None:
    home.serve("notes", [a_tool("a", {}), a_tool("purge", {"readOnlyHint": True}), a_tool("z", {})])
    (plan,) = home.here("plan", "--agent", "chat")
    ranked = [name for name in plan["defined_tool_names"] if name.startswith("mcp.notes.")]
    assert ranked == ["mcp.notes.a", "mcp.notes.purge", "mcp.notes.z"]


def test_a_hint_raises_what_a_rule_has_lowered(home: Any) -> None:
    home.settings["classification"] = [{"tools": ["mcp.notes.*"], "side_effect": "network_read"}]
    home.serve("notes", [a_tool("find", {}), a_tool("purge", {"destructiveHint": True})])
    (registry,) = home.here("tools")
    flags = {row["raw_name"]: row["flags"] for row in registry["tools"] if row["source"] == "notes"}
    assert "destructive" not in flags["find"]
    assert "destructive" in flags["purge"]


def test_a_rule_for_a_glob_does_not_lower_what_comes_later(home: Any) -> None:
    home.settings["classification"] = [
        {"tools": ["mcp.notes.find_*"], "side_effect": "network_read"}
    ]
    home.serve("notes", [a_tool("find_all", {})])
    home.run({"id": "c", "tool": "mcp.notes.find_all", "arguments": {}}, expect=0)
    home.agent["servers"] = []
    home.serve("notes", [a_tool("find_all", {}), a_tool("find_and_wipe", {"readOnlyHint": True})])

    def classes() -> Any:
        (registry,) = home.here("tools")
        rows = [row for row in registry["tools"] if row["source"] == "notes"]
        return [(row["raw_name"], row["side_effect"], row["state"]) for row in rows]

    assert classes() == [
        ("find_all", "network_read", "accepted"),
        ("find_and_wipe", "network_write", "new"),
    ]
    # Whoever accepts it has read the rules that it then falls under.
    home.toolkeeper("tools", "accept", "mcp.notes.find_and_wipe", expect=0)
    assert classes()[1] == ("find_and_wipe", "network_read", "accepted")
