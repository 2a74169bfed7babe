"""`toolkeeper resume`: what was answered goes on, whatever changed meanwhile."""

import sys
from pathlib import Path
from typing import Any

import pytest

from toolkeeper.cli.keys import ENDED

Desktop = Any

SERVER = Path(__file__).parent.parent / "servers" / "scenario_server.py"
UPDATE = "{id: c1, tool: schedule.update, arguments: {id: 1}}"
DENIED = {
    "policy": ("rules", "tool.denied.policy"),
    "hardline": ("hardline", "tool.denied.hardline"),
}


def asked(desktop: Desktop, calls: str = UPDATE) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = desktop.play(calls).lines
    return lines


def approved(desktop: Desktop, calls: str = UPDATE) -> list[dict[str, Any]]:
    """The parked lines of calls that were all approved."""
    lines = asked(desktop, calls)
    for line in lines:
        assert desktop.toolkeeper("approvals", "approve", line["approval_id"]).code == 0
    return lines


def rules(desktop: Desktop, section: str, rule: str) -> None:
    desktop.configure(add="policy: [rules.yaml]\n")
    desktop.write("rules.yaml", f"version: 1\n{section}:\n  - {rule}\n")


def test_an_approved_call_runs_in_another_process_under_its_own_id(desktop: Desktop) -> None:
    (line,) = approved(desktop)
    ended = desktop.process("resume", line["approval_id"], "--json")
    assert ended.code == 0
    assert tuple(ended.line) == ENDED
    assert ended.line["invocation_id"] == line["invocation_id"]
    assert ended.line["call_id"] == "c1"
    assert ended.line["outcome"] == "completed"
    assert ended.line["decision"] == line["decision"]
    assert ended.line["approval_id"] == line["approval_id"]
    assert ended.line["result"] == "updated 1"
    assert desktop.world == ["updated 1"]


@pytest.mark.parametrize("key", ["approval_id", "invocation_id"])
def test_a_finished_call_prints_its_stored_line(desktop: Desktop, key: str) -> None:
    (line,) = approved(desktop)
    first = desktop.toolkeeper("resume", line[key], "--json")
    again = desktop.toolkeeper("resume", line[key], "--json")
    assert (again.code, again.line) == (first.code, first.line)
    assert desktop.world == ["updated 1"]


