"""The verbs about standing approvals: what they print, what they refuse, and who may use them."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import ANSWERED, GRANT

SECRET = {"TOOLKEEPER_APPROVER_SECRET": "open sesame"}
UPDATE = "{id: c1, tool: schedule.update, arguments: {id: 1}}"


def parked(desktop: Any) -> str:
    ended = desktop.play(UPDATE)
    return str(ended.line["approval_id"])


def granted(desktop: Any, *more: str) -> dict[str, Any]:
    ended = desktop.toolkeeper("approvals", "approve", parked(desktop), *more, "--json")
    assert ended.code == 0, ended.err
    grant: dict[str, Any] = ended.line["grant"]
    return grant


def test_what_is_printed_has_the_keys_of_the_contract(desktop: Any) -> None:
    id = parked(desktop)
    answered = desktop.toolkeeper("approvals", "approve", id, "--scope", "always", "--json").line
    assert tuple(answered) == ANSWERED
    (listed,) = desktop.toolkeeper("grants", "list", "--json").lines
    assert tuple(listed) == GRANT
    assert listed == answered["grant"]
    assert (listed["scope"], listed["user"], listed["state"]) == ("always", "ana", "active")
    assert (listed["session_id"], listed["condition"]) == (None, None)
    assert listed["rules"] == ["@default.workspace_write"]
    revoked = desktop.toolkeeper("grants", "revoke", listed["grant_id"], "--json").line
    assert tuple(revoked) == GRANT
    assert (revoked["state"], revoked["revoked_by"]) == ("revoked", "ana")
    assert desktop.toolkeeper("grants", "list", "--json").lines == []
    assert desktop.toolkeeper("grants", "list", "--all", "--json").lines == [revoked]


def test_an_answer_for_one_call_gives_none(desktop: Any) -> None:
    ended = desktop.toolkeeper("approvals", "approve", parked(desktop), "--json")
    assert tuple(ended.line) == ANSWERED
    assert ended.line["grant"] is None
    ended = desktop.toolkeeper("approvals", "deny", parked(desktop), "--json")
    assert ended.line["grant"] is None
    assert desktop.toolkeeper("grants", "list").out == "no grant holds\n"
    assert desktop.toolkeeper("grants", "list", "--all").out == "there are no grants\n"


def test_a_call_under_it_says_so_in_its_line_and_in_the_audit(desktop: Any) -> None:
    grant = granted(desktop, "--scope", "always", "--condition", "args.id < 10")
    lines = desktop.play(
        "{id: c1, tool: schedule.update, arguments: {id: 2}}\n"
        "{id: c2, tool: schedule.update, arguments: {id: 20}}"
    ).lines
    assert [line["outcome"] for line in lines] == ["completed", "suspended"]
    assert [line["grant_id"] for line in lines] == [grant["grant_id"], None]
    shown = desktop.toolkeeper("audit", "show", lines[0]["invocation_id"], "--json").line
    assert shown["grant_id"] == grant["grant_id"]
    (claimed,) = [event for event in shown["events"] if event["event"] == "call.claimed"]
    assert claimed["grant_id"] == grant["grant_id"]


def test_a_person_is_told_all_that_it_lets_through(desktop: Any) -> None:
    told = desktop.toolkeeper(
        "approvals", "approve", parked(desktop), "--scope", "session", "--for", "2h"
    ).out
    assert "lets through calls of schedule.update with any arguments, for ana" in told
    assert "in session ses_" in told
    assert "not once the session has read untrusted text" in told
    assert "toolkeeper grants revoke gra_" in told
    grant = granted(desktop, "--scope", "always", "--condition", "args.id == 1", "--despite-taint")
    listed = desktop.toolkeeper("grants", "list").out
    assert "args.id == 1" in listed
    assert grant["rules"] == ["@default.workspace_write", "@taint", "@taint.private"]


def test_characters_that_could_hide_a_condition_are_shown(desktop: Any) -> None:
    granted(desktop, "--scope", "always", "--condition", "args.id == 1 || args.title == '\u202ex'")
    assert "\\u{202E}" in desktop.toolkeeper("grants", "list").out


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--scope", "allways"], 2, "did you mean `always`?"),
        (["--scope", ""], 2, "is not a scope"),
        (["--for", "7d"], 2, "add `--scope session` or `--scope always`"),
        (["--condition", "args.id == 1"], 2, "add `--scope session`"),
        (["--despite-taint"], 2, "add `--scope session`"),
        (["--scope", "always", "--edit", '{"id": 2}'], 2, "approved once"),
        (["--scope", "always", "--for", "soon"], 2, "is not a duration"),
        (["--scope", "always", "--for", "-1d"], 2, "is not a duration"),
        (["--scope", "always", "--for", "0"], 2, "some time"),
        (["--scope", "always", "--for", "31d"], 2, "hours at most"),
        (["--scope", "always", "--condition", "args.idd == 1"], 2, "did you mean `id`?"),
        (["--scope", "always", "--condition", "args.id =="], 2, "condition"),
        (["--scope", "always", "--condition", ""], 2, "condition"),
        (["--scope", "always", "--condition", "args.id == 2"], 1, "does not hold for this very"),
        (["--scope", "always", "--as", "eve"], 1, "not among the approvers"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_decided(
    desktop: Any, more: list[str], code: int, words: str
) -> None:
    id = parked(desktop)
    ended = desktop.toolkeeper("approvals", "approve", id, *more)
    assert ended.code == code
    assert words in ended.err
    assert desktop.toolkeeper("approvals", "show", id, "--json").line["state"] == "pending"
    assert desktop.toolkeeper("grants", "list", "--all", "--json").lines == []


def test_a_question_that_is_answered_each_time_takes_no_grant(desktop: Any) -> None:
    ended = desktop.play("{id: c1, tool: undeclared, arguments: {x: 1}}")
    id = ended.line["approval_id"]
    shown = desktop.toolkeeper("approvals", "show", id)
    assert "once: this very call" in shown.out
    refused = desktop.toolkeeper("approvals", "approve", id, "--scope", "always")
    assert refused.code == 1
    assert "`once` at most" in refused.err


def test_revoking_takes_an_approver_and_their_secret(desktop: Any) -> None:
    hashed = desktop.toolkeeper("approvals", "hash", env=SECRET).out.strip()
    desktop.configure(
        add=f"    approvers: [ops]\napprover_secrets: {{ops: {json.dumps(hashed)}}}\n"
    )
    id = parked(desktop)
    approve = ("approvals", "approve", id, "--scope", "always", "--json")
    without = desktop.toolkeeper(*approve)
    assert (without.code, "has to prove who they are" in without.err) == (1, True)
    given = desktop.toolkeeper(
        "approvals", "approve", id, "--scope", "always", "--json", env=SECRET
    )
    grant = given.line["grant"]["grant_id"]
    for more, environment in ([], {}), (["--as", "ana"], SECRET), (["--as", "ana"], {}):
        refused = desktop.toolkeeper("grants", "revoke", grant, *more, env=environment)
        assert refused.code == 1
    assert len(desktop.toolkeeper("grants", "list", "--json").lines) == 1
    assert desktop.toolkeeper("grants", "revoke", grant, env=SECRET).code == 0
    late = desktop.toolkeeper("grants", "revoke", grant, env=SECRET)
    assert (late.code, "was already revoked by `ops`" in late.err) == (1, True)


def test_a_grant_that_is_not_there_is_none_to_end(desktop: Any) -> None:
    parked(desktop)
    ended = desktop.toolkeeper("grants", "revoke", "gra_none")
    assert (ended.code, "unknown grant `gra_none`" in ended.err) == (1, True)


@pytest.mark.parametrize(
    "agent",
    ["    exclude_requester: true\n", "    exclude_requester: true\n    approvers: [ana]\n"],
)
def test_an_exclusion_that_leaves_nobody_is_an_error_with_its_line(
    desktop: Any, agent: str
) -> None:
    desktop.configure(add=agent)
    for verb in (["policy", "check"], ["run", "session.yaml"], ["approvals", "deny", "x"]):
        ended = desktop.toolkeeper(*verb)
        assert ended.code == 2, verb
        assert "nobody else could answer" in ended.err + ended.out
    assert "exclude_requester" in ended.err + ended.out


def test_the_requester_may_not_answer_where_they_are_excluded(desktop: Any) -> None:
    desktop.configure(add="    exclude_requester: true\n    approvers: [ana, bo]\n")
    id = parked(desktop)
    shown = desktop.toolkeeper("approvals", "show", id, "--json").line
    assert shown["approvers"] == ["bo"]
    refused = desktop.toolkeeper("approvals", "approve", id, "--as", "ana")
    assert refused.code == 1
    assert desktop.toolkeeper("approvals", "approve", id, "--as", "bo").code == 0
