"""A database that is gone in the middle of a call, and comes back or does not, loses nothing."""

import asyncio
import importlib.util
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from aftermath import FINDINGS, look
from scene import SECRET, MovedClock, Scene

from toolkeeper_contract import Code, Ending, RunError
from toolkeeper_ledger import open_ledger

NOTHING_WRONG = dict.fromkeys(FINDINGS, 0)
DEAD = signal.SIGQUIT
"""How a server is stopped that has no time to say anything to anybody."""


def clusters() -> ModuleType:
    path = Path(__file__).parents[1] / "postgres_cluster.py"
    spec = importlib.util.spec_from_file_location("clusters_that_die", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server that writes what it commits before it says so, and that tests may stop."""
    module = clusters()
    binaries = module.find_binaries()
    if binaries is None:
        pytest.skip(module.INSTALL)
    with module.PostgresCluster(binaries, synchronous_commit="on") as cluster:
        yield cluster


class File:
    """A store in a file; gone means moved away."""

    def __init__(self, scene: Any) -> None:
        self.scene = scene

    def go(self) -> None:
        self.scene.file.rename(self.scene.folder / "away")

    def come(self) -> None:
        (self.scene.folder / "away").rename(self.scene.file)


class Server:
    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster

    def go(self) -> None:
        self.cluster.stop(DEAD)

    def come(self) -> None:
        self.cluster.start()


@pytest.fixture(params=["sqlite", "postgresql"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A scene with `database`, which can go and come."""
    if request.param == "sqlite":
        scene: Any = Scene(tmp_path, f"sqlite:///{tmp_path / 'ledger.db'}")
        scene.database = File(scene)
        return scene
    cluster = request.getfixturevalue("server")
    name = "s" + "".join(filter(str.isalnum, request.node.name)).lower()[-60:]
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    scene = Scene(tmp_path, cluster.url(name))
    scene.database = Server(cluster)
    # Nobody waits for a server longer than a call may take to end.
    scene.patience = 0.3
    return scene


def test_gone_before_a_call_nothing_runs(scene: Any) -> None:
    async def play() -> None:
        async with scene.keeper() as keeper:
            turn = await scene.turn(keeper)
            scene.database.go()
            try:
                with pytest.raises(RunError) as failure:
                    await scene.call(turn, "notes.add", "one")
                assert failure.value.code is Code.LEDGER_UNAVAILABLE
            finally:
                scene.database.come()
            assert scene.effects.lines() == []
            outcome = await scene.call(turn, "notes.add", "two")
            assert outcome.row.outcome is Ending.COMPLETED

    asyncio.run(play())
    assert asyncio.run(look(scene)) == {**NOTHING_WRONG, "unknown": 0}


def test_gone_while_a_call_runs_and_back_its_end_is_written(scene: Any) -> None:
    async def play() -> None:
        happened = scene.happened

        def go(what: str, title: str) -> None:
            happened(what, title)
            scene.database.go()

        scene.happened = go
        async with scene.keeper() as keeper:
            turn = await scene.turn(keeper)
            settle, failed = keeper.ledger.settle, []

            async def settled(*args: Any, **more: Any) -> Any:
                try:
                    return await settle(*args, **more)
                except RunError as error:
                    failed.append(error.code)
                    scene.database.come()
                    raise

            keeper.ledger.settle = settled
            outcome = await scene.call(turn, "notes.add", "one")
            assert outcome.row.outcome is Ending.COMPLETED
            assert failed == [Code.LEDGER_UNAVAILABLE]
        scene.happened = happened

    asyncio.run(play())
    assert asyncio.run(look(scene)) == {**NOTHING_WRONG, "unknown": 0}
    assert len(scene.effects.lines()) == 1


@pytest.mark.parametrize(
    ("name", "more", "unknown"), [("notes.add", {}, 1), ("notes.read", {"token": SECRET}, 0)]
)
def test_gone_for_long_while_a_call_runs_it_is_left_to_the_reaper(
    scene: Any, name: str, more: dict[str, str], unknown: int
) -> None:
    scene.lease = timedelta(seconds=0.2)

    async def play() -> None:
        happened = scene.happened

        def go(what: str, title: str) -> None:
            happened(what, title)
            scene.database.go()

        scene.happened = go
        with suppress(RunError):
            async with scene.keeper() as keeper:
                turn = await scene.turn(keeper)
                try:
                    with pytest.raises(RunError) as failure:
                        await scene.call(turn, name, "one", **more)
                    assert failure.value.code is Code.LEDGER_UNAVAILABLE
                finally:
                    scene.database.come()
        scene.happened = happened

    asyncio.run(play())
    assert asyncio.run(look(scene)) == {**NOTHING_WRONG, "unknown": unknown}
    assert len(scene.effects.lines()) == (1 if unknown else 2)


def test_gone_and_back_between_two_calls_nobody_notices(scene: Any) -> None:
    async def play() -> None:
        async with scene.keeper() as keeper:
            turn = await scene.turn(keeper)
            for number in range(3):
                outcome = await scene.call(turn, "notes.add", f"{number}")
                assert outcome.row.outcome is Ending.COMPLETED
                scene.database.go()
                scene.database.come()
            events = await keeper.ledger.events()
            assert events

    asyncio.run(play())
    assert asyncio.run(look(scene)) == {**NOTHING_WRONG, "unknown": 0}
    assert len(scene.effects.lines()) == 3


def test_a_store_that_is_gone_is_not_begun_anew(scene: Any) -> None:
    """Whoever opens an empty place instead would answer that nothing was ever asked."""

    async def play() -> None:
        async with scene.keeper() as keeper:
            turn = await scene.turn(keeper)
            await scene.call(turn, "mail.send", "one", token=SECRET)
            scene.database.go()
            try:
                with pytest.raises(RunError):
                    await keeper.ledger.approvals(pending_only=True)
                if scene.store.startswith("sqlite"):
                    assert not scene.file.exists()
            finally:
                scene.database.come()
            assert len(await keeper.ledger.approvals(pending_only=True)) == 1

    asyncio.run(play())
    ledger = open_ledger(scene.store, clock=MovedClock(), read_only=True)
    assert len(asyncio.run(ledger.approvals(pending_only=True))) == 1
    asyncio.run(ledger.close())
