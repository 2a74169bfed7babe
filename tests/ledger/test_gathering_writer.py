"""Callers at the same time share a commit, and none of them feels another's mistake."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from toolkeeper_contract import Code, RunError
from toolkeeper_ledger import GatheringWriter
from toolkeeper_ledger.sqlite_database import SqliteDatabase


class Counted:
    """A database in a file that counts its transactions; `away` makes them fail."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._inner = SqliteDatabase(path, read_only=False, synchronous="NORMAL", busy_timeout=1.0)
        self.read_only = False
        self.commits = 0
        self.away = False
        self.write(lambda connection: connection.execute(text("CREATE TABLE t (n INTEGER)")))
        self.commits = 0

    def write(self, work: Callable[[Connection], Any]) -> Any:
        self.commits += 1
        if self.away:
            raise RunError(Code.LEDGER_UNAVAILABLE, "the store is locked")
        return self._inner.write(work)

    def read(self, work: Callable[[Connection], Any]) -> Any:
        return self._inner.read(work)

    def close(self) -> None:
        self._inner.close()

    def numbers(self) -> Any:
        return self.read(
            lambda connection: list(connection.execute(text("SELECT n FROM t")).scalars())
        )


@pytest.fixture
def database(tmp_path: Path) -> Counted:
    return Counted(tmp_path / "store.db")


def put(number: int) -> Callable[[Connection], int]:
    def work(connection: Connection) -> int:
        connection.execute(text("INSERT INTO t VALUES (:n)"), {"n": number})
        if number < 0:
            raise ValueError(number)
        return number * 10

    return work


def all_at_once(database: Counted, *numbers: int) -> list[Any]:
    async def play() -> list[Any]:
        writer = GatheringWriter(database)
        return await asyncio.gather(
            *(writer.write(put(number)) for number in numbers), return_exceptions=True
        )

    return asyncio.run(play())


def test_callers_at_the_same_time_share_one_commit(database: Counted) -> None:
    assert all_at_once(database, 1, 2, 3, 4) == [10, 20, 30, 40]
    assert database.commits == 1
    assert database.numbers() == [1, 2, 3, 4]


def test_a_mistake_is_only_felt_by_the_one_who_made_it(database: Counted) -> None:
    first, second, third = all_at_once(database, 1, -2, 3)
    assert (first, third) == (10, 30)
    assert isinstance(second, ValueError)
    assert database.numbers() == [1, 3]


def test_a_store_that_is_away_is_waited_for_once(database: Counted) -> None:
    database.away = True
    answers = all_at_once(database, 1, 2, 3)
    assert [type(answer) for answer in answers] == [RunError] * 3
    assert database.commits == 1


def test_one_after_another_each_has_a_commit_of_its_own(database: Counted) -> None:
    async def play() -> None:
        writer = GatheringWriter(database)
        for number in range(3):
            await writer.write(put(number))

    asyncio.run(play())
    assert database.commits == 3


def test_a_caller_that_is_cancelled_in_time_takes_its_work_back(database: Counted) -> None:
    async def play() -> None:
        writer = GatheringWriter(database)
        gone = asyncio.ensure_future(writer.write(put(1)))
        stays = asyncio.ensure_future(writer.write(put(2)))
        asyncio.get_running_loop().call_soon(gone.cancel)
        await asyncio.wait({gone, stays})
        assert gone.cancelled()
        assert stays.result() == 20

    asyncio.run(play())
    assert database.numbers() == [2]


def test_a_closed_writer_refuses_what_waits_and_what_comes(database: Counted) -> None:
    async def play() -> None:
        writer = GatheringWriter(database)
        waiting = asyncio.ensure_future(writer.write(put(1)))
        await asyncio.sleep(0)
        await writer.close()
        with pytest.raises(RunError, match="closed"):
            await waiting
        with pytest.raises(RunError, match="closed"):
            await writer.write(put(2))

    asyncio.run(play())
    assert database.numbers() == []


def test_one_ledger_serves_several_loops(database: Counted) -> None:
    writer = GatheringWriter(database)
    for number in range(2):
        assert asyncio.run(writer.write(put(number))) == number * 10
    assert database.numbers() == [0, 1]


async def alone_for_long(writer: GatheringWriter, many: int = 40) -> None:
    for number in range(many):
        await writer.write(put(number))
        await asyncio.sleep(0)


def test_who_has_been_alone_for_long_does_not_wait_for_others(database: Counted) -> None:
    async def play() -> list[int]:
        writer = GatheringWriter(database)
        waited = [await rounds_of(writer.write(put(0)))]
        await alone_for_long(writer)
        waited.append(await rounds_of(writer.write(put(1))))
        return waited

    waited, none = asyncio.run(play())
    assert waited > 0
    assert none == 0


async def rounds_of(writing: Any) -> int:
    """How often it lets others go on before it is done."""
    count = 0
    steps = writing.__await__()
    while True:
        try:
            waits_for = steps.send(None)
        except StopIteration:
            return count
        count += 1
        while waits_for is not None and not waits_for.done():
            await asyncio.sleep(0)


def test_who_writes_on_and_on_lets_others_go_on_as_well(database: Counted) -> None:
    async def play() -> int:
        writer = GatheringWriter(database)
        await alone_for_long(writer)
        rounds = 0

        async def count() -> None:
            nonlocal rounds
            while True:
                rounds += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        for number in range(20):
            await writer.write(put(number))
        counting.cancel()
        return rounds

    assert asyncio.run(play()) >= 19


def test_callers_that_come_after_a_long_time_of_one_share_commits_again(database: Counted) -> None:
    async def play() -> None:
        writer = GatheringWriter(database)
        await alone_for_long(writer)
        database.commits = 0
        await asyncio.gather(*(writer.write(put(number)) for number in range(8)))
        assert database.commits == 2
        await asyncio.gather(*(writer.write(put(number)) for number in range(8)))
        assert database.commits == 3

    asyncio.run(play())


def test_who_is_alone_hears_of_their_mistake_and_of_a_closed_writer(database: Counted) -> None:
    async def play() -> None:
        writer = GatheringWriter(database)
        await alone_for_long(writer)
        with pytest.raises(ValueError, match="-7"):
            await writer.write(put(-7))
        assert -7 not in database.numbers()
        await writer.close()
        with pytest.raises(RunError, match="closed"):
            await writer.write(put(2))

    asyncio.run(play())
