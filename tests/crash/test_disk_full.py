"""A disk that is full stops calls before they run; what ran is told as soon as there is space."""

import asyncio
import contextlib
import resource
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from aftermath import look
from scene import SECRET

from toolkeeper_contract import Code, Ending, RunError, State

NOTHING_WRONG = {
    "duplicate effects": 0,
    "lost": 0,
    "stuck": 0,
    "unreported": 0,
    "not taken up": 0,
    "approvals spent twice": 0,
    "broken chains": 0,
}


@contextlib.contextmanager
def full_disk(scene: Any) -> Iterator[None]:
    """The store cannot grow meanwhile: by the system's own limit, or by the server's own error."""
    if scene.store.startswith("sqlite"):
        # No byte of any file can be written behind this place; the effects' file is shorter.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    else:
        _server(scene, *_FULL)
        try:
            yield
        finally:
            _server(scene, "DROP TRIGGER full_disk ON events", "DROP FUNCTION full_disk")


_FULL = (
    """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$
    """,
    "CREATE TRIGGER full_disk BEFORE INSERT ON events EXECUTE FUNCTION full_disk()",
)


def _server(scene: Any, *statements: str) -> None:
    with psycopg.connect(scene.store, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def refused(error: RunError) -> bool:
    text = str(error)
    return error.code is Code.LEDGER_UNAVAILABLE and not any(
        word in text for word in ("psycopg", "sqlite3", "INSERT", "no space left", "SQL")
    )


def test_a_call_that_cannot_be_written_down_does_not_run(scene: Any) -> None:
    async def play() -> None:
        async with scene.keeper() as keeper:
            turn = await scene.turn(keeper)
            with full_disk(scene):
                for name, more in (("notes.add", {}), ("notes.read", {"token": SECRET})):
                    with pytest.raises(RunError) as failure:
                        await scene.call(turn, name, "during", **more)
                    assert refused(failure.value)
                with pytest.raises(RunError):
                    await scene.call(turn, "mail.send", "parked", token=SECRET)
            assert scene.effects.lines() == []
            assert await keeper.ledger.invocations() == []
            outcome = await scene.call(turn, "notes.add", "after")
            assert outcome.row.outcome is Ending.COMPLETED

    asyncio.run(play())
    found = asyncio.run(look(scene))
    assert found == {**NOTHING_WRONG, "unknown": 0}


@pytest.mark.parametrize(
    ("name", "more", "unknown"), [("notes.add", {}, 1), ("notes.read", {"token": SECRET}, 0)]
)
def test_a_disk_that_is_full_when_a_call_ends_leaves_it_to_the_reaper(
    scene: Any, name: str, more: dict[str, str], unknown: int
) -> None:
    # The end is tried again for half a lease.
    scene.lease = timedelta(seconds=0.2)

    async def play() -> None:
        with contextlib.ExitStack() as until_then:
            happened = scene.happened

            def fill(what: str, title: str) -> None:
                happened(what, title)
                until_then.enter_context(full_disk(scene))

            scene.happened = fill
            async with scene.keeper() as keeper:
                turn = await scene.turn(keeper)
                with pytest.raises(RunError) as failure:
                    await scene.call(turn, name, "one", **more)
                assert refused(failure.value)
                until_then.close()
                (row,) = await keeper.ledger.invocations()
                assert row.state is State.RUNNING
            scene.happened = happened

    asyncio.run(play())
    found = asyncio.run(look(scene))
    assert found == {**NOTHING_WRONG, "unknown": unknown}
    times = 1 if unknown else 2
    assert scene.effects.lines() == [{"what": name.split(".")[1], "title": "one"}] * times


def test_space_that_comes_in_time_brings_the_end_onto_its_row(scene: Any) -> None:
    async def play() -> None:
        with contextlib.ExitStack() as until_then:
            happened = scene.happened

            def fill(what: str, title: str) -> None:
                happened(what, title)
                until_then.enter_context(full_disk(scene))

            scene.happened = fill
            async with scene.keeper() as keeper:
                turn = await scene.turn(keeper)
                settle, failed = keeper.ledger.settle, []

                async def settled(*args: Any, **more: Any) -> Any:
                    try:
                        return await settle(*args, **more)
                    except RunError as error:
                        failed.append(error.code)
                        until_then.close()
                        raise

                keeper.ledger.settle = settled
                outcome = await scene.call(turn, "notes.add", "one")
                assert failed == [Code.LEDGER_UNAVAILABLE]
                assert outcome.row.outcome is Ending.COMPLETED

    asyncio.run(play())
    assert asyncio.run(look(scene)) == {**NOTHING_WRONG, "unknown": 0}
    assert len(scene.effects.lines()) == 1
