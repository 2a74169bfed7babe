"""A turn that is cancelled: what waits does not begin, what runs is given up, all of it on rows."""

import asyncio
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper.testing import keeper_of
from toolkeeper_contract import Code, Ending, Failed, Refused, RunError, State


def tools() -> tuple[list[Any], list[str]]:
    effects: list[str] = []

    @tool(name="slow.write", side_effect="network_write")
    async def write(name: str) -> str:
        """Write slowly."""
        effects.append(name)
        await asyncio.Event().wait()
        return "never"

    @tool(name="slow.read", side_effect="network_read")
    async def read(name: str) -> str:
        """Read slowly."""
        effects.append(name)
        await asyncio.Event().wait()
        return "never"

    @tool(name="slow.one", side_effect="network_write", serial=True)
    async def one(name: str) -> str:
        """Write slowly, one after another."""
        effects.append(name)
        await asyncio.Event().wait()
        return "never"

    return [write, read, one], effects


CALLS = [("slow.write", "w1"), ("slow.read", "r1"), ("slow.one", "o1"), ("slow.one", "o2")]


async def begun(session: Any, effects: list[str], number: int) -> tuple[Any, Any]:
    turn = await session.begin_turn()
    calls = [turn.read(name, tool, {"name": name}) for tool, name in CALLS]
    step = asyncio.ensure_future(turn.call_all(calls))
    while len(effects) < number:
        await asyncio.sleep(0)
    return turn, step


def by_call(rows: Any) -> dict[str, Any]:
    return {row.call_id: (row.outcome, row.code) for row in rows}


ENDS = {
    "w1": (Ending.FAILED, Code.FAILED_UNKNOWN_OUTCOME),
    "r1": (Ending.FAILED, Code.FAILED),
    "o1": (Ending.FAILED, Code.FAILED_UNKNOWN_OUTCOME),
    "o2": (Ending.REFUSED, Code.UNAVAILABLE),
}


def test_every_call_of_a_cancelled_task_is_on_its_row(played: Any) -> None:
    made, effects = tools()

    async def act(keeper: Any, session: Any) -> Any:
        _, step = await begun(session, effects, 3)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        return await keeper.ledger.invocations()

    rows = played(act, *made)
    assert by_call(rows) == ENDS
    assert sorted(effects) == ["o1", "r1", "w1"]
    assert {row.state for row in rows} == {State.SETTLED}
    assert next(row for row in rows if row.call_id == "o2").attempts == 0


def test_cancelling_a_turn_gives_its_outcomes_and_refuses_what_comes_later(played: Any) -> None:
    made, effects = tools()

    async def act(keeper: Any, session: Any) -> Any:
        turn, step = await begun(session, effects, 3)
        await turn.cancel()
        outcomes = await step
        later = await turn.call(turn.read("late", "slow.read", {"name": "late"}))
        await turn.cancel()
        return outcomes, later, await keeper.ledger.invocations()

    outcomes, later, rows = played(act, *made)
    assert [type(each) for each in outcomes] == [Failed, Failed, Failed, Refused]
    assert "was not run" in outcomes[3].row.result
    assert "do not repeat it" in outcomes[0].row.result
    assert (type(later), later.row.code) == (Refused, Code.UNAVAILABLE)
    assert len(rows) == 5
    assert "late" not in effects


def test_a_turn_that_nobody_called_anything_in_can_be_cancelled(played: Any) -> None:
    async def act(keeper: Any, session: Any) -> None:
        await (await session.begin_turn()).cancel()

    played(act, *tools()[0])


@pytest.mark.parametrize("what", ["session", "keeper"])
def test_closing_ends_what_still_runs(what: str) -> None:
    made, effects = tools()

    async def main() -> Any:
        keeper = keeper_of(made, policy="version: 1\ndefaults: {network_write: allow}\n")
        ledger = keeper._given[0]
        async with keeper:
            if what == "session":
                async with keeper.session(agent="chat") as session:
                    _, step = await begun(session, effects, 3)
                assert step.done() or not await asyncio.wait([step])
            else:
                session = await keeper.open_session(agent="chat")
                _, step = await begun(session, effects, 3)
        assert ledger is not None
        return await step, await ledger.invocations()

    outcomes, rows = asyncio.run(main())
    assert by_call(rows) == ENDS
    assert len(outcomes) == 4


