"""B47: the approver sees the model's arguments, not those that a hook made of them.

Right: all rewriting ends before the arguments are frozen; card, hash, row and execution read the
same bytes. A call that is taken up again is not rewritten once more.
"""

import asyncio
from typing import Any

import pytest

from toolkeeper import Toolkeeper, tool
from toolkeeper_contract import ApprovalState, ConfigError, digest

PAID: list[Any] = []


@tool(name="bank.pay", side_effect="network_write")
def pay(to: str, amount: float) -> str:
    """Pay somebody."""
    PAID.append((to, amount))
    return f"paid {amount}"


@pytest.fixture
def bank(shop: Any) -> Toolkeeper:
    PAID.clear()
    keeper: Toolkeeper = shop.keeper(pay)

    @keeper.rewrite("bank.*")
    def clamp(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["amount"] = min(arguments["amount"], 100)
        return arguments

    return keeper


def play(keeper: Toolkeeper, arguments: Any, *, name: str = "bank.pay", wrap: bool = False) -> Any:
    async def run() -> Any:
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            sent = {"name": name, "arguments": arguments} if wrap else arguments
            asked = (await turn.call(turn.read("c", "tool.call" if wrap else name, sent))).row
            if asked.approval_id is None:
                return asked, None, None
            approval = await keeper.desk().answer(asked.approval_id, ApprovalState.APPROVED)
            (done,) = [
                outcome.row for outcome in [await turn.call(turn.read("d", name, arguments))]
            ]
            return asked, approval, done

    return asyncio.run(run())


@pytest.mark.parametrize("wrap", [False, True])
def test_card_row_hash_and_execution_are_of_what_the_hook_made(
    bank: Toolkeeper, wrap: bool
) -> None:
    asked, approval, done = play(bank, {"to": "bea", "amount": 500}, wrap=wrap)
    made = {"to": "bea", "amount": 100}
    assert approval.arguments == asked.arguments == done.arguments == made
    assert approval.binding.arguments_digest == asked.arguments_digest == digest(made)
    assert PAID == [("bea", 100)]


def test_what_is_taken_up_again_is_not_rewritten_once_more(shop: Any) -> None:
    PAID.clear()
    keeper: Toolkeeper = shop.keeper(pay)
    seen: list[Any] = []

    @keeper.rewrite()
    def double(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        seen.append(dict(arguments))
        return {**arguments, "amount": arguments["amount"] * 2}

    async def run() -> None:
        from toolkeeper import resume_all

        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            call = turn.read("c", "bank.pay", {"to": "bea", "amount": 7})
            asked = (await turn.call(call)).row
            await keeper.desk().answer(asked.approval_id or "", ApprovalState.APPROVED)
            await resume_all(keeper)

    asyncio.run(run())
    assert PAID == [("bea", 14)]
    assert seen == [{"to": "bea", "amount": 7}]


def test_what_a_hook_changes_afterwards_changes_nothing(shop: Any) -> None:
    PAID.clear()
    keeper: Toolkeeper = shop.keeper(pay)
    kept = {"to": "bea", "amount": 7}

    @keeper.rewrite()
    def always(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return kept

    async def run() -> Any:
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            asked = (await turn.call(turn.read("c", "bank.pay", {}))).row
            kept["amount"] = 700
            return await keeper.ledger.invocation(asked.invocation_id), asked

    stored, asked = asyncio.run(run())
    assert stored.arguments == asked.arguments == {"to": "bea", "amount": 7}


@pytest.mark.parametrize(
    "broken",
    [
        lambda name, arguments: 1 / 0,
        lambda name, arguments: None,
        lambda name, arguments: [arguments],
        lambda name, arguments: {**arguments, "amount": float("nan")},
        lambda name, arguments: {**arguments, "amount": object()},
        lambda name, arguments: {**arguments, "amount": "much"},
    ],
)
def test_a_hook_that_fails_lets_nothing_run(shop: Any, broken: Any) -> None:
    PAID.clear()
    keeper: Toolkeeper = shop.keeper(pay)
    keeper.rewrite("bank.pay")(broken)
    row, _, _ = play(keeper, {"to": "bea", "amount": 7})
    assert (row.outcome, row.code) == ("refused", "tool.arguments_invalid")
    assert row.arguments == {"to": "bea", "amount": 7}
    assert PAID == []


def test_a_hook_is_for_the_tools_that_it_names(shop: Any) -> None:
    keeper: Toolkeeper = shop.keeper()
    keeper.rewrite("bank.*", "notes.ad")(lambda name, arguments: {"title": "mud"})
    row, _, _ = play(keeper, {"title": "tea"}, name="notes.add")
    assert row.arguments == {"title": "tea"}
    assert shop.effects == [("add", "tea")]
    with pytest.raises(ConfigError, match="cannot be a tool's name"):
        keeper.rewrite("notes add")
