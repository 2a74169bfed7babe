"""Whatever a tool or its source does, its call ends in a defined way, on a row, and alone."""

import asyncio
import contextlib
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from typing import Any

import pytest

from toolkeeper import ToolError, tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper_contract import (
    Blob,
    Code,
    Completed,
    Ending,
    State,
    Text,
    ToolResult,
)
from toolkeeper_sources.worker import MAX_LEFT

QUICK = Limits(call_timeout=0.05, retries=0)


class Rude(BaseException):
    """What nobody who catches exceptions expects."""


class Source:
    """A source of somebody's own, which does with a call what a test says."""

    def __init__(self, act: Any) -> None:
        self.act = act
        self.calls = 0

    def call(self, raw_name: str, arguments: Any) -> Any:
        self.calls += 1
        return self.act()


@tool(name="bad.write", side_effect="workspace_write")
def bad_write() -> str:
    """Stand in for a tool of another source."""
    raise AssertionError("never called")


@tool(name="good.read", side_effect="workspace_read")
def good_read() -> str:
    """Read."""
    return "good"


def with_source(played: Any, act: Any, **options: Any) -> Any:
    """The rows of a call to a source that does `act`, beside a good one in the same step."""
    source = Source(act)

    async def main(keeper: Any, session: Any) -> Any:
        own = keeper.rim.source
        bad = lambda tool: source if tool.name == "bad.write" else own(tool)  # noqa: E731
        keeper._rim = replace(keeper.rim, source=bad)
        turn = await session.begin_turn()
        _, good = await turn.call_all(
            [turn.read("bad", "bad.write", {}), turn.read("good", "good.read", {})]
        )
        assert good.row.result == "good"
        rows = await keeper.ledger.invocations()
        return next(row for row in rows if row.call_id == "bad")

    row = played(main, bad_write, good_read, **options)
    assert source.calls == 1
    assert row.state is State.SETTLED
    return row


async def gives(value: Any) -> Any:
    return value


async def throws(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"content": []},
        object(),
        ToolResult([Text("a list")]),  # type: ignore[arg-type]
        ToolResult(("no part",)),  # type: ignore[arg-type]
        ToolResult((Text(7),)),  # type: ignore[arg-type]
        ToolResult((Blob("text", "x/y"),)),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_result_ends_the_call_as_one_that_ran(played: Any, value: Any) -> None:
    row = with_source(played, lambda: gives(value))
    assert (row.outcome, row.code) == (Ending.FAILED, Code.FAILED_RESULT_INVALID)
    assert "the tool ran" in row.result


@pytest.mark.parametrize("structured", [object(), {"a": object()}, {1: 2}, {"a": float("nan")}])
def test_structured_content_that_is_no_json_does_no_harm(played: Any, structured: Any) -> None:
    row = with_source(played, lambda: gives(ToolResult((Text("said"),), structured)))
    assert row.code in (None, Code.FAILED_RESULT_INVALID)
    assert row.outcome in (Ending.COMPLETED, Ending.FAILED)


@pytest.mark.parametrize("act", [lambda: 7, lambda: None, lambda: 1 / 0])
def test_a_source_that_does_not_even_await_fails_its_call(played: Any, act: Any) -> None:
    assert with_source(played, act).code is Code.FAILED


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError])
def test_what_python_ends_coroutines_with_ends_the_call_only(
    played: Any, error: type[BaseException]
) -> None:
    row = with_source(played, lambda: throws(error()))
    assert row.code is Code.FAILED_UNKNOWN_OUTCOME


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, Rude])
def test_what_ends_the_program_goes_on_when_the_row_is_written(
    played: Any, error: type[BaseException]
) -> None:
    async def main(keeper: Any, session: Any) -> Any:
        keeper._rim = replace(keeper.rim, source=lambda tool: Source(lambda: throws(error())))
        turn = await session.begin_turn()
        seen: list[Any] = []
        kept = keeper.ledger.settle

        async def settle(*args: Any, **more: Any) -> Any:
            seen.append(args[0])
            return await kept(*args, **more)

        keeper.ledger.settle = settle
        rows.append(seen)
        await turn.call(turn.read("c1", "bad.write", {}))

    rows: list[Any] = []
    with pytest.raises(error):
        played(main, bad_write)
    ((row,),) = rows
    assert row.code is Code.FAILED_UNKNOWN_OUTCOME


