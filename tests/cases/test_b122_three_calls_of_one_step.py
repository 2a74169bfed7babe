"""B122: parallel pauses share one id; only the first is shown, and answers go to the wrong call.

Right: every call that waits is shown, each with an id of its own; answers go where they were given;
what has none stays parked.
"""

from typing import Any

import pytest

from toolkeeper import Toolkeeper, resume_all
from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper_contract import ApprovalState

pytestmark = pytest.mark.in_this_process


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("same", [False, True])
def test_one_is_approved_one_denied_and_one_left(
    shop: Any, order: tuple[int, ...], same: bool
) -> None:
    titles = ["tea"] * 3 if same else ["tea", "rye", "oat"]
    yes, no, left = order

    async def act(turn: Any, keeper: Toolkeeper) -> Any:
        # A provider may give all of one step the same call id, too.
        calls = [
            turn.read("c" if same else f"c{n}", "notes.add", {"title": title})
            for n, title in enumerate(titles)
        ]
        asked = [outcome.row for outcome in await turn.call_all(calls)]
        desk = keeper.desk()
        await desk.answer(asked[no].approval_id or "", ApprovalState.DENIED, reason="too much")
        await desk.answer(asked[yes].approval_id or "", ApprovalState.APPROVED)
        await resume_all(keeper)
        rows = [await keeper.ledger.invocation(row.invocation_id) for row in asked]
        return asked, rows, await keeper.ledger.approvals(pending_only=False)

    asked, rows, approvals = shop.turn(act)
    assert len({row.approval_id for row in asked}) == 3
    assert len({row.invocation_id for row in asked}) == 3
    assert {approval.invocation_id for approval in approvals} == {
        row.invocation_id for row in asked
    }
    assert (rows[yes].outcome, rows[yes].state) == ("completed", "settled")
    assert rows[no].code == "tool.approval.rejected"
    assert "too much" in rows[no].result
    assert (rows[left].outcome, rows[left].state) == ("suspended", "parked")
    assert shop.effects == [("add", titles[yes])]


def test_all_are_shown_and_answered_by_id_from_the_command_line(home: Any) -> None:
    lines = home.park(["tea", "rye", "oat"])
    shown = home.here("approvals", "list")
    assert [row["arguments"]["title"] for row in shown] == ["tea", "rye", "oat"]
    assert [row["invocation_id"] for row in shown] == [line["invocation_id"] for line in lines]
    home.here("approvals", "deny", lines[0]["approval_id"], "--reason", "no tea")
    home.here("approvals", "approve", lines[2]["approval_id"])
    ended = home.toolkeeper("resume", "--all", "--json", expect=1).lines()
    told = {line["invocation_id"]: line for line in ended}
    assert set(told) == {lines[0]["invocation_id"], lines[2]["invocation_id"]}
    assert "no tea" in told[lines[0]["invocation_id"]]["result"]
    assert [effect[1] for effect in home.effects()] == ["oat"]
    (left,) = home.here("approvals", "list")
    assert left["invocation_id"] == lines[1]["invocation_id"]


def test_an_answer_to_one_is_none_to_another_and_none_to_nothing(shop: Any) -> None:
    async def act(turn: Any, keeper: Toolkeeper) -> Any:
        calls = [turn.read(f"c{n}", "notes.add", {"title": "tea"}) for n in range(2)]
        first, second = [outcome.row for outcome in await turn.call_all(calls)]
        desk = keeper.desk()
        for id in ("", "apr_none", first.invocation_id, first.session_id):
            with pytest.raises(NotAnswerable, match="unknown approval"):
                await desk.answer(id, ApprovalState.APPROVED)
        await desk.answer(first.approval_id or "", ApprovalState.APPROVED)
        with pytest.raises(NotAnswerable, match="already approved by `ana`, at 2026-"):
            await desk.answer(first.approval_id or "", ApprovalState.DENIED)
        await resume_all(keeper)
        with pytest.raises(NotAnswerable, match="already spent: `ana` approved it at"):
            await desk.answer(first.approval_id or "", ApprovalState.APPROVED)
        return await keeper.ledger.invocation(second.invocation_id)

    assert shop.turn(act).state == "parked"
    assert shop.effects == [("add", "tea")]
