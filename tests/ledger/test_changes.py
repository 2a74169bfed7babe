"""Who waits for an approval is woken by whoever answers it, and sleeps through nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_ledger import MemoryLedger, SqlLedger, open_ledger

LONG = timedelta(seconds=60)
SHORT = timedelta(milliseconds=30)


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
def opened(request: pytest.FixtureRequest, clock: Any) -> Callable[[], Any]:
    """Opens a ledger; on a database every one is a view of the same store, as of a process."""
    if request.param == "memory":
        return lambda: MemoryLedger(clock)
    url = request.getfixturevalue("store" if request.param == "sqlite" else "postgres_store")
    return lambda: open_ledger(url, clock=clock)


@asynccontextmanager
async def started(opened: Callable[[], Any], make: ModuleType) -> AsyncIterator[tuple[Any, Any]]:
    """A ledger that has settled into waiting, with a parked call, and another view of the store."""
    ledger = opened()
    other = ledger if isinstance(ledger, MemoryLedger) else opened()
    await ledger.open_session(make.a_session(), [])
    await ledger.begin_run(make.a_run(), make.PLAN, [])
    await ledger.park(make.parked_row(), make.an_approval(), b"sealed", [])
    while await ledger.changed(SHORT):
        pass
    try:
        yield ledger, other
    finally:
        await ledger.close()
        if other is not ledger:
            await other.close()


async def approve(ledger: Any, make: ModuleType) -> None:
    assert await ledger.answer("apr_1", make.yes(), []) is not None


async def sleeping(ledger: Any) -> None:
    """Returns when somebody sleeps in the ledger."""
    waiters = getattr(ledger, "_waiters", None) or ledger._changes._waiters
    while not waiters._sleeping:
        await asyncio.sleep(0)


def test_an_answer_wakes_who_waits(opened: Callable[[], Any], make: ModuleType) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, other):
            waiting = asyncio.create_task(ledger.changed(LONG))
            await sleeping(ledger)
            await approve(other, make)
            assert await waiting

    asyncio.run(story())


def test_an_answer_of_this_process_wakes_it_too(
    opened: Callable[[], Any], make: ModuleType
) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, _):
            waiting = asyncio.create_task(ledger.changed(LONG))
            await sleeping(ledger)
            await approve(ledger, make)
            assert await waiting

    asyncio.run(story())


def test_where_nothing_happens_the_wait_ends_in_time(
    opened: Callable[[], Any], make: ModuleType
) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, _):
            assert not await ledger.changed(SHORT)
            assert not await ledger.changed(timedelta(0))

    asyncio.run(story())


def test_what_happens_between_two_waits_is_not_slept_through(
    opened: Callable[[], Any], make: ModuleType
) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, other):
            await approve(other, make)
            assert await ledger.changed(LONG)

    asyncio.run(story())


def test_everybody_who_waits_is_woken(opened: Callable[[], Any], make: ModuleType) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, other):
            waiting = [asyncio.create_task(ledger.changed(LONG)) for _ in range(5)]
            await sleeping(ledger)
            await approve(other, make)
            assert await asyncio.gather(*waiting) == [True] * 5

    asyncio.run(story())


def test_a_cancelled_wait_takes_nobodys_change(opened: Callable[[], Any], make: ModuleType) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, other):
            waiting = asyncio.create_task(ledger.changed(LONG))
            await sleeping(ledger)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await approve(other, make)
            assert await ledger.changed(LONG)

    asyncio.run(story())


def test_an_undone_work_wakes_nobody(any_store: str, clock: Any, make: ModuleType) -> None:
    async def story() -> None:
        async with started(lambda: open_ledger(any_store, clock=clock), make) as (ledger, other):
            assert await other.answer("apr_nobody", make.yes(), []) is None
            if any_store.startswith("sqlite"):
                await ledger.changed(SHORT)  # a commit, though an empty one
            assert not await ledger.changed(SHORT)

    asyncio.run(story())


def test_closing_ends_every_wait(opened: Callable[[], Any], make: ModuleType) -> None:
    async def story() -> None:
        async with started(opened, make) as (ledger, _):
            if isinstance(ledger, MemoryLedger):
                return
            waiting = asyncio.create_task(ledger.changed(LONG))
            await sleeping(ledger)
            await ledger.close()
            await waiting

    asyncio.run(story())


def test_a_file_that_goes_away_and_comes_back_wakes_once(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    async def story() -> None:
        async with started(lambda: open_ledger(store, clock=clock), make) as (ledger, _):
            ledger._changes._let_go()
            (tmp_path / "ledger.db").rename(tmp_path / "away")
            assert not await ledger.changed(SHORT)
            (tmp_path / "away").rename(tmp_path / "ledger.db")
            assert await ledger.changed(LONG)

    asyncio.run(story())


def test_a_listener_whose_connection_was_ended_listens_again(
    postgres_store: str, clock: Any, make: ModuleType
) -> None:
    import psycopg

    def end_all() -> None:
        with psycopg.connect(postgres_store, autocommit=True) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    async def story() -> None:
        async with started(lambda: open_ledger(postgres_store, clock=clock), make) as (ledger, _):
            waiting = asyncio.create_task(ledger.changed(LONG))
            await sleeping(ledger)
            end_all()
            assert await waiting  # something may have been missed
            other: SqlLedger = open_ledger(postgres_store, clock=clock)
            waiting = asyncio.create_task(ledger.changed(LONG))
            await sleeping(ledger)
            await approve(other, make)
            assert await waiting
            await other.close()

    asyncio.run(story())
