"""What a call is classified as by its arguments, from the configuration to the row."""

import json
from typing import Any

import pytest

TOOLS = '''
from toolkeeper import tool


@tool(name="http.request", side_effect="network_write")
def request(url: str, method: str = "GET") -> str:
    """Send a request."""
    return f"{method} {url}"


TOOLS = [request]
'''
CONFIG = """
version: 1
functions: ["web:TOOLS"]
policy: [policy.yaml]
classification:
  - {tools: [http.request], arguments: {method: [GET, HEAD]}, side_effect: network_read, WHAT}
agents: {chat: {tools: [http.request]}}
"""
CALLS = [{"method": "GET"}, {"method": "DELETE"}, {"method": "get"}]


def browse(desktop: Any, policy: str = "", rule: str = "result: untrusted") -> None:
    desktop.write("web.py", TOOLS)
    desktop.write("toolkeeper.yaml", CONFIG.replace("WHAT", rule))
    desktop.write("policy.yaml", policy or "version: 1\ntaint: off\n")


def play(desktop: Any) -> list[dict[str, Any]]:
    calls = "\n".join(
        json.dumps(
            {"id": f"c{n}", "tool": "http.request", "arguments": {"url": "http://x", **more}}
        )
        for n, more in enumerate(CALLS)
    )
    ended = desktop.play(calls, head="agent: chat\n")
    assert ended.out, ended.err
    lines: list[dict[str, Any]] = ended.lines
    return lines


def test_a_get_passes_and_a_delete_is_asked_about(desktop: Any) -> None:
    browse(desktop)
    assert [line["outcome"] for line in play(desktop)] == ["completed", "suspended", "suspended"]
    shown = desktop.toolkeeper("audit", "calls", "--json").lines
    for side_effect, count in (("network_read", 1), ("network_write", 2)):
        rows = f"SELECT count(*) FROM invocations WHERE side_effect = '{side_effect}'"
        assert desktop.sql(rows) == count
    assert len(shown) == 3


def test_the_tool_ranks_and_shows_as_the_dearest(desktop: Any) -> None:
    browse(desktop)
    (row,) = desktop.toolkeeper("tools", "--json").line["tools"]
    assert (row["side_effect"], row["classified_by"]) == ("network_write", "declaration")
    assert "declaration, by arguments" in desktop.toolkeeper("tools").out


def test_a_class_that_is_denied_hides_only_what_no_arguments_can_help(desktop: Any) -> None:
    deny = "version: 1\nrules: [{id: never, side_effects: [CLASS], effect: deny}]\ntaint: off\n"
    browse(desktop, deny.replace("CLASS", "network_write"))
    assert [line["outcome"] for line in play(desktop)] == ["completed", "refused", "refused"]
    browse(desktop, deny.replace("CLASS", "network_write, network_read"))
    plan = desktop.toolkeeper("plan", "--agent", "chat", "--json").line
    assert plan["filtered_tool_names"] == [{"name": "http.request", "reason": "policy"}]


def test_an_approver_cannot_edit_a_call_into_a_class_that_is_denied(desktop: Any) -> None:
    browse(desktop)
    text = (desktop.folder / "toolkeeper.yaml").read_text()
    pays = (
        "  - {tools: [http.request], arguments: {method: [BUY]}, side_effect: financial}\nagents:"
    )
    desktop.write("toolkeeper.yaml", text.replace("agents:", pays))
    asked = play(desktop)[1]["approval_id"]

    def edited(method: str) -> Any:
        new = json.dumps({"url": "http://x", "method": method})
        return desktop.toolkeeper("approvals", "approve", asked, "--edit", new, "--json")

    refused = edited("BUY")
    assert (refused.code, refused.out) == (1, "")
    assert "policy denies the new arguments" in refused.err
    approved = edited("PUT")
    assert approved.code == 0
    line = desktop.toolkeeper("resume", approved.line["approval_id"], "--json").line
    assert line["outcome"] == "completed"
    assert "PUT http://x" in line["result"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{method: [GET, HEAD]}", "[GET]"),
        ("{method: [GET, HEAD]}", "{}"),
        ("{method: [GET, HEAD]}", "{method: []}"),
        ("{method: [GET, HEAD]}", "{method: {a: b}}"),
        ("{method: [GET, HEAD]}", "{method: [[GET]]}"),
        ("{method: [GET, HEAD]}", "{method: [null]}"),
        ("arguments", "argument"),
        (", side_effect: network_read, result: untrusted", ""),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_with_its_line(
    desktop: Any, old: str, new: str
) -> None:
    browse(desktop)
    text = (desktop.folder / "toolkeeper.yaml").read_text()
    assert old in text
    desktop.write("toolkeeper.yaml", text.replace(old, new))
    ended = desktop.toolkeeper("tools")
    assert (ended.code, ended.out) == (2, "")
    assert "toolkeeper.yaml:5" in ended.err
