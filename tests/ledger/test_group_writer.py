"""Callers share a commit, and none feels another's mistake, cancellation or wait."""

import asyncio
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import text

from toolkeeper_contract import Event, RunError
from toolkeeper_ledger import GroupWriter, SqlLedger, open_ledger, verify
from toolkeeper_ledger.group import Together


class Gate:
    """A database that stops before each transaction until it is let go on."""

    read_only = False

    def __init__(self) -> None:
        self.arrived = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.sizes: list[int] = []
        self.closed = False

    def write(self, work: Callable[[Any], Any]) -> Any:
        self.arrived.release()
        self.go.acquire()
        self.sizes.append(len(work.works) if isinstance(work, Together) else 1)
        return work(None)

    def read(self, work: Callable[[Any], Any]) -> Any:
        return work(None)

    def close(self) -> None:
        self.closed = True


async def until_inside(gate: Gate) -> None:
    await asyncio.to_thread(gate.arrived.acquire)


def test_what_arrives_during_a_commit_is_the_next_group() -> None:
    async def story() -> None:
        gate = Gate()
        writer = GroupWriter(gate)
        done: list[int] = []
        first = asyncio.create_task(writer.write(lambda c: done.append(0)))
        await until_inside(gate)
        rest = [
            asyncio.create_task(writer.write(lambda c, n=n: done.append(n)))  # type: ignore[misc]
            for n in range(1, 6)
        ]
        await asyncio.sleep(0)
        assert writer.queued == 5
        gate.go.release(2)
        await asyncio.gather(first, *rest)
        assert gate.sizes == [1, 5]
        assert done == [0, 1, 2, 3, 4, 5]
        await writer.close()
        assert gate.closed

    asyncio.run(story())


def test_a_cancelled_callers_work_is_finished_or_never_begun() -> None:
    async def story() -> None:
        gate = Gate()
        writer = GroupWriter(gate)
        done: list[str] = []
        begun = asyncio.create_task(writer.write(lambda c: done.append("begun")))
        await until_inside(gate)
        waiting = asyncio.create_task(writer.write(lambda c: done.append("waiting")))
        last = asyncio.create_task(writer.write(lambda c: done.append("last")))
        await asyncio.sleep(0)
        begun.cancel()
        waiting.cancel()
        for cancelled in (begun, waiting):
            with pytest.raises(asyncio.CancelledError):
                await cancelled
        gate.go.release(2)
        await last
        assert done == ["begun", "last"]
        await writer.close()

    asyncio.run(story())


def test_closing_finishes_what_waits_and_refuses_what_comes() -> None:
    async def story() -> None:
        gate = Gate()
        writer = GroupWriter(gate)
        works = [asyncio.create_task(writer.write(lambda c: 7)) for _ in range(3)]
        await until_inside(gate)
        closing = asyncio.create_task(writer.close())
        gate.go.release(3)
        await closing
        assert await asyncio.gather(*works) == [7, 7, 7]
        for use in (writer.write, writer.read):
            with pytest.raises(RunError, match="closed"):
                await use(lambda c: 7)
        await writer.close()

    asyncio.run(story())


def test_a_loop_that_is_gone_holds_nobody_up() -> None:
    gate = Gate()
    writer = GroupWriter(gate)

    async def leave() -> None:
        work = asyncio.create_task(writer.write(lambda c: None))
        await until_inside(gate)
        assert not work.done()

    asyncio.run(leave())
    gate.go.release(2)

    async def come() -> None:
        assert await writer.write(lambda c: 7) == 7
        await writer.close()

    asyncio.run(come())


@pytest.fixture(params=["sqlite", "postgresql"])
def grouped(request: pytest.FixtureRequest, clock: Any, make: ModuleType) -> Any:
    """A ledger whose writer is a thread, on each kind of database."""
    name = "store" if request.param == "sqlite" else "postgres_store"
    ledger = open_ledger(request.getfixturevalue(name), clock=clock)
    database = ledger._writer._database  # type: ignore[attr-defined]
    ledger = SqlLedger(GroupWriter(database), clock, ledger._changes)
    make.begin(ledger)
    yield ledger
    asyncio.run(ledger.close())


def test_one_mistake_in_a_group_is_its_own_callers(grouped: Any, make: ModuleType) -> None:
    async def story() -> list[Any]:
        works = [
            grouped.settle(
                make.a_row(f"inv_{n}", run_id="run_nowhere" if n % 7 == 3 else "run_1"),
                [Event("call.settled", {"n": n})],
            )
            for n in range(40)
        ]
        return await asyncio.gather(*works, return_exceptions=True)

    ended = asyncio.run(story())
    assert [isinstance(end, RunError) for end in ended] == [n % 7 == 3 for n in range(40)]
    rows = asyncio.run(grouped.invocations())
    assert len(rows) == sum(end is True for end in ended)
    (head,) = asyncio.run(grouped.heads())
    events = asyncio.run(grouped.events("ses_1"))
    assert verify(events, head) is None
    assert [r.event.data["n"] for r in events[2:]] == [n for n in range(40) if n % 7 != 3]


def test_many_callers_of_many_sessions_lose_nothing(grouped: Any, make: ModuleType) -> None:
    async def caller(number: int) -> None:
        session_id, run_id = f"ses_c{number}", f"run_c{number}"
        await grouped.open_session(make.a_session(session_id), [])
        await grouped.begin_run(make.a_run(run_id, session_id), make.PLAN, [])
        for call in range(10):
            row = make.a_row(f"inv_{number}_{call}", session_id=session_id, run_id=run_id)
            lease = await grouped.claim(row, make.LEASE, [Event("call.claimed")])
            assert lease.fence == 1
            assert await grouped.settle(make.ended(row, 1), [Event("call.settled")], tainted=True)

    async def story() -> None:
        await asyncio.gather(*(caller(number) for number in range(8)))

    asyncio.run(story())
    heads = asyncio.run(grouped.heads())
    assert [head.seq for head in heads] == [2] + [20] * 8
    for head in heads:
        assert verify(asyncio.run(grouped.events(head.session_id)), head) is None
    session = asyncio.run(grouped.session("ses_c3"))
    assert session.tainted
    assert not session.private


def test_the_event_loop_goes_on_while_the_database_is_busy(
    postgres_store: str, clock: Any, make: ModuleType
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)
    held = threading.Event()

    async def story() -> None:
        def slow(connection: Any) -> int:
            assert held.wait(30)  # released by the loop, which must not be blocked
            return int(connection.execute(text("SELECT 7")).scalar())

        waiting = asyncio.create_task(ledger._writer.write(slow))
        reading = asyncio.create_task(ledger._writer.read(slow))
        await asyncio.sleep(0)
        assert await ledger.session("ses_1") is not None  # readers do not wait for the writer
        held.set()
        assert await waiting == await reading == 7
        await ledger.close()

    asyncio.run(story())