def timed_out(played: Any, function: Any) -> Any:
    """The rows before and after the tool was let go, with how often it was settled."""
    settled: list[Any] = []

    async def act(keeper: Any, session: Any) -> Any:
        kept = keeper.ledger.settle

        async def settle(*args: Any, **more: Any) -> Any:
            settled.append(args[0])
            return await kept(*args, **more)

        keeper.ledger.settle = settle
        turn = await session.begin_turn()
        outcome = await turn.call(turn.read("c1", function.name, {}))
        release.set()
        for _ in range(50):
            await asyncio.sleep(0.001)
        return outcome, await keeper.ledger.invocations(), await keeper.ledger.events()

    outcome, rows, events = played(act, function, limits=QUICK)
    assert len(settled) == len(rows) == 1
    assert outcome.row == rows[0]
    assert "call.fenced" not in [each.event.name for each in events]
    return outcome.row


release = threading.Event()


@pytest.fixture(autouse=True)
def _held() -> Any:
    release.clear()
    yield
    release.set()


@tool(name="late.stubborn", side_effect="network_write")
async def stubborn() -> str:
    """Swallow every cancellation, and give a result in the end."""
    while not release.is_set():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.001)
    return "too late"


@tool(name="late.tidy", side_effect="network_write")
async def tidy() -> str:
    """Answer a cancellation with a result."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return "too late"


@tool(name="late.angry", side_effect="network_write")
async def angry() -> str:
    """Answer a cancellation with an error."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise RuntimeError("secret") from None
    return "never"


@tool(name="late.thread", side_effect="network_write")
def thread() -> str:
    """Block a thread."""
    release.wait(30)
    return "too late"


@tool(name="late.read", side_effect="network_read")
def late_read() -> str:
    """Block a thread, harmlessly."""
    release.wait(30)
    return "too late"


@pytest.mark.parametrize("function", [stubborn, tidy, angry, thread])
def test_a_late_result_is_dropped_and_settles_nothing(played: Any, function: Any) -> None:
    row = timed_out(played, function)
    assert row.code is Code.FAILED_UNKNOWN_OUTCOME


def test_a_read_that_is_late_timed_out(played: Any) -> None:
    row = timed_out(played, late_read)
    assert row.code is Code.FAILED_TIMEOUT


def test_a_function_that_never_returns_takes_no_other_tools_place(played: Any) -> None:
    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        stuck = [turn.read(f"s{n}", "late.read", {}) for n in range(MAX_LEFT + 4)]
        outcomes = await turn.call_all(stuck)
        more = await turn.call(turn.read("more", "late.read", {}))
        good = await turn.call(turn.read("good", "good.read", {}))
        return outcomes, more, good

    limits = replace(QUICK, parallel_calls=4)
    outcomes, more, good = played(act, late_read, good_read, limits=limits)
    codes = [each.row.code for each in outcomes]
    assert codes[:MAX_LEFT] == [Code.FAILED_TIMEOUT] * MAX_LEFT
    assert more.row.code is Code.UNAVAILABLE
    assert isinstance(good, Completed)


def test_a_tool_that_blocks_the_loop_ends_like_any_other(played: Any) -> None:
    @tool(name="block.loop", side_effect="workspace_write")
    async def block() -> str:
        """Block the loop for longer than the call may take."""
        threading.Event().wait(0.1)
        return "done"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        return await turn.call_all(
            [turn.read("a", "block.loop", {}), turn.read("b", "good.read", {})]
        )

    blocked, good = played(act, block, good_read, limits=Limits(call_timeout=0.05))
    # Its result was there when somebody could look, so it is told.
    assert blocked.row.result == "done"
    assert good.row.outcome is Ending.COMPLETED


