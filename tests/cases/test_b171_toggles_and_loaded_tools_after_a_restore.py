"""B171: enabled or loaded tools vanish on restore, and the fix stores a list of names.

Right: intent and loaded set are kept apart. From the intent new tools appear, the loaded ones come
from the conversation, a missing field is None, and a list is only what the user picked by hand.
"""

import json
from typing import Any

import pytest

SAVED = {"description": "Sweeps the floor.", "inputSchema": {"type": "object"}}


def shelf(home: Any, *names: str) -> None:
    tools = [{"name": name, **SAVED} for name in names]
    (home.folder / "saved.json").write_text(json.dumps({"tools": tools}))
    home.servers["shelf"] = {"catalog": "saved.json", "trust": "trusted"}
    home.agent["servers"] = ["shelf"]
    home.write()


def column(home: Any) -> list[Any]:
    rows = home.sql("select intent from sessions order by opened_at")
    return [None if row[0] is None else json.loads(row[0]) for row in rows]


@pytest.mark.parametrize(
    "intent", [None, {"disabled": ["notes.read"]}, {"enabled": True}, ["notes.list"]]
)
def test_save_add_a_tool_restore(home: Any, intent: Any) -> None:
    shelf(home, "sweep")
    script = {
        "agent": "chat",
        "user": "ana",
        "intent": intent,
        "turns": [{"user": "go", "calls": [{"id": "c1", "tool": "notes.list", "arguments": {}}]}],
    }
    (home.folder / "session.yaml").write_text(json.dumps(script))
    (line,) = home.toolkeeper("run", "session.yaml", "--json", expect=0).lines()
    session = line["session_id"]
    assert column(home) == [intent]
    shelf(home, "sweep", "polish")
    (plan,) = home.here("plan", "--session", session)
    names = {*plan["defined_tool_names"], *plan["deferred_tool_names"]}
    assert ("mcp.shelf.polish" in names) == (not isinstance(intent, list))
    assert ("notes.read" in names) == (intent in (None, {"enabled": True}))
    # Another turn, a plan, a resume: no writer leaves more than the user said.
    home.run({"id": "c2", "tool": "notes.list", "arguments": {}}, session=session, expect=0)
    home.here("plan", "--agent", "chat", "--intent", '{"enabled": false}')
    home.toolkeeper("resume", "--all", "--json", expect=0)
    assert column(home) == [intent]


def test_what_was_loaded_is_not_in_the_intent_and_comes_back(home: Any) -> None:
    home.agent |= {
        "disclosure": "search",
        "always_defined": ["notes.list"],
        "deferred_tools": ["*"],
    }
    shelf(home, "sweep")
    (found,) = home.run(
        {"id": "s1", "tool": "tool.search", "arguments": {"query": "sweep the floor"}}, expect=0
    )
    session = found["session_id"]
    assert column(home) == [None]
    shelf(home, "sweep", "polish")
    (plan,) = home.here("plan", "--session", session)
    assert plan["defined_tool_names"][-1] == "mcp.shelf.sweep"
    assert "mcp.shelf.polish" in plan["deferred_tool_names"]
    assert column(home) == [None]


def test_an_old_row_without_the_field_reads_none_and_nothing_fails(home: Any) -> None:
    (line,) = home.run({"id": "c1", "tool": "notes.list", "arguments": {}}, expect=0)
    home.sql("update sessions set intent = null, model = null, granted = null")
    (again,) = home.run(
        {"id": "c2", "tool": "notes.list", "arguments": {}},
        session=line["session_id"],
        expect=0,
    )
    assert again["outcome"] == "completed"
    assert column(home) == [None]
