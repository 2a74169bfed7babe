"""B120: two clients answer the same request at once, and it runs twice.

Right: one conditional update decides, whoever asks and whatever they answer; the loser is told that
it is decided already, and by whom; the call runs once.
"""

from typing import Any

import pytest

TITLES = [f"note {number}" for number in range(8)]


@pytest.fixture
def asked(any_home: Any) -> Any:
    any_home.agent["approvers"] = ["ana", "bea"]
    any_home.write()
    return any_home


@pytest.mark.parametrize("other", ["approved", "denied"])
def test_of_two_answers_in_two_processes_one_decides(asked: Any, other: str) -> None:
    lines = asked.park(TITLES)
    ids = [line["approval_id"] for line in lines]
    ana, bea = asked.together(("answer", "approved", "ana", *ids), ("answer", other, "bea", *ids))
    approvals = {row["approval_id"]: row for row in asked.here("approvals", "list", "--all")}
    for id, (ana_won, ana_told), (bea_won, bea_told) in zip(ids, ana, bea, strict=True):
        assert ana_won is not bea_won
        winner, told = ("ana", bea_told) if ana_won else ("bea", ana_told)
        state = "approved" if ana_won else other
        assert (approvals[id]["state"], approvals[id]["decided_by"]) == (state, winner)
        assert f"already {state}" in told
        assert f"at {approvals[id]['decided_at'][:19]}" in told
        assert f"`{winner}`" in told
    answered = [e for e in asked.here("audit", "events") if e["event"] == "approval.answered"]
    assert len(answered) == len(TITLES)
    approved = [id for id in ids if approvals[id]["state"] == "approved"]
    asked.toolkeeper("resume", "--all")
    assert len(asked.effects()) == len(approved)


def test_of_two_processes_that_take_up_the_call_one_runs_it(asked: Any) -> None:
    lines = asked.park(TITLES)
    ids = [line["approval_id"] for line in lines]
    asked.together(("answer", "approved", "ana", *ids))
    first, second = asked.together(("resume", *ids), ("resume", *ids))
    assert sorted(effect[1] for effect in asked.effects()) == sorted(TITLES)
    for one, two in zip(first, second, strict=True):
        assert one["invocation_id"] == two["invocation_id"]
    rows = asked.here("audit", "calls")
    assert [row["outcome"] for row in rows] == ["completed"] * len(TITLES)
    claimed = [e for e in asked.here("audit", "events") if e["event"] == "call.claimed"]
    assert len(claimed) == len(TITLES)


def test_a_second_answer_says_who_was_first_and_changes_nothing(asked: Any) -> None:
    (line,) = asked.park(["tea"])
    id = line["approval_id"]
    asked.toolkeeper("approvals", "deny", id, "--as", "bea", "--reason", "no", expect=0)
    late = asked.toolkeeper("approvals", "approve", id, "--as", "ana", expect=1)
    assert "already denied by `bea`" in late.err
    (done,) = asked.toolkeeper("resume", id, "--json", expect=1).lines()
    assert (done["outcome"], done["code"]) == ("refused", "tool.approval.rejected")
    assert asked.toolkeeper("resume", "--all", "--json", expect=0).lines() == []
    assert asked.effects() == []


def test_who_is_not_asked_cannot_answer(asked: Any) -> None:
    (line,) = asked.park(["tea"])
    strange = asked.toolkeeper("approvals", "approve", line["approval_id"], "--as", "mal")
    assert strange.code in (1, 2)
    assert asked.here("approvals", "list")[0]["state"] == "pending"
    unknown = asked.toolkeeper("approvals", "approve", "apr_none", "--as", "ana", expect=1)
    assert "unknown approval" in unknown.err
