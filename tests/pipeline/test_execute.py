"""A source or a store that misbehaves while a call runs ends that call, and nothing else."""

import asyncio
from dataclasses import replace
from typing import Any

from toolkeeper import tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper.testing import keeper_of
from toolkeeper_contract import Code, Ending, RunError


class Losing:
    """A source that loses a task of its own, and says so in the worst of words."""

    async def call(self, raw_name: str, arguments: Any) -> Any:
        raise asyncio.CancelledError


def test_a_cancellation_that_nobody_asked_for_ends_its_own_call_only(office: Any) -> None:
    async def play() -> Any:
        keeper = office.keeper()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            turn._run = replace(turn._run, controls=Losing())
            return await turn.call_all(
                [turn.read("c1", "tool.search", {"query": "x"}), turn.read("c2", "notes.list", {})]
            )

    lost, listed = asyncio.run(play())
    assert (lost.row.outcome, lost.row.code) == (Ending.FAILED, Code.FAILED)
    assert listed.row.outcome is Ending.COMPLETED


def test_a_lease_is_renewed_although_the_store_was_busy_once() -> None:
    renewed = asyncio.Event()

    @tool(name="slow.read", side_effect="network_read")
    async def slow() -> str:
        """Wait until the lease was renewed."""
        await renewed.wait()
        return "done"

    async def play() -> Any:
        keeper = keeper_of([slow], limits=Limits(lease=0.03))
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            ledger: Any = keeper.ledger
            renew, asked = ledger.renew, []

            async def busy_once(*args: Any) -> bool:
                asked.append(args)
                if len(asked) == 1:
                    raise RunError(Code.LEDGER_UNAVAILABLE, "the ledger is busy")
                held = await renew(*args)
                renewed.set()
                return bool(held)

            ledger.renew = busy_once
            turn = await session.begin_turn()
            return (await turn.call(turn.read("c1", "slow.read", {}))).row

    assert asyncio.run(play()).outcome is Ending.COMPLETED