def test_nothing_to_do_is_no_line_and_no_fault(desktop: Desktop) -> None:
    (line,) = asked(desktop)
    for words in (("--all",), (line["approval_id"],), (line["invocation_id"],)):
        ended = desktop.toolkeeper("resume", *words, "--json")
        assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_an_unknown_id_is_told(desktop: Desktop) -> None:
    asked(desktop)
    ended = desktop.toolkeeper("resume", "apr_nothing", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert "`apr_nothing`" in ended.err


def test_a_denied_call_ends_with_the_reason(desktop: Desktop) -> None:
    (line,) = asked(desktop)
    desktop.toolkeeper("approvals", "deny", line["approval_id"], "--reason", "not on a friday")
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["outcome"] == "refused"
    assert ended.line["code"] == "tool.approval.rejected"
    assert "not on a friday" in ended.line["result"]
    assert ended.line["decision"]["effect"] == "ask"
    assert desktop.world == []


def test_an_expired_call_ends_as_expired(desktop: Desktop) -> None:
    desktop.configure(add="    limits: {approval_expiry: 1ms}\n")
    (line,) = asked(desktop)
    ended = desktop.toolkeeper("resume", line["approval_id"], "--json")
    assert ended.code == 1
    assert ended.line["code"] == "tool.approval.expired"
    assert ended.line["approval_id"] == line["approval_id"]


@pytest.mark.parametrize("case", DENIED.values(), ids=DENIED)
def test_policy_of_the_moment_still_refuses(desktop: Desktop, case: tuple[str, str]) -> None:
    section, code = case
    (line,) = approved(desktop)
    rules(desktop, section, "{id: never, tools: [schedule.update], effect: deny}")
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["outcome"] == "refused"
    assert ended.line["code"] == code
    assert ended.line["decision"]["rules"] == ["never"]
    assert ended.line["approval_id"] == line["approval_id"]
    assert desktop.world == []


def test_a_milder_policy_leaves_the_question_on_the_row(desktop: Desktop) -> None:
    approved(desktop)
    rules(desktop, "rules", "{id: fine, tools: [schedule.update], effect: allow}")
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 0
    assert ended.line["decision"]["effect"] == "ask"


def test_an_approver_who_no_longer_counts_does_not_count(desktop: Desktop) -> None:
    approved(desktop)
    rules(desktop, "rules", "{id: b, tools: [schedule.update], effect: ask, approvers: [boss]}")
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["code"] == "tool.approval.expired"
    assert "no longer entitled" in ended.line["result"]
    assert desktop.world == []


def test_a_tool_that_changed_is_a_pin_mismatch(desktop: Desktop) -> None:
    (line,) = approved(desktop)
    desktop.write("tools.py", desktop.TOOLS.replace("Update an appointment.", "Update it now."))
    ended = desktop.process("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["code"] == "tool_pin_mismatch"
    assert ended.line["approval_id"] == line["approval_id"]
    assert ended.line["decision"] == line["decision"]
    assert desktop.world == []


def test_a_tool_that_was_taken_away_is_withdrawn(desktop: Desktop) -> None:
    approved(desktop)
    desktop.configure(("schedule.update, ", ""))
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["code"] == "tool.not_found.withdrawn"
    assert desktop.world == []


def test_a_scope_that_was_revoked_refuses(desktop: Desktop) -> None:
    approved(desktop, "{id: c1, tool: mail.send, arguments: {to: bea, body: hello}}")
    desktop.configure(("scopes: [mail]", "scopes: []"))
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["code"] == "tool.denied.scope"
    assert desktop.world == []


def test_an_intent_that_changed_refuses(desktop: Desktop) -> None:
    (line,) = approved(desktop)
    head = "agent: chat\nuser: ana\nintent: {disabled: [schedule.update]}\n"
    desktop.play("{id: c9, tool: schedule.list}", "--session", line["session_id"], head=head)
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.line["code"] == "tool.not_found.withdrawn"
    assert desktop.world == []


def test_an_equal_call_elsewhere_in_the_session_spends_the_approval(desktop: Desktop) -> None:
    (line,) = approved(desktop)
    equal = desktop.play(
        "{id: c7, tool: tool.call, arguments: {name: schedule.update, arguments: {id: 1}}}",
        "--session",
        line["session_id"],
    )
    assert equal.code == 0
    assert equal.line["approval_id"] == line["approval_id"]
    assert equal.line["decision"]["effect"] == "ask"
    shown = desktop.toolkeeper("audit", "show", line["invocation_id"], "--json").line
    assert shown["state"] == "settled"
    assert shown["superseded_by"] == equal.line["invocation_id"]
    assert desktop.toolkeeper("resume", "--all", "--json").out == ""
    assert desktop.world == ["updated 1"]


def test_a_session_of_an_agent_that_is_gone_stops_no_other(desktop: Desktop) -> None:
    desktop.configure(add="  other: {tools: [schedule.update]}\n")
    approved(desktop)
    desktop.play(UPDATE, head="agent: other\nuser: ana\n")
    for row in desktop.toolkeeper("approvals", "list", "--json").lines:
        desktop.toolkeeper("approvals", "approve", row["approval_id"])
    desktop.configure(("  chat:", "  talk:"), add="  other: {tools: [schedule.update]}\n")
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert ended.code == 1
    assert ended.line["outcome"] == "completed"
    assert "unknown agent `chat`" in ended.err
    assert "stays parked" in ended.err
    assert desktop.world == ["updated 1"]


def test_a_call_whose_server_is_gone_is_told_and_can_be_resumed_when_it_is_back(
    desktop: Desktop,
) -> None:
    def serve(script: Path) -> None:
        desktop.configure(
            ("agents:\n", "servers:\n  srv:\nagents:\n"),
            ("  srv:\n", f"  srv: {{command: '{sys.executable}', args: ['{script}', calls]}}\n"),
            add="    servers: [srv]\n",
        )

    serve(SERVER)
    (line,) = approved(desktop, "{id: c1, tool: mcp.srv.echo, arguments: {text: hi}}")
    serve(SERVER.with_name("gone.py"))
    away = desktop.toolkeeper("resume", line["approval_id"], "--json")
    assert away.code == 1
    assert away.line["outcome"] == "failed"
    assert away.line["code"] == "tool.unavailable"
    assert "stays parked" in away.err
    serve(SERVER)
    back = desktop.toolkeeper("resume", line["approval_id"], "--json")
    assert back.code == 0
    assert back.line["outcome"] == "completed"


def test_several_processes_at_once_run_every_call_once(desktop: Desktop) -> None:
    calls = "\n".join(
        f"{{id: c{n}, tool: schedule.update, arguments: {{id: {n}}}}}" for n in range(5)
    )
    approved(desktop, calls)
    running = [desktop.start("resume", "--all", "--json") for _ in range(3)]
    ended = [desktop.ended(process) for process in running]
    assert [each.err for each in ended] == ["", "", ""]
    assert [each.code for each in ended] == [0, 0, 0]
    told = {line["call_id"] for each in ended for line in each.lines}
    assert told == {f"c{n}" for n in range(5)}
    assert sorted(desktop.world) == [f"updated {n}" for n in range(5)]


def test_a_read_whose_process_was_killed_runs_again_and_a_write_does_not(
    desktop: Desktop,
) -> None:
    desktop.configure(
        ("slow.read, broken", "slow.read, slow.write, broken"),
        add="    limits: {lease: 200ms}\npolicy: [rules.yaml]\n",
    )
    desktop.write(
        "rules.yaml", "version: 1\nrules:\n  - {id: w, tools: [slow.write], effect: allow}\n"
    )
    desktop.write(
        "session.yaml",
        "agent: chat\nturns:\n  - calls:\n"
        "      - - {id: r, tool: slow.read, arguments: {seconds: 2, api_token: hush}}\n"
        "        - {id: w, tool: slow.write, arguments: {seconds: 30}}\n",
    )
    process = desktop.start("run", "session.yaml", "--json")
    claimed = "SELECT count(*) FROM invocations WHERE state = 'running'"
    desktop.wait_for(lambda: (desktop.folder / "started.txt").exists())
    desktop.wait_for(lambda: desktop.sql(claimed) == 2)
    process.kill()
    desktop.ended(process)
    desktop.wait_for_lease()
    ended = desktop.toolkeeper("resume", "--all", "--json")
    assert [(line["call_id"], line["outcome"]) for line in ended.lines] == [("r", "completed")]
    rows = desktop.toolkeeper("audit", "calls", "--json").lines
    assert {row["call_id"]: row["code"] for row in rows} == {
        "r": None,
        "w": "tool.failed.unknown_outcome",
    }
    events = [row["event"] for row in desktop.toolkeeper("audit", "events", "--json").lines]
    assert events.count("lease.reaped") == 2
