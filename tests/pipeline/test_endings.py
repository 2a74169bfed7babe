"""Not started, failed, unknown; and what of it is tried again."""

import asyncio
from typing import Any

import pytest

from toolkeeper import ToolError, tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper_contract import (
    ApprovalState,
    Blob,
    Code,
    Completed,
    Ending,
    Failed,
    LostAfterDispatch,
    NotDispatched,
    RunError,
    State,
    Text,
    ToolResult,
)
from toolkeeper_pipeline import Pace

BREAKS = {"away": NotDispatched("away"), "lost": LostAfterDispatch("gone")}


def breaking(kind: str, times: int, **declared: Any) -> tuple[Any, list[int]]:
    """A tool that fails so often before it works, and the attempts that reached it."""
    attempts: list[int] = []

    @tool(name="t.do", **declared)
    async def do() -> str:
        """Do it."""
        attempts.append(len(attempts) + 1)
        if len(attempts) <= times:
            if kind == "late":
                await asyncio.Event().wait()
            raise BREAKS[kind]
        return "done"

    return do, attempts


async def once(keeper: Any, session: Any) -> Any:
    turn = await session.begin_turn()
    outcome = await turn.call(turn.read("c1", "t.do", {}))
    return outcome, [each.event for each in await keeper.ledger.events()]


READ = {"side_effect": "network_read"}
IDEMPOTENT = {"side_effect": "network_write", "idempotent": True}
WRITE = {"side_effect": "network_write"}


@pytest.mark.parametrize("kind", ["away", "lost", "late"])
@pytest.mark.parametrize("declared", [READ, IDEMPOTENT])
def test_what_may_be_done_twice_is_tried_again(
    played: Any, waits: Any, kind: str, declared: Any
) -> None:
    do, attempts = breaking(kind, 2, **declared)
    limits = Limits(attempt_timeout=0.02)
    outcome, events = played(once, do, limits=limits)
    assert isinstance(outcome, Completed)
    assert outcome.row.attempts == len(attempts) == 3
    retried = [each for each in events if each.name == "call.retried"]
    code = {
        "away": "tool.unavailable",
        "lost": "tool.failed",
        "late": "tool.failed.timeout",
    }[kind]
    assert [(each.data["code"], each.data["attempt"]) for each in retried] == [(code, 2), (code, 3)]
    assert {each.invocation_id for each in retried} == {outcome.row.invocation_id}
    assert waits.waited == [0.1, 0.2]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("away", Code.UNAVAILABLE),
        ("lost", Code.FAILED_UNKNOWN_OUTCOME),
        ("late", Code.FAILED_UNKNOWN_OUTCOME),
    ],
)
def test_a_write_is_never_tried_again(played: Any, waits: Any, kind: str, code: Code) -> None:
    do, attempts = breaking(kind, 1, **WRITE)
    outcome, _ = played(once, do, limits=Limits(attempt_timeout=0.02))
    assert (type(outcome), outcome.row.code) == (Failed, code)
    assert outcome.row.attempts == len(attempts) == 1
    assert waits.waited == []


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_attempts_are_counted_and_end(played: Any, retries: int) -> None:
    do, attempts = breaking("lost", 99, **READ)
    outcome, _ = played(once, do, limits=Limits(retries=retries))
    assert outcome.row.code is Code.FAILED
    assert outcome.row.attempts == len(attempts) == retries + 1


@pytest.mark.parametrize(
    "error", [ToolError(Code.FAILED, "no"), ConnectionError("x"), TimeoutError("x"), OSError("x")]
)
def test_a_tools_own_error_is_its_answer(played: Any, waits: Any, error: Exception) -> None:
    @tool(name="t.do", side_effect="network_read")
    def do() -> str:
        """Fail."""
        raise error

    outcome, _ = played(once, do)
    assert (outcome.row.code, outcome.row.attempts) == (Code.FAILED, 1)
    assert waits.waited == []


def test_one_approval_is_for_one_execution(played: Any) -> None:
    from toolkeeper import resume_one

    policy = "version: 1\nrules:\n  - {id: r, tools: [t.do], effect: ask}\n"

    def approved(kind: str) -> Any:
        do, attempts = breaking(kind, 1, **READ)

        async def act(keeper: Any, session: Any) -> Any:
            turn = await session.begin_turn()
            row = (await turn.call(turn.read("c1", "t.do", {}))).row
            await keeper.desk().answer(row.approval_id, ApprovalState.APPROVED, by="ana")
            return (await resume_one(keeper, row.invocation_id)).outcomes[0].row

        return played(act, do, policy=policy), attempts

    row, attempts = approved("lost")
    assert (row.code, attempts) == (Code.FAILED, [1])
    # What never left was no execution.
    row, attempts = approved("away")
    assert (row.outcome, attempts) == (Ending.COMPLETED, [1, 2])


def test_the_calls_time_bounds_all_attempts_together(played: Any, waits: Any) -> None:
    do, attempts = breaking("lost", 99, **READ)
    outcome, _ = played(once, do, limits=Limits(retries=50, call_timeout=0.25))
    assert outcome.row.code is Code.FAILED
    # The third pause, of 0.4 seconds, would be longer than the call may take.
    assert len(attempts) == 3
    assert waits.waited == [0.1, 0.2]


def test_an_attempt_that_cannot_be_written_down_is_not_made(played: Any) -> None:
    do, attempts = breaking("lost", 99, **READ)

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()

        async def full(*_: Any) -> None:
            raise RunError(Code.LEDGER_UNAVAILABLE, "the store's disk is full")

        keeper.ledger.append = full
        return await turn.call(turn.read("c1", "t.do", {}))

    assert played(act, do).row.code is Code.FAILED
    assert attempts == [1]


