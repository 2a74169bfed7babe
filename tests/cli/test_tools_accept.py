"""`toolkeeper tools` says what may be used, and `tools accept` lets more in."""

import json
from typing import Any

import pytest

CONFIG = """
version: 1
servers: {crm: {catalog: crm.json ACCEPTANCE}}
agents: {chat: {servers: [crm]}}
"""
SCHEMA = {"type": "object"}


def shelf(desktop: Any, more: str = "", **tools: str) -> None:
    """A server with these tools, by name and description."""
    desktop.write("toolkeeper.yaml", CONFIG.replace(" ACCEPTANCE", more))
    listing = [
        {"name": name, "description": text, "inputSchema": SCHEMA} for name, text in tools.items()
    ]
    desktop.write("crm.json", json.dumps(listing))


def open_session(desktop: Any) -> None:
    desktop.write("session.yaml", "agent: chat\nturns: [{user: hello}]\n")
    assert desktop.toolkeeper("run", "session.yaml", "--json").code == 0


def states(desktop: Any) -> dict[str, tuple[str, bool]]:
    ended = desktop.toolkeeper("tools", "--json")
    assert ended.code == 0
    return {
        row["name"].removeprefix("mcp.crm."): (row["state"], row["accepted"])
        for row in ended.line["tools"]
    }


def fingerprint(desktop: Any) -> str:
    rows = desktop.toolkeeper("tools", "--json").line["tools"]
    (found,) = [row["fingerprint"] for row in rows if row["name"] == "mcp.crm.send"]
    return str(found)


def test_looking_accepts_nothing(desktop: Any) -> None:
    shelf(desktop, send="x")
    assert states(desktop) == {"send": ("accepted", True)}
    assert desktop.toolkeeper("plan", "--agent", "chat", "--json").code == 0
    assert "toolkeeper.db" not in desktop.files()
    shelf(desktop, send="y", wipe="z")
    assert states(desktop) == {"send": ("accepted", True), "wipe": ("accepted", True)}


def test_a_session_makes_the_listing_the_accepted_one(desktop: Any) -> None:
    shelf(desktop, send="x", find="y")
    open_session(desktop)
    shelf(desktop, send="changed", find="y", wipe="z")
    assert states(desktop) == {
        "find": ("accepted", True),
        "send": ("changed", False),
        "wipe": ("new", False),
    }


def test_what_is_accepted_is_used_from_then_on(desktop: Any) -> None:
    shelf(desktop, send="x")
    open_session(desktop)
    shelf(desktop, send="changed", wipe="z")
    ended = desktop.toolkeeper("tools", "accept", "mcp.crm.send", "--as", "ana", "--json")
    (row,) = ended.line["tools"]
    assert (ended.code, row["name"], row["state"]) == (0, "mcp.crm.send", "changed")
    assert row["diff"] == {"description": {"was": "x", "now": "changed"}}
    assert states(desktop) == {"send": ("accepted", True), "wipe": ("new", False)}
    plan = desktop.toolkeeper("plan", "--agent", "chat", "--json").line
    assert list(plan["pins"]) == ["mcp.crm.send"]
    by = "SELECT by_name FROM accepted_tools WHERE name = 'mcp.crm.send'"
    assert desktop.sql(by) == "ana"


def test_a_written_glob_accepts_what_it_matches(desktop: Any) -> None:
    shelf(desktop, more=", acceptance: manual", a="x", b="y")
    assert states(desktop) == {"a": ("new", False), "b": ("new", False)}
    ended = desktop.toolkeeper("tools", "-c", "toolkeeper.yaml", "accept", "mcp.crm.*")
    assert ended.code == 0
    assert ended.out.count("is accepted (new)") == 2
    assert set(states(desktop).values()) == {("accepted", True)}
    again = desktop.toolkeeper("tools", "accept", "mcp.crm.*")
    assert (again.code, again.out.count("was accepted already")) == (0, 2)


def test_by_hand_nothing_is_used_until_it_is_accepted(desktop: Any) -> None:
    shelf(desktop, more=", acceptance: manual, trust: trusted", a="x")
    open_session(desktop)
    assert states(desktop) == {"a": ("new", False)}
    plan = desktop.toolkeeper("plan", "--agent", "chat", "--json").line
    assert plan["filtered_tool_names"] == [{"name": "mcp.crm.a", "reason": "quarantined"}]
    assert desktop.toolkeeper("tools", "accept", "mcp.crm.a").code == 0
    plan = desktop.toolkeeper("plan", "--agent", "chat", "--json").line
    assert list(plan["pins"]) == ["mcp.crm.a"]


