"""A call's commits go to a server from the caller's own event loop, and nothing is lost there."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import psycopg
import pytest

from toolkeeper_contract import Event, Lease, RunError, State
from toolkeeper_ledger import SqlLedger, open_ledger
from toolkeeper_ledger.postgres_shortcut import Shortcut
from toolkeeper_ledger.postgres_wire import Wire

AtHome = Callable[[Any], Awaitable[Any]]
SESSIONS = [f"ses_{number}" for number in range(1, 9)]


@pytest.fixture
def ledger(postgres_store: str, clock: Any, make: ModuleType) -> Any:
    ledger = open_ledger(postgres_store, clock=clock, busy_timeout=0.5)
    for number, name in enumerate(SESSIONS, start=1):
        make.begin(ledger, name, f"run_{number}")
    yield ledger
    asyncio.run(ledger.close())


def a_call(make: ModuleType, number: int, session: int = 1) -> Any:
    return make.a_row(f"inv_{number}", session_id=f"ses_{session}", run_id=f"run_{session}")


def watch(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements went out at a time, of each batch that carried works; no thread wrote."""
    sent: list[int] = []
    send = Wire.send

    def counted(wire: Wire, statements: Any, hear: Any) -> None:
        if hear.func.__qualname__.startswith("Lane"):
            sent.append(len(statements))
        send(wire, statements, hear)

    def thread(*_: Any) -> Any:
        raise AssertionError("a thread did it")

    monkeypatch.setattr(Wire, "send", counted)
    monkeypatch.setattr(Shortcut, "messages", thread)
    return sent


