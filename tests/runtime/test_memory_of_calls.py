"""What a process holds does not grow with the calls that it has made."""

import asyncio
import gc
from pathlib import Path

from toolkeeper import Session, tool
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.keeper import Toolkeeper
from toolkeeper_contract import Completed
from toolkeeper_ledger import SealingKey, open_ledger
from toolkeeper_policy import load_policy

CALLS = 1_100
"""More than the texts that wait to be indexed."""


@tool(name="notes.add", side_effect="workspace_read")
async def add_note(title: str, tags: list[str]) -> str:
    """Add a note."""
    return f"noted {title}"


async def many_calls(session: Session, first: int) -> None:
    turn = await session.begin_turn("make notes")
    for number in range(first, first + CALLS):
        arguments = {"title": f"note {number}", "tags": ["a"]}
        outcome = await turn.call(turn.read(f"c{number}", "notes.add", arguments))
        assert isinstance(outcome, Completed)


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def test_a_thousand_calls_more_leave_no_objects_behind(tmp_path: Path) -> None:
    clock = SystemClock()
    url = f"sqlite:///{tmp_path / 'ledger.db'}"

    async def growth(*, apart: bool) -> int:
        ledger = open_ledger(url, clock=clock)
        configuration = Configuration(
            file="testing",
            folder=tmp_path,
            store=url,
            agents={"chat": Agent(name="chat", tools=("notes.add",))},
        )
        keeper = Toolkeeper(
            configuration,
            policy=load_policy([]),
            ledger=ledger,
            sealer=SealingKey.generate(),
            clock=clock,
            ids=RandomIds(),
        )
        keeper.add(add_note)
        async with keeper:
            session = await keeper.open_session(agent="chat")
            await many_calls(session, 0)
            before = objects()
            if apart:
                session = await keeper.open_session(agent="chat")
            await many_calls(session, CALLS)
            after = objects()
        await ledger.close()
        return after - before

    # One object a call would be twice as many; what waits to be indexed differs by less.
    assert asyncio.run(growth(apart=False)) < CALLS // 2
    assert asyncio.run(growth(apart=True)) < CALLS // 2