def test_accepting_one_tool_of_a_first_listing_accepts_the_listing(desktop: Any) -> None:
    shelf(desktop, a="x", b="y")
    assert desktop.toolkeeper("tools", "accept", "mcp.crm.a").code == 0
    assert set(states(desktop).values()) == {("accepted", True)}


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["mcp.crm.sent"], "there is no tool `mcp.crm.sent` (did you mean `mcp.crm.send`?)"),
        (["mcp.crm.send", "nope"], "there is no tool `nope`"),
        (["mcp.other.*"], "no tool matches `mcp.other.*`"),
        (["mcp.crm.a b"], "a character that no tool name can have"),
        (["MCP.CRM.SEND"], "there is no tool"),
        ([], "is missing"),
    ],
)
def test_a_name_that_means_nothing_accepts_nothing(
    desktop: Any, names: list[str], says: str
) -> None:
    shelf(desktop, send="x")
    ended = desktop.toolkeeper("tools", "accept", *names)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert "toolkeeper.db" not in desktop.files()


def test_what_was_looked_at_is_accepted_and_nothing_else(desktop: Any) -> None:
    shelf(desktop, send="x")
    open_session(desktop)
    shelf(desktop, send="changed")
    shown = desktop.toolkeeper("tools").out
    hint = shown.splitlines()[-1].split()
    assert hint[:4] == ["toolkeeper", "tools", "accept", "mcp.crm.send"]
    assert hint[4] == "--fingerprint"
    assert hint[5] in shown.splitlines()[1]
    # Between the look and the word the server lists something else.
    shelf(desktop, send="worse")
    refused = desktop.toolkeeper(*hint[1:])
    assert (refused.code, refused.out) == (1, "")
    assert f"is listed otherwise by now: its fingerprint is {fingerprint(desktop)[:12]}" in (
        refused.err
    )
    assert "nothing was accepted" in refused.err
    assert states(desktop) == {"send": ("changed", False)}
    whole = fingerprint(desktop)
    accepted = desktop.toolkeeper("tools", "accept", "mcp.crm.send", "--fingerprint", whole.upper())
    assert accepted.code == 0
    assert states(desktop) == {"send": ("accepted", True)}


def test_a_first_listing_that_is_another_by_now_is_not_accepted_either(desktop: Any) -> None:
    shelf(desktop, send="x", find="y")
    words = ("tools", "accept", "mcp.crm.send", "--fingerprint", "0" * 12)
    assert desktop.toolkeeper(*words).code == 1
    assert "toolkeeper.db" not in desktop.files()


@pytest.mark.parametrize(
    ("names", "prefix", "says"),
    [
        (["mcp.crm.send", "mcp.crm.find"], "0" * 12, "one tool's: name that one only"),
        (["mcp.crm.*"], "0" * 12, "one tool's: name that one only"),
        (["mcp.crm.send"], "0" * 11, "12 to 64 digits"),
        (["mcp.crm.send"], "0" * 65, "12 to 64 digits"),
        (["mcp.crm.send"], "x" * 12, "12 to 64 digits"),
        (["mcp.crm.send"], "", "12 to 64 digits"),
    ],
)
def test_what_is_no_fingerprint_of_one_tool_accepts_nothing(
    desktop: Any, names: list[str], prefix: str, says: str
) -> None:
    shelf(desktop, send="x", find="y")
    ended = desktop.toolkeeper("tools", "accept", *names, "--fingerprint", prefix)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert "toolkeeper.db" not in desktop.files()


def test_a_refused_tool_cannot_be_accepted(desktop: Any) -> None:
    shelf(desktop, send="x")
    bad = [{"name": "bad", "inputSchema": {"$ref": "#"}}]
    desktop.write("crm.json", json.dumps(bad))
    assert states(desktop) == {"bad": ("refused", False)}
    ended = desktop.toolkeeper("tools", "accept", "mcp.crm.bad")
    assert (ended.code, ended.out) == (2, "")
    assert "was refused at discovery" in ended.err


def test_functions_of_our_own_need_no_word(desktop: Any) -> None:
    ended = desktop.toolkeeper("tools", "accept", "schedule.list")
    assert (ended.code, ended.out) == (0, "schedule.list was accepted already\n")


def test_words_of_a_server_drive_no_terminal(desktop: Any) -> None:
    shelf(desktop, send="x")
    open_session(desktop)
    shelf(desktop, send="\x1b[2Jgone\u202e")
    ended = desktop.toolkeeper("tools", "accept", "mcp.crm.send")
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out