def test_a_call_begins_and_ends_on_the_loop_itself(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        sent = watch(monkeypatch)
        for number in range(3):
            row = a_call(make, number)
            assert await make.claim(ledger, row) == Lease(row.invocation_id, 1, make.LEASE)
            end = make.ended(row, 1)
            assert await ledger.settle(end, [Event("call.settled")], private=True)
        assert sent == [1] * 6
        session = await ledger.session("ses_1")
        assert session is not None
        assert (session.tainted, session.private) == (False, True)
        monkeypatch.undo()

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed", "call.settled"] * 3
    assert {row.state for row in asyncio.run(ledger.invocations())} == {State.SETTLED}


def test_callers_at_once_share_two_commits_so_that_one_is_made_while_the_other_is_answered(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        sent = watch(monkeypatch)
        rows = [a_call(make, number, number) for number in range(1, 9)]
        leases = await asyncio.gather(*(make.claim(ledger, row) for row in rows))
        assert None not in leases
        assert sent == [4, 4]
        await asyncio.gather(*(make.settle(ledger, row) for row in rows[:3]))
        assert sent == [4, 4, 3]
        monkeypatch.undo()

    asyncio.run(story())
    for number, name in enumerate(SESSIONS, start=1):
        assert make.told(ledger, name) == ["call.claimed", "call.settled"][: 2 if number < 4 else 1]


def test_what_is_of_one_session_goes_on_one_connection_at_a_time(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        sent = watch(monkeypatch)
        rows = [a_call(make, number) for number in range(6)]
        first = [asyncio.ensure_future(make.claim(ledger, row)) for row in rows]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert sent == [6]
        later = asyncio.ensure_future(make.claim(ledger, a_call(make, 6)))
        other = asyncio.ensure_future(make.claim(ledger, a_call(make, 7, 2)))
        await asyncio.sleep(0)
        assert ledger.waiting_writes() == 2
        assert None not in await asyncio.gather(*first, later, other)
        # Where the first group's answer was quicker, both went with one message.
        assert sorted(sent) in ([1, 1, 6], [2, 6])
        monkeypatch.undo()

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed"] * 7
    assert make.told(ledger, "ses_2") == ["call.claimed"]


def test_calls_of_one_session_at_once_follow_each_other(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        watch(monkeypatch)

        async def call(number: int) -> None:
            assert await make.claim(ledger, a_call(make, number)) is not None
            assert await make.settle(ledger, a_call(make, number))

        await asyncio.gather(*(call(number) for number in range(20)))
        monkeypatch.undo()

    asyncio.run(story())
    assert sorted(make.told(ledger)) == ["call.claimed"] * 20 + ["call.settled"] * 20


@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("callers", [1, 3])
def test_works_whose_answer_is_lost_are_looked_up(
    ledger: SqlLedger,
    postgres_store: str,
    make: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    arrives: bool,
    callers: int,
    at_home: AtHome,
) -> None:
    send, lost = Wire.send, [0]

    def cut(wire: Wire, statements: Any, hear: Any) -> None:
        if not lost or not hear.func.__qualname__.startswith("Lane"):
            return send(wire, statements, hear)
        lost.clear()
        if arrives:
            before = events_on(postgres_store)
            send(wire, statements, hear)
            while events_on(postgres_store) == before:
                time.sleep(0.01)
            while b"C\0" not in os.read(wire._socket, 100_000):
                time.sleep(0.01)  # what says that a statement is done
        end_all(postgres_store)
        return None if arrives else send(wire, statements, hear)

    monkeypatch.setattr(Wire, "send", cut)

    async def story() -> None:
        await at_home(ledger)
        rows = [a_call(make, number) for number in range(callers)]
        leases = await asyncio.gather(*(make.claim(ledger, row) for row in rows))
        assert not lost
        assert leases == [Lease(row.invocation_id, 1, make.LEASE) for row in rows]
        ledger._writer._home._next = 0.0  # type: ignore[attr-defined]
        await at_home(ledger)
        await ledger.append("ses_1", [Event("noted")])  # so that it is known where it stands
        lost.append(0)
        ends = await asyncio.gather(*(make.settle(ledger, row) for row in rows))
        assert ends == [True] * callers
        assert not lost

    asyncio.run(story())
    claimed, settled = ["call.claimed"] * callers, ["call.settled"] * callers
    assert make.told(ledger) == [*claimed, "noted", *settled]
    assert {row.state for row in asyncio.run(ledger.invocations())} == {State.SETTLED}


def events_on(store: str) -> int:
    with psycopg.connect(store, autocommit=True) as server:
        return int(server.execute("SELECT count(*) FROM events").fetchone()[0])  # type: ignore[index]


def end_all(store: str) -> None:
    with psycopg.connect(store, autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_one_mistake_in_a_group_is_its_own_callers(
    ledger: SqlLedger, make: ModuleType, at_home: AtHome
) -> None:
    async def story() -> list[Any]:
        await at_home(ledger)
        rows = [a_call(make, number, number) for number in range(1, 9)]
        rows[2] = replace(rows[2], run_id="run_nowhere")
        rows[4] = replace(rows[4], call_id="\ud800")
        works = [make.claim(ledger, row) for row in rows]
        return await asyncio.gather(*works, return_exceptions=True)

    ended = asyncio.run(story())
    assert [type(end) for end in ended] == [
        RunError if number in (2, 4) else Lease for number in range(8)
    ]
    for number, name in enumerate(SESSIONS):
        assert make.told(ledger, name) == ([] if number in (2, 4) else ["call.claimed"])


def test_after_a_group_that_failed_the_next_goes_the_same_way(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, at_home: AtHome
) -> None:
    """The statement that follows the mistake is another one, and is not even prepared."""
    twice = [Event("call.decided"), Event("call.claimed")]

    async def story() -> None:
        await at_home(ledger)
        astray = replace(a_call(make, 1), run_id="run_nowhere")
        works = [make.claim(ledger, astray), ledger.claim(a_call(make, 2, 2), make.LEASE, twice)]
        refused, lease = await asyncio.gather(*works, return_exceptions=True)
        assert isinstance(refused, RunError)
        assert isinstance(lease, Lease)
        sent = watch(monkeypatch)
        row = a_call(make, 3, 2)
        assert await ledger.claim(row, make.LEASE, twice) is not None
        assert await make.settle(ledger, row)
        assert sent == [1] * 2
        monkeypatch.undo()

    asyncio.run(story())
    told_twice = ["call.decided", "call.claimed"]
    assert make.told(ledger, "ses_2") == [*told_twice, *told_twice, "call.settled"]


def test_what_was_sent_before_something_that_cannot_be_is_not_written(
    ledger: SqlLedger, postgres_store: str, make: ModuleType, at_home: AtHome
) -> None:
    async def story() -> None:
        wire = (await at_home(ledger))._wires[0]
        heard: list[Any] = []
        marked = ("UPDATE sessions SET model = $1::varchar", [b"m"])
        with pytest.raises(TypeError):
            wire.send([marked, ("SELECT $1::varchar", ["not bytes"])], heard.append)  # type: ignore[list-item]
        (batch,) = heard
        assert batch.lost
        wire.send([marked], heard.append)
        assert heard[1].lost
        assert await make.claim(ledger, a_call(make, 1)) is not None

    asyncio.run(story())
    with psycopg.connect(postgres_store) as server:
        assert server.execute("SELECT count(model) FROM sessions").fetchone() == (0,)


def test_a_head_that_another_process_has_moved_costs_a_second_try(
    ledger: SqlLedger, postgres_store: str, clock: Any, make: ModuleType, at_home: AtHome
) -> None:
    process = open_ledger(postgres_store, clock=clock)

    async def story() -> None:
        await at_home(ledger)
        await at_home(process)
        for number in range(4):
            assert await make.claim(ledger, a_call(make, 2 * number)) is not None
            assert await make.claim(process, a_call(make, 2 * number + 1)) is not None
            await process.append("ses_1", [Event("noted")])
        await process.close()

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed", "call.claimed", "noted"] * 4


def test_an_end_is_only_its_lease_holders(
    ledger: SqlLedger, clock: Any, make: ModuleType, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        assert await make.claim(ledger, a_call(make, 1)) is not None
        clock.forward(hours=1)
        await ledger.reap(clock.now())
        assert await make.settle(ledger, a_call(make, 1)) is False

    asyncio.run(story())
    assert make.told(ledger) == ["call.claimed", "lease.reaped", "call.fenced"]


def test_a_lock_that_lasts_is_waited_for_once(
    ledger: SqlLedger, postgres_store: str, make: ModuleType, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        with psycopg.connect(postgres_store) as holder:
            holder.execute("SELECT 1 FROM sessions FOR UPDATE")
            began = time.monotonic()
            with pytest.raises(RunError, match="locked by another process"):
                await make.claim(ledger, a_call(make, 1))
            assert time.monotonic() - began < 0.95  # twice the patience, less a little
            assert await ledger.session("ses_1") is not None
        assert await make.claim(ledger, a_call(make, 1)) is not None

    asyncio.run(story())


@pytest.mark.parametrize("text", ["a\0b", "\ufdd0", "\ufdd00\0\ufdd01", "plain ü \U0001f9b7"])
def test_any_text_comes_back_as_it_was(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, text: str, at_home: AtHome
) -> None:
    async def story() -> Any:
        await at_home(ledger)
        watch(monkeypatch)
        row = make.a_row("inv_1", call_id=text)
        sealed = bytes(range(256))
        begun = Event("call.claimed", {"said": text}, "run_1", "inv_1")
        assert await ledger.claim(row, make.LEASE, [begun], sealed=sealed) is not None
        assert await ledger.sealed("inv_1") == sealed
        done = Event("call.settled", {"said": text}, "run_1", "inv_1")
        assert await ledger.settle(replace(make.ended(row, 1), result=text), [done])
        monkeypatch.undo()
        found = await ledger.invocation("inv_1")
        said = [event.event.data.get("said") for event in await ledger.events("ses_1")][-2:]
        return found.call_id, found.result, said  # type: ignore[union-attr]

    assert asyncio.run(story()) == (text, text, [text, text])
    assert asyncio.run(ledger.sealed("inv_1")) is None


def test_a_session_is_looked_at_as_any_reader_sees_it(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch, at_home: AtHome
) -> None:
    odd = make.a_session(
        "ses_odd", attributes={"a": "b\0c", "n": [1]}, intent=["x.y"], tainted=True
    )

    async def story() -> None:
        await ledger.open_session(odd, [])
        in_a_thread = await ledger.session("ses_odd")
        home = await at_home(ledger)
        monkeypatch.setattr(home, "_threads", None)
        looks = [ledger.session(name) for name in ("ses_odd", "ses_none", "ses_1", "ses\0")]
        found = await asyncio.gather(*looks)
        assert [each and each.session_id for each in found] == ["ses_odd", None, "ses_1", None]
        assert found[0] == in_a_thread == odd

    asyncio.run(story())


def test_a_cancelled_callers_work_is_finished_or_never_begun(
    ledger: SqlLedger, make: ModuleType, at_home: AtHome
) -> None:
    async def story() -> None:
        await at_home(ledger)
        # A full house: the third group waits until one of the first two is answered.
        rows = [a_call(make, number, number) for number in range(1, 9)]
        begun = [asyncio.ensure_future(make.claim(ledger, row)) for row in rows]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting = asyncio.ensure_future(make.claim(ledger, a_call(make, 9)))
        last = asyncio.ensure_future(make.claim(ledger, a_call(make, 10)))
        await asyncio.sleep(0)
        assert ledger.waiting_writes() == 2
        begun[0].cancel()
        waiting.cancel()
        ended = await asyncio.gather(*begun, waiting, return_exceptions=True)
        assert [isinstance(end, asyncio.CancelledError) for end in ended] == [
            True,
            *[False] * 7,
            True,
        ]
        assert await last is not None

    asyncio.run(story())
    rows = asyncio.run(ledger.invocations())
    assert {row.invocation_id for row in rows} == {f"inv_{n}" for n in (*range(1, 9), 10)}
