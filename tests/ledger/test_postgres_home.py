"""Which connections a loop has, when they are made, and what becomes of them."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import psycopg
import pytest

from toolkeeper_contract import RunError
from toolkeeper_ledger import SqlLedger, open_ledger
from toolkeeper_ledger.postgres_home import FEW

AtHome = Callable[[Any], Awaitable[Any]]


@pytest.fixture
def ledger(postgres_store: str, clock: Any, make: ModuleType) -> Any:
    ledger = open_ledger(postgres_store, clock=clock, busy_timeout=0.5)
    make.begin(ledger)
    yield ledger
    asyncio.run(ledger.close())


@pytest.fixture
def own_cluster(postgres_cluster: Any) -> Iterator[Any]:
    """A server that a test may stop."""
    cluster = type(postgres_cluster)(postgres_cluster.binaries, synchronous_commit="on")
    with cluster:
        yield cluster


def a_call(make: ModuleType, number: int) -> Any:
    return make.a_row(f"inv_{number}")


def end_all(store: str) -> None:
    with psycopg.connect(store, autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_connections_that_end_between_calls_are_made_anew(
    ledger: SqlLedger, postgres_store: str, make: ModuleType, at_home: AtHome
) -> None:
    async def story() -> None:
        for number in range(3):
            home = await at_home(ledger)
            assert await make.claim(ledger, a_call(make, number)) is not None
            end_all(postgres_store)
            assert await make.settle(ledger, a_call(make, number))
            assert await ledger.session("ses_1") is not None
            home._next = 0.0

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed", "call.settled"] * 3


def test_a_call_that_is_more_than_a_socket_takes_at_once_goes_all_the_same(
    ledger: SqlLedger, make: ModuleType, at_home: AtHome
) -> None:
    text = "x" * 8_000_000

    async def story() -> None:
        home = await at_home(ledger)
        rows = [make.a_row(f"inv_{n}", arguments={"text": text}) for n in range(2)]
        leases = await asyncio.gather(*(make.claim(ledger, row) for row in rows))
        assert None not in leases
        assert home.lane is not None
        assert await make.settle(ledger, rows[0])
        found = await ledger.invocation("inv_1")
        assert found is not None
        assert found.arguments == {"text": text}

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed", "call.claimed", "call.settled"]


def test_a_server_that_stays_away_is_told(
    own_cluster: Any, clock: Any, make: ModuleType, at_home: AtHome
) -> None:
    ledger = open_ledger(own_cluster.url(), clock=clock, busy_timeout=0.2)
    make.begin(ledger)

    async def story() -> None:
        home = await at_home(ledger)
        own_cluster.stop()
        for use in (make.claim(ledger, a_call(make, 1)), ledger.session("ses_1")):
            with pytest.raises(RunError, match="cannot be reached"):
                await use
        assert home.lane is None
        own_cluster.start()
        home._next = 0.0
        assert await make.claim(ledger, a_call(make, 1)) is not None
        await at_home(ledger)
        assert await make.settle(ledger, a_call(make, 1))
        await ledger.close()

    asyncio.run(story())


def test_closing_finishes_what_is_on_its_way_and_refuses_what_comes(
    postgres_store: str, clock: Any, make: ModuleType, at_home: AtHome
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)

    async def story() -> None:
        await at_home(ledger)
        works = [asyncio.ensure_future(make.claim(ledger, a_call(make, n))) for n in range(20)]
        await asyncio.sleep(0)
        await ledger.close()
        assert None not in await asyncio.gather(*works)
        for use in (make.claim(ledger, a_call(make, 30)), ledger.session("ses_1")):
            with pytest.raises(RunError, match="closed"):
                await use

    asyncio.run(story())
    again = open_ledger(postgres_store, clock=clock)
    assert len(asyncio.run(again.invocations())) == 20
    asyncio.run(again.close())


def test_each_loop_has_its_own_connections_and_one_at_a_time(
    ledger: SqlLedger, make: ModuleType, at_home: AtHome
) -> None:
    async def call(number: int) -> Any:
        home = await at_home(ledger)
        assert await make.claim(ledger, a_call(make, number)) is not None
        return home

    first = asyncio.run(call(1))
    assert first.loop.is_closed()

    async def story() -> None:
        second = await call(2)
        assert second is not first
        assert first.lane is None

        def elsewhere() -> None:
            async def other() -> None:
                for _ in range(FEW + 1):
                    await ledger.session("ses_1")
                assert await make.claim(ledger, a_call(make, 3)) is not None

            asyncio.run(other())

        await asyncio.to_thread(elsewhere)
        assert ledger._writer._home is second  # type: ignore[attr-defined]
        await call(4)

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed"] * 4


def test_another_loop_that_still_runs_is_waited_for_when_the_ledger_is_closed(
    postgres_store: str, clock: Any, make: ModuleType, at_home: AtHome
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def there(work: Callable[[], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            return await work()

        return asyncio.run_coroutine_threadsafe(run(), loop)

    home = there(partial(at_home, ledger)).result(30)
    working = [there(partial(make.claim, ledger, a_call(make, n))) for n in range(5)]
    for each in working:
        assert each.result(30) is not None
    asyncio.run(ledger.close())
    assert home.lane is None
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_a_loop_that_cannot_watch_a_socket_has_everything_done_in_threads(
    ledger: SqlLedger, make: ModuleType
) -> None:
    class Blind(asyncio.SelectorEventLoop):
        def add_reader(self, *_: Any) -> None:
            raise NotImplementedError

    async def story() -> None:
        for number in range(FEW + 3):
            assert await make.claim(ledger, a_call(make, number)) is not None
            await asyncio.sleep(0.05)
        home = ledger._writer._home  # type: ignore[attr-defined]
        assert (home.lane, home._closed, home._is_opening) == (None, True, False)

    with asyncio.Runner(loop_factory=Blind) as runner:
        runner.run(story())
    assert make.told(ledger) == ["call.claimed"] * (FEW + 3)