def test_waiting_for_a_slot_is_given_up_too(played: Any) -> None:
    made, effects = tools()

    async def act(keeper: Any, session: Any) -> Any:
        _, step = await begun(session, effects, 1)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        return await keeper.ledger.invocations()

    rows = played(act, *made, limits=Limits(parallel_calls=1))
    assert effects == ["w1"]
    assert by_call(rows)["r1"] == (Ending.REFUSED, Code.UNAVAILABLE)
    assert len(rows) == 4


class Slow:
    """A ledger whose transactions take turns of the loop, as those of a server do."""

    def __init__(self, ledger: Any, names: tuple[str, ...]) -> None:
        self.inside = asyncio.Event()
        for name in names:
            setattr(ledger, name, self._slowed(getattr(ledger, name)))

    def _slowed(self, method: Any) -> Any:
        async def slow(*args: Any, **more: Any) -> Any:
            self.inside.set()
            for _ in range(5):
                await asyncio.sleep(0)
            answer = await method(*args, **more)
            for _ in range(5):
                await asyncio.sleep(0)
            return answer

        return slow


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("name", ["claim", "settle"])
@pytest.mark.parametrize("steps", range(0, 12, 3))
def test_a_cancellation_tears_no_transaction_in_two(
    played: Any, times: int, name: str, steps: int
) -> None:
    effects: list[str] = []

    @tool(name="notes.add", side_effect="workspace_write")
    async def add() -> str:
        """Add a note."""
        effects.append("added")
        return "added"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        slow = Slow(keeper.ledger, (name,))
        task = asyncio.ensure_future(turn.call(turn.read("c1", "notes.add", {})))
        await slow.inside.wait()
        for _ in range(steps):
            await asyncio.sleep(0)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        return await keeper.ledger.invocations()

    (row,) = played(act, add)
    assert row.state is State.SETTLED
    if effects:
        assert row.outcome is Ending.COMPLETED
        assert row.result == "added"
    else:
        assert (row.outcome, row.code) == (Ending.FAILED, Code.UNAVAILABLE)
        assert "was not run" in row.result


@pytest.mark.parametrize("name", ["claim", "settle", None])
def test_a_loop_that_shuts_down_waits_until_the_call_is_on_its_row(name: str | None) -> None:
    effects: list[str] = []
    kept: list[Any] = []

    @tool(name="notes.add", side_effect="workspace_write")
    async def add() -> str:
        """Add a note."""
        effects.append("added")
        if name is None:
            await asyncio.Event().wait()
        return "added"

    async def main() -> None:
        keeper = keeper_of([add], policy="version: 1\ndefaults: {workspace_write: allow}\n")
        await keeper.open()
        session = await keeper.open_session(agent="chat")
        kept.append(keeper.ledger)
        turn = await session.begin_turn()
        slow = Slow(keeper.ledger, (name,) if name else ("claim",))
        kept.append(asyncio.ensure_future(turn.call(turn.read("c1", "notes.add", {}))))
        await slow.inside.wait()
        while name is None and not effects:
            await asyncio.sleep(0)
        # Nobody waits for the call, and nobody closes anything: the loop just ends.

    asyncio.run(main())
    ledger, _ = kept

    async def rows() -> Any:
        return await ledger.invocations()

    (row,) = asyncio.run(rows())
    assert row.state is State.SETTLED
    expected = {
        "claim": {(Ending.REFUSED, Code.UNAVAILABLE), (Ending.FAILED, Code.UNAVAILABLE)},
        "settle": {(Ending.COMPLETED, None)},
        None: {(Ending.FAILED, Code.FAILED_UNKNOWN_OUTCOME)},
    }[name]
    assert (row.outcome, row.code) in expected


def test_a_cancelled_step_whose_store_fails_leaves_no_forgotten_error(played: Any) -> None:
    made, effects = tools()
    reported: list[Any] = []

    async def act(keeper: Any, session: Any) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: reported.append(about))
        _, step = await begun(session, effects, 3)

        async def gone(*_: Any, **__: Any) -> bool:
            raise RunError(Code.LEDGER_UNAVAILABLE, "gone")

        keeper.ledger.settle = gone
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step

    played(act, *made)
    assert reported == []


def test_a_timeout_of_the_callers_own_is_a_cancellation(played: Any) -> None:
    made, _ = tools()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await turn.call(turn.read("c1", "slow.write", {"name": "w"}))
        return await keeper.ledger.invocations()

    (row,) = played(act, *made)
    assert row.code is Code.FAILED_UNKNOWN_OUTCOME