@pytest.mark.parametrize("message", ["x" * 3_000_000, 7, None])
def test_words_for_the_model_may_be_of_any_size_or_kind(played: Any, message: Any) -> None:
    @tool(name="bad.say", side_effect="workspace_read")
    def say() -> str:
        """Say too much."""
        raise ToolError(Code.FAILED, message)

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        return await turn.call(turn.read("c1", "bad.say", {}))

    row = played(act, say).row
    assert row.code is Code.FAILED
    assert row.bytes <= 50_000


def test_a_result_that_cannot_be_sealed_ends_on_its_row(played: Any) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(own[0], name)

        def redact_text(self, text: str, *more: Any) -> Any:
            if "tripwire" in text:
                raise RecursionError
            return own[0].redact_text(text, *more)

    own: list[Any] = []

    @tool(name="bad.trip", side_effect="workspace_write")
    def trip() -> str:
        """Trip."""
        return "tripwire"

    async def act(keeper: Any, session: Any) -> Any:
        own.append(keeper.rim.redactor)
        keeper._rim = replace(keeper.rim, redactor=Broken())
        turn = await session.begin_turn()
        return await turn.call(turn.read("c1", "bad.trip", {}))

    row = played(act, trip).row
    assert row.code is Code.FAILED_RESULT_INVALID
    assert "the tool ran" in row.result


def test_a_tool_may_call_back_into_its_keeper(played: Any) -> None:
    turns: list[Any] = []

    @tool(name="outer.call", side_effect="workspace_write")
    async def outer(depth: int) -> str:
        """Call itself."""
        if depth == 0:
            return "bottom"
        inner = await turns[0].call(turns[0].read("in", "outer.call", {"depth": depth - 1}))
        return str(inner.row.result)

    @tool(name="outer.thread", side_effect="workspace_write")
    def from_thread() -> str:
        """Call from a thread."""
        call = turns[0].call(turns[0].read("in", "outer.call", {"depth": 1}))
        future = asyncio.run_coroutine_threadsafe(call, loop[0])
        return str(future.result(20).row.result)

    loop: list[Any] = []

    async def act(keeper: Any, session: Any) -> Any:
        loop.append(asyncio.get_running_loop())
        turns.append(await session.begin_turn())
        turn = turns[0]
        return await turn.call_all(
            [turn.read("a", "outer.call", {"depth": 3}), turn.read("b", "outer.thread", {})]
        ), await keeper.ledger.invocations()

    outcomes, rows = played(act, outer, from_thread, limits=Limits(parallel_calls=1))
    assert [each.row.result for each in outcomes] == ["bottom", "bottom"]
    assert len(rows) == 7


def test_a_tool_may_cancel_its_own_turn_and_close_its_keeper(played: Any) -> None:
    holds: list[Any] = []

    @tool(name="self.cancel", side_effect="workspace_write")
    async def cancel() -> str:
        """Cancel the turn."""
        await holds[0].cancel()
        await asyncio.Event().wait()
        return "never"

    async def act(keeper: Any, session: Any) -> Any:
        holds.append(await session.begin_turn())
        return await holds[0].call(holds[0].read("c1", "self.cancel", {}))

    assert played(act, cancel).row.code is Code.FAILED_UNKNOWN_OUTCOME


STUBBORN = """
import asyncio, sys, threading
from toolkeeper import tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper.testing import keeper_of

@tool(name="a.stubborn", side_effect="network_read")
async def stubborn() -> str:
    "Swallow every cancellation for ever."
    while True:
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            pass

@tool(name="a.thread", side_effect="network_read")
def thread() -> str:
    "Block a thread for ever."
    threading.Event().wait()
    return "never"

async def main():
    keeper = keeper_of([stubborn, thread], limits=Limits(call_timeout=0.05, retries=0))
    async with keeper, keeper.session(agent="chat") as session:
        turn = await session.begin_turn()
        for outcome in await turn.call_all(
            [turn.read("1", "a.stubborn", {}), turn.read("2", "a.thread", {})]
        ):
            print(outcome.row.code.value)

asyncio.run(main(), debug=True)
print("over")
"""


def test_tools_that_never_end_do_not_keep_the_program_from_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(STUBBORN)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["tool.failed.timeout", "tool.failed.timeout", "over"], (
        done.stderr
    )
    assert done.returncode == 0
    assert done.stderr == ""
