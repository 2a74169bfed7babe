"""B125: an approval is a status that is read, so that many runs can act on one.

Right: it is spent, from approved to spent, by exactly one call; every other equal call asks anew.
"""

import asyncio
from typing import Any

import pytest

from toolkeeper import Toolkeeper
from toolkeeper_contract import ApprovalState, Ending

TITLES = [f"note {number}" for number in range(6)]


def test_two_processes_that_repeat_an_approved_call_run_it_once(any_home: Any) -> None:
    lines = any_home.park(TITLES)
    session = lines[0]["session_id"]
    any_home.together(("answer", "approved", "ana", *(line["approval_id"] for line in lines)))
    first, second = any_home.together(("repeat", session, *TITLES), ("repeat", session, *TITLES))
    assert sorted(effect[1] for effect in any_home.effects()) == sorted(TITLES)
    for one, two in zip(first, second, strict=True):
        assert {one["outcome"], two["outcome"]} == {"completed", "suspended"}
    approvals = any_home.here("approvals", "list", "--all")
    spent = [row for row in approvals if row["state"] == "spent"]
    assert len(spent) == len({row["spent_by"] for row in spent}) == len(TITLES)
    assert sum(row["state"] == "pending" for row in approvals) == len(TITLES)
    # The rows that had asked are done with: their approvals were spent by equal calls.
    asked = [row for row in any_home.here("audit", "calls") if row["call_id"] != "again"]
    assert all(row["superseded_by"] for row in asked)
    assert any_home.toolkeeper("resume", "--all", "--json", expect=0).lines() == []


def test_two_calls_that_read_the_same_approval_before_either_spends_it(shop: Any) -> None:
    async def play() -> Any:
        keeper: Toolkeeper = shop.keeper()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            call = turn.read("c", "notes.add", {"title": "tea"})
            parked = await turn.call(call)
            assert parked.row.approval_id is not None
            await keeper.desk().answer(parked.row.approval_id, ApprovalState.APPROVED)
            ledger: Any = keeper.ledger
            looked, look = asyncio.Barrier(2), ledger.usable_approval
            waiting = [True, True]

            async def usable(*args: Any) -> Any:
                found = await look(*args)
                if waiting:
                    waiting.pop()
                    await looked.wait()
                return found

            ledger.usable_approval = usable
            outcomes = await turn.call_all([call, call])
            return outcomes, await ledger.approvals(pending_only=False)

    outcomes, approvals = asyncio.run(play())
    assert sorted(outcome.row.outcome for outcome in outcomes) == ["completed", "suspended"]
    assert shop.effects == [("add", "tea")]
    assert sorted(approval.state for approval in approvals) == ["pending", "spent"]


@pytest.mark.parametrize(
    "other",
    [
        {"title": "mud"},
        {"title": "Tea"},
        {"title": "tea", "seconds": 0},
        {"title": "tea", "seconds": 0.0},
        {"title": "tea "},
    ],
)
def test_an_approval_is_for_these_very_arguments(home: Any, other: Any) -> None:
    (line,) = home.park(["tea"])
    home.here("approvals", "approve", line["approval_id"])
    (second,) = home.run(
        {"id": "c1", "tool": "notes.add", "arguments": other}, session=line["session_id"]
    )
    assert second["outcome"] == "suspended"
    assert home.effects() == []


def test_nor_is_it_for_another_session_or_user(shop: Any) -> None:
    async def play() -> Any:
        keeper: Toolkeeper = shop.keeper()
        async with keeper:
            rows = []
            first = await (await keeper.open_session(agent="chat", user="ana")).begin_turn()
            asked = await first.call(first.read("c", "notes.add", {"title": "tea"}))
            await keeper.desk().answer(asked.row.approval_id or "", ApprovalState.APPROVED)
            for user in ("ana", "bo"):
                turn = await (await keeper.open_session(agent="chat", user=user)).begin_turn()
                outcome = await turn.call(turn.read("c", "notes.add", {"title": "tea"}))
                rows.append(outcome.row)
            return rows

    assert [row.outcome for row in asyncio.run(play())] == [Ending.SUSPENDED] * 2
    assert shop.effects == []


def test_two_equal_parked_calls_are_two_questions_and_two_runs(any_home: Any) -> None:
    lines = any_home.park(["tea", "tea"])
    first, second = (line["approval_id"] for line in lines)
    assert first != second
    any_home.here("approvals", "approve", first)
    done = any_home.toolkeeper("resume", "--all", "--json", expect=0).lines()
    assert [line["invocation_id"] for line in done] == [lines[0]["invocation_id"]]
    assert len(any_home.effects()) == 1
    again = any_home.toolkeeper("resume", first, "--json", expect=0).object()
    assert again["invocation_id"] == lines[0]["invocation_id"]
    assert len(any_home.effects()) == 1
