"""B129: pending approvals live in memory; a restart kills the buttons and leaves the run running.

Right: an approval is a row; park, restart, approve, restart, resume: it runs once, with the very
arguments that were asked about, and anything that cannot go on is said clearly.
"""

import os
import signal
import sqlite3
from contextlib import closing
from typing import Any

import pytest


def test_each_step_in_a_process_of_its_own(any_home: Any) -> None:
    (line,) = any_home.run(
        {
            "id": "c1",
            "tool": "tool.call",
            "arguments": {"name": "notes.add", "arguments": {"title": "tea"}},
        },
        expect=1,
    )
    assert (line["outcome"], line["tool"]) == ("suspended", "notes.add")
    (shown,) = any_home.toolkeeper("approvals", "list", "--json", expect=0).lines()
    assert (shown["state"], shown["arguments"]) == ("pending", {"title": "tea"})
    assert any_home.toolkeeper("resume", "--all", "--json", expect=0).lines() == []
    assert any_home.effects() == []
    any_home.toolkeeper("approvals", "approve", shown["approval_id"], expect=0)
    assert any_home.effects() == []
    done = any_home.toolkeeper("resume", shown["approval_id"], "--json", expect=0).object()
    assert done["outcome"] == "completed"
    for key in ("session_id", "run_id", "invocation_id", "call_id", "advertised_as", "approval_id"):
        assert done[key] == line[key]
    assert done["decision"]["effect"] == "ask"
    (effect,) = any_home.effects()
    assert effect[:2] == ["add", "tea"]
    assert effect[2] != os.getpid()


def test_killed_while_it_waits_nothing_is_lost_and_nothing_is_left_running(any_home: Any) -> None:
    # The worker dies by a signal that nothing can catch, right after the call was parked.
    script = any_home.folder / "session.yaml"
    any_home.park(["tea"])
    before = any_home.here("approvals", "list")
    process = any_home.start("run", str(script), "--json")
    assert process.stdout is not None
    assert "suspended" in process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    after = any_home.here("approvals", "list")
    assert len(after) == len(before) + 1
    for approval in after:
        any_home.here("approvals", "approve", approval["approval_id"])
    lines = any_home.toolkeeper("resume", "--all", "--json", expect=0).lines()
    assert [line["outcome"] for line in lines] == ["completed"] * 2
    assert {row["state"] for row in any_home.here("audit", "calls")} == {"settled"}


def test_a_denied_and_an_expired_call_are_answered_clearly_after_a_restart(home: Any) -> None:
    home.agent["limits"] = {"approval_expiry": "50ms"}
    home.write()
    (short,) = home.park(["late"])
    late = home.toolkeeper("approvals", "approve", short["approval_id"], expect=1)
    assert "expired" in late.err
    home.agent["limits"] = {}
    home.write()
    (line,) = home.park(["tea"])
    home.here("approvals", "deny", line["approval_id"], "--reason", "not today")
    (done,) = home.toolkeeper("resume", "--all", "--json", expect=1).lines()
    assert (done["code"], done["invocation_id"]) == (
        "tool.approval.rejected",
        line["invocation_id"],
    )
    assert "not today" in done["result"]
    rows = {row["invocation_id"]: row for row in home.here("audit", "calls")}
    assert rows[short["invocation_id"]]["code"] == "tool.approval.expired"
    assert home.effects() == []


@pytest.mark.sqlite_file
def test_secret_arguments_survive_the_restart_without_standing_in_the_database(home: Any) -> None:
    secret = "hunter2-correct-horse"
    home.settings["redaction"] = {"keys": ["to"]}
    home.write()
    (line,) = home.run({"id": "c1", "tool": "mail.send", "arguments": {"to": secret}}, expect=1)
    (shown,) = home.here("approvals", "list")
    assert secret not in str(shown)
    for file in home.folder.glob("ledger.db*"):
        assert secret.encode() not in file.read_bytes()
    home.here("approvals", "approve", line["approval_id"])
    home.toolkeeper("resume", "--all", expect=0)
    assert home.effects() == [["send", secret]]
    with closing(sqlite3.connect(home.folder / "ledger.db")) as connection:
        assert secret not in "\n".join(connection.iterdump())


def test_what_changed_in_the_meantime_is_checked_again(home: Any) -> None:
    (denied, gone) = home.park(["tea", "mud"])
    for line in (denied, gone):
        home.here("approvals", "approve", line["approval_id"])
    # The policy of this moment decides, hardline included.
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(
        "version: 1\nhardline:\n  - {id: freeze, tools: [notes.add], effect: deny}\n"
    )
    home.write()
    (first,) = home.toolkeeper("resume", denied["invocation_id"], "--json", expect=1).lines()
    assert first["code"] == "tool.denied.hardline"
    # A tool that the agent has no more is withdrawn.
    home.settings.pop("policy")
    home.agent["tools"] = ["notes.list", "notes.read"]
    home.agent["deferred_tools"] = ["notes.read"]
    home.write()
    (second,) = home.toolkeeper("resume", gone["invocation_id"], "--json", expect=1).lines()
    assert second["code"] == "tool.not_found.withdrawn"
    assert home.effects() == []


def test_an_unknown_id_and_a_finished_call_are_answered_clearly(home: Any) -> None:
    unknown = home.toolkeeper("resume", "apr_none", expect=1)
    assert "unknown approval or invocation" in unknown.err
    (line,) = home.park(["tea"])
    home.here("approvals", "approve", line["approval_id"])
    first = home.toolkeeper("resume", line["invocation_id"], "--json", expect=0).out
    again = home.toolkeeper("resume", line["approval_id"], "--json", expect=0).out
    assert again == first
    assert len(home.effects()) == 1
