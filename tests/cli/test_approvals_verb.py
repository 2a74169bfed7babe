"""`toolkeeper approvals`: answering only decides, once, and by whom configuration says."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import APPROVAL

Desktop = Any

UPDATE = "{id: c1, tool: schedule.update, arguments: {id: 1}}"
SECRET = {"TOOLKEEPER_APPROVER_SECRET": "open sesame"}
EXPIRING = "    limits: {approval_expiry: 1ms}\n"


def parked(desktop: Desktop, calls: str = UPDATE) -> list[str]:
    """The approval ids of a session whose calls all wait."""
    ended = desktop.play(calls)
    assert ended.code == 1
    assert {line["outcome"] for line in ended.lines} == {"suspended"}
    return [line["approval_id"] for line in ended.lines]


def state(desktop: Desktop, id: str) -> str:
    return str(desktop.toolkeeper("approvals", "show", id, "--json").line["state"])


def test_list_and_show_have_the_keys_of_the_contract(desktop: Desktop) -> None:
    (id,) = parked(desktop)
    listed = desktop.toolkeeper("approvals", "list", "--json").line
    shown = desktop.toolkeeper("approvals", "show", id, "--json").line
    assert tuple(listed) == tuple(shown) == APPROVAL
    assert listed == shown
    assert shown["approval_id"] == id
    assert shown["tool"] == "schedule.update"
    assert shown["arguments"] == {"id": 1}
    assert shown["decision"]["effect"] == "ask"
    assert shown["approvers"] == ["ana"]
    assert shown["state"] == "pending"


def test_list_shows_pending_ones_and_all_shows_every_one(desktop: Desktop) -> None:
    first, second = parked(desktop, f"{UPDATE}\n{UPDATE.replace('c1', 'c2')}")
    desktop.toolkeeper("approvals", "deny", first)
    pending = desktop.toolkeeper("approvals", "list", "--json").lines
    every = desktop.toolkeeper("approvals", "list", "--all", "--json").lines
    assert [row["approval_id"] for row in pending] == [second]
    assert [(row["approval_id"], row["state"]) for row in every] == [
        (first, "denied"),
        (second, "pending"),
    ]


def test_a_list_of_nothing_says_so(desktop: Desktop) -> None:
    desktop.toolkeeper("call", "--agent", "chat", "schedule.list")
    ended = desktop.toolkeeper("approvals", "list")
    assert (ended.code, ended.out) == (0, "nothing waits for an answer\n")
    assert desktop.toolkeeper("approvals", "list", "--json").out == ""


def test_approving_decides_and_runs_nothing(desktop: Desktop) -> None:
    (id,) = parked(desktop)
    answered = desktop.toolkeeper("approvals", "approve", id, "--reason", "fine", "--json")
    assert answered.code == 0
    assert answered.line["state"] == "approved"
    assert answered.line["decided_by"] == "ana"
    assert answered.line["reason"] == "fine"
    assert desktop.world == []


@pytest.mark.parametrize("verb", ["approve", "deny"])
@pytest.mark.parametrize("before", ["approve", "deny"])
def test_what_is_answered_takes_no_second_answer(desktop: Desktop, before: str, verb: str) -> None:
    (id,) = parked(desktop)
    desktop.toolkeeper("approvals", before, id)
    again = desktop.toolkeeper("approvals", verb, id)
    answered = "approved" if before == "approve" else "denied"
    assert again.code == 1
    assert again.out == ""
    assert f"already {answered} by `ana`" in again.err
    assert state(desktop, id) == answered


def test_what_is_spent_takes_no_answer(desktop: Desktop) -> None:
    (id,) = parked(desktop)
    desktop.toolkeeper("approvals", "approve", id)
    desktop.toolkeeper("resume", id)
    again = desktop.toolkeeper("approvals", "deny", id)
    assert again.code == 1
    assert "already spent" in again.err
    assert state(desktop, id) == "spent"


def test_an_unknown_approval_is_told(desktop: Desktop) -> None:
    parked(desktop)
    for verb in ("show", "approve", "deny"):
        ended = desktop.toolkeeper("approvals", verb, "apr_nothing")
        assert (ended.code, ended.out) == (1, "")
        assert "unknown approval `apr_nothing`" in ended.err


def test_what_ran_out_is_expired_for_whoever_looks_or_answers(desktop: Desktop) -> None:
    desktop.configure(add=EXPIRING)
    (id,) = parked(desktop)
    assert state(desktop, id) == "expired"
    assert desktop.toolkeeper("approvals", "list", "--json").lines == []
    events = [row["event"] for row in desktop.toolkeeper("audit", "events", "--json").lines]
    assert "approval.expired" not in events  # looking wrote nothing
    ended = desktop.toolkeeper("approvals", "approve", id)
    assert ended.code == 1
    assert "is expired" in ended.err
    events = [row["event"] for row in desktop.toolkeeper("audit", "events", "--json").lines]
    assert events.count("approval.expired") == 1


def test_only_an_approver_of_the_call_may_answer(desktop: Desktop) -> None:
    desktop.configure(add="    approvers: [bea, cem]\n")
    (id,) = parked(desktop)
    refused = desktop.toolkeeper("approvals", "approve", id, "--as", "ana")
    assert refused.code == 1
    assert "`ana` is not among the approvers" in refused.err
    assert state(desktop, id) == "pending"
    answered = desktop.toolkeeper("approvals", "approve", id, "--as", "cem", "--json")
    assert answered.line["decided_by"] == "cem"


def test_a_rule_names_its_own_approvers(desktop: Desktop) -> None:
    desktop.configure(add="policy: [rules.yaml]\n")
    desktop.write(
        "rules.yaml",
        "version: 1\nrules:\n"
        "  - {id: boss, tools: [schedule.update], effect: ask, approvers: [dee]}\n",
    )
    (id,) = parked(desktop)
    assert desktop.toolkeeper("approvals", "show", id, "--json").line["approvers"] == ["dee"]
    assert desktop.toolkeeper("approvals", "approve", id, "--as", "ana").code == 1
    assert desktop.toolkeeper("approvals", "approve", id, "--as", "dee").code == 0


def test_an_approver_with_a_secret_has_to_know_it(desktop: Desktop) -> None:
    hashed = desktop.process("approvals", "hash", env=SECRET)
    again = desktop.process("approvals", "hash", env=SECRET)
    assert hashed.out != again.out  # salted
    desktop.configure(
        add=f"    approvers: [ops, ana]\napprover_secrets: {{ops: '{hashed.out.strip()}'}}\n"
    )
    first, second = parked(desktop, f"{UPDATE}\n{UPDATE.replace('c1', 'c2')}")
    for env in ({}, {"TOOLKEEPER_APPROVER_SECRET": "guess"}):
        ended = desktop.process("approvals", "approve", first, "--as", "ops", env=env)
        assert (ended.code, ended.out) == (1, "")
        assert "guess" not in ended.err
        assert state(desktop, first) == "pending"
    # No name is the first approver's, who has a secret; one without is taken at their word.
    assert desktop.process("approvals", "approve", first).code == 1
    assert desktop.process("approvals", "approve", second, "--as", "ana").code == 0
    assert desktop.process("approvals", "approve", first, "--as", "ops", env=SECRET).code == 0


def test_a_secret_can_be_piped_into_hash_and_an_empty_one_is_refused(desktop: Desktop) -> None:
    ended = desktop.process("approvals", "hash", stdin="open sesame\n")
    assert ended.code == 0
    assert ended.out.startswith("scrypt$")
    empty = desktop.process("approvals", "hash")
    assert (empty.code, empty.out) == (2, "")


def test_an_edit_is_a_new_call_and_both_are_kept(desktop: Desktop) -> None:
    (id,) = parked(desktop)
    edited = desktop.toolkeeper(
        "approvals", "approve", id, "--edit", json.dumps({"id": 2}), "--json"
    )
    assert edited.code == 0
    assert edited.line["arguments"] == {"id": 2}
    assert edited.line["state"] == "approved"
    assert edited.line["approval_id"] != id
    asked = desktop.toolkeeper("approvals", "show", id, "--json").line
    assert asked["arguments"] == {"id": 1}
    ran = desktop.toolkeeper("resume", id, "--json").line
    assert ran["result"] == "updated 2"
    assert ran["approval_id"] == edited.line["approval_id"]
    assert ran["decision"]["effect"] == "ask"
    assert desktop.world == ["updated 2"]


@pytest.mark.parametrize("edit", ['{"id": "two"}', "{}", "[1]", "null", '{"id": 1, "extra": 2}'])
def test_an_edit_that_does_not_fit_leaves_the_call_parked(desktop: Desktop, edit: str) -> None:
    (id,) = parked(desktop)
    ended = desktop.toolkeeper("approvals", "approve", id, "--edit", edit)
    assert (ended.code, ended.out) == (1, "")
    assert "the call stays parked as it was" in ended.err
    assert state(desktop, id) == "pending"
    assert desktop.toolkeeper("resume", "--all", "--json").out == ""


def test_an_edit_that_policy_denies_leaves_the_call_parked(desktop: Desktop) -> None:
    (id,) = parked(desktop)
    desktop.configure(add="policy: [rules.yaml]\n")
    desktop.write(
        "rules.yaml",
        "version: 1\nhardline:\n  - {id: never, tools: [schedule.update], effect: deny}\n",
    )
    ended = desktop.toolkeeper("approvals", "approve", id, "--edit", '{"id": 2}')
    assert ended.code == 1
    assert "policy denies the new arguments" in ended.err
    assert state(desktop, id) == "pending"


def test_arguments_show_no_secret_and_no_terminal_code(desktop: Desktop) -> None:
    calls = (
        '{id: c1, tool: schedule.update, arguments: {id: 1, title: "\\e[31mred", '
        'when: "password=hunter2secret"}}'
    )
    (id,) = parked(desktop, calls)
    for words in (("show", id), ("list",), ("show", id, "--json"), ("list", "--json")):
        ended = desktop.toolkeeper("approvals", *words)
        assert "hunter2secret" not in ended.out
        assert "\x1b[31m" not in ended.out
