"""Long texts are searched where nobody waits, and nothing that changes is touched there."""

import asyncio
import threading
from datetime import datetime
from typing import Any

import pytest

from toolkeeper import ToolError, tool
from toolkeeper.runtime.redaction import Redactor
from toolkeeper.testing import CountingIds, FixedClock, keeper_of
from toolkeeper_contract import Blob, Ending, Text, ToolResult
from toolkeeper_pipeline.aside import LONG, aside


class Watched(Redactor):
    """Remembers in which threads it searched."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: dict[str, int] = {}

    def redact_text(self, text: str, pointers: Any = ()) -> tuple[str, int]:
        self.threads[text[:4]] = threading.get_ident()
        return super().redact_text(text, pointers)


class OwnClock(FixedClock):
    """A clock that only the thread which made it may read."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def now(self) -> datetime:
        assert threading.get_ident() == self._thread
        return super().now()


class OwnIds(CountingIds):
    """Ids that only the thread which made them may take."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def new(self, prefix: str) -> str:
        assert threading.get_ident() == self._thread
        return super().new(prefix)


@pytest.fixture(autouse=True)
def _own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkeeper.testing.CountingIds", OwnIds)


@tool(name="long.read", side_effect="network_read")
def read(size: int) -> ToolResult:
    """Read so many characters, and two pictures."""
    picture = Blob(b"\x89PNG" + bytes(9), "image/png")
    return ToolResult((Text("text " + "w" * size + " password=hunter22"), picture, picture))


@tool(name="long.fail", side_effect="network_read")
def fail(size: int) -> str:
    """Fail with so many characters."""
    raise ToolError("tool.failed", "why " + "w" * size + " password=hunter22")


def played(name: str, size: int) -> Any:
    async def run() -> Any:
        keeper = keeper_of([read, fail], policy="version: 1\n", clock=OwnClock())
        keeper.redactor = watched = Watched()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            outcome = await turn.call(turn.read("c", name, {"size": size}))
            kept = await keeper.ledger.kept_by(session.session_id, outcome.row.invocation_id)
        return outcome.row, watched.threads, kept

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["long.read", "long.fail"])
def test_a_long_text_is_searched_aside_and_a_short_one_at_once(name: str) -> None:
    for size in (10, LONG):
        row, threads, kept = played(name, size)
        (searched,) = {id for start, id in threads.items() if start in ("text", "why ")}
        assert (searched != threading.get_ident()) == (size == LONG)
        assert row.outcome is (Ending.COMPLETED if name == "long.read" else Ending.FAILED)
        assert "hunter22" not in str(row) + str(kept)
        assert len(kept) == (0 if name == "long.fail" else 2 if size == 10 else 3)


def test_the_loop_goes_on_meanwhile() -> None:
    going_on = threading.Event()

    async def both() -> bool:
        asyncio.get_running_loop().call_soon(going_on.set)
        return await aside(LONG, lambda: going_on.wait(30))

    assert asyncio.run(both())


def test_what_goes_wrong_aside_goes_wrong_here() -> None:
    def wrong() -> None:
        raise RecursionError

    for size in (0, LONG):
        with pytest.raises(RecursionError):
            asyncio.run(aside(size, wrong))