def test_a_lease_that_is_lost_ends_the_attempts(played: Any) -> None:
    attempts: list[int] = []
    asked = asyncio.Event()

    @tool(name="t.do", side_effect="network_read")
    async def do() -> str:
        """Lose the answer."""
        attempts.append(1)
        await asked.wait()
        raise LostAfterDispatch("gone")

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()

        async def lost(*_: Any) -> bool:
            asked.set()
            return False

        keeper.ledger.renew = lost
        return await turn.call(turn.read("c1", "t.do", {}))

    outcome = played(act, do, limits=Limits(lease=0.03))
    assert outcome.row.code is Code.FAILED
    assert attempts == [1]


def test_pauses_double_up_to_the_longest_and_are_cut_by_chance() -> None:
    pauses = Pace(chance=lambda: 0.0).pauses(1, 5)
    assert [next(pauses) for _ in range(5)] == [1, 2, 4, 5, 5]
    shorter = Pace(chance=lambda: 1.0).pauses(1, 5)
    assert [next(shorter) for _ in range(3)] == [0.5, 1, 2]


def failing_settle(keeper: Any, times: int) -> None:
    settle, asked = keeper.ledger.settle, []

    async def flaky(*args: Any, **more: Any) -> bool:
        asked.append(1)
        if len(asked) <= times:
            raise RunError(Code.LEDGER_UNAVAILABLE, "the store's disk is full")
        return bool(await settle(*args, **more))

    keeper.ledger.settle = flaky


def test_the_end_of_a_call_outlives_a_store_that_is_away_for_a_moment(
    played: Any, waits: Any
) -> None:
    do, attempts = breaking("lost", 0, **WRITE)

    async def act(keeper: Any, session: Any) -> Any:
        failing_settle(keeper, 4)
        outcome, _ = await once(keeper, session)
        return outcome, await keeper.ledger.invocations()

    outcome, rows = played(act, do)
    assert outcome.row.result == "done"
    assert rows[0].outcome is Ending.COMPLETED
    assert attempts == [1]
    assert waits.waited == [0.05, 0.1, 0.2, 0.4]


@pytest.mark.parametrize(
    ("declared", "code"), [(WRITE, Code.FAILED_UNKNOWN_OUTCOME), (READ, Code.FAILED)]
)
def test_a_store_that_stays_away_is_told_and_the_reaper_ends_the_row(
    played: Any, waits: Any, declared: Any, code: Code
) -> None:
    do, attempts = breaking("lost", 0, **declared)

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        settle = keeper.ledger.settle
        failing_settle(keeper, 10_000)
        with pytest.raises(RunError) as caught:
            await turn.call(turn.read("c1", "t.do", {}))
        keeper.ledger.settle = settle
        (running,) = await keeper.ledger.invocations()
        keeper.clock.advance(hours=1)
        await keeper.ledger.reap(keeper.clock.now())
        (reaped,) = await keeper.ledger.invocations()
        return caught.value, running, reaped

    error, running, reaped = played(act, do)
    assert error.code is Code.LEDGER_UNAVAILABLE
    assert running.invocation_id in error.message
    assert "was made" in error.message
    assert running.state is State.RUNNING
    assert (reaped.state, reaped.code) == (State.SETTLED, code)
    assert attempts == [1]
    # Within half a lease, so that nobody else has taken the call for lost.
    assert sum(waits.waited) <= 30


@pytest.mark.parametrize("written", [True, False])
def test_what_is_kept_of_a_result_is_kept_once_also_when_its_end_is_tried_again(
    played: Any, waits: Any, written: bool
) -> None:
    parts = tuple(Blob(b"\x89PNG\r\n\x1a\n" + bytes([n]), "image/png") for n in range(3))

    @tool(name="t.do", **WRITE)
    def do() -> ToolResult:
        """Give pictures and more words than are shown."""
        return ToolResult((*parts, Text("long " * 200)), {"n": 1})

    async def act(keeper: Any, session: Any) -> Any:
        settle, asked = keeper.ledger.settle, []

        async def unheard(*args: Any, **more: Any) -> bool:
            """The first time, the store fails before or after it has written."""
            asked.append(more["kept"])
            if len(asked) == 1:
                if written:
                    assert await settle(*args, **more)
                raise RunError(Code.LEDGER_UNAVAILABLE, "the answer was lost")
            return bool(await settle(*args, **more))

        keeper.ledger.settle = unheard
        turn = await session.begin_turn()
        outcome = await turn.call(turn.read("c1", "t.do", {}))
        kept = await keeper.ledger.kept_by(session.session_id, outcome.row.invocation_id)
        return outcome, kept, asked, await keeper.ledger.events()

    outcome, kept, asked, events = played(act, do, limits=Limits(result_bytes=300))
    assert outcome.row.outcome is Ending.COMPLETED
    assert outcome.structured == {"n": 1}
    assert len(kept) == 4
    assert outcome.row.handle in kept
    assert asked == [kept, kept]
    told = [each.event.name for each in events]
    assert (told.count("call.settled"), told.count("call.fenced")) == (1, 0)


def test_a_conflict_is_no_reason_to_wait(played: Any, waits: Any) -> None:
    do, _ = breaking("lost", 0, **WRITE)

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()

        async def conflict(*_: Any, **__: Any) -> bool:
            raise RunError(Code.LEDGER_CONFLICT, "no")

        keeper.ledger.settle = conflict
        with pytest.raises(RunError):
            await turn.call(turn.read("c1", "t.do", {}))

    played(act, do)
    assert waits.waited == []
