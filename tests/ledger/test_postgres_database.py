"""A server that goes away, or is busy: nothing is lost, nothing is written twice, in our words."""

import asyncio
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import text

from toolkeeper_contract import Code, ConfigError, Event, Lease, RunError, State
from toolkeeper_ledger import SqlLedger, open_ledger, verify

psycopg = pytest.importorskip("psycopg")


@pytest.fixture
def ledger(postgres_store: str, clock: Any, make: ModuleType) -> Iterator[SqlLedger]:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)
    yield ledger
    asyncio.run(ledger.close())


@pytest.fixture
def own_cluster(request: pytest.FixtureRequest, postgres_cluster: Any) -> Iterator[Any]:
    """A server that a test may stop."""
    cluster = type(postgres_cluster)(postgres_cluster.binaries, synchronous_commit="on")
    with cluster:
        yield cluster


def database_of(ledger: Any) -> Any:
    return ledger._writer._database


def driver_of(ledger: SqlLedger) -> Any:
    return database_of(ledger)._writer.connection.driver_connection


@contextmanager
def other(url: str) -> Iterator[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def end_all(url: str) -> None:
    with other(url) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def claim(ledger: SqlLedger, make: ModuleType, name: str = "inv_1") -> Any:
    return asyncio.run(ledger.claim(make.a_row(name), make.LEASE, [Event("call.claimed")]))


def whole(ledger: SqlLedger) -> list[str]:
    """The names of the session's events, after its chain was verified."""
    (head,) = asyncio.run(ledger.heads())
    events = asyncio.run(ledger.events("ses_1"))
    assert verify(events, head) is None
    return [record.event.name for record in events][2:]


def test_a_connection_that_was_ended_is_made_anew(
    ledger: SqlLedger, postgres_store: str, make: ModuleType
) -> None:
    assert asyncio.run(ledger.session("ses_1")) is not None
    end_all(postgres_store)
    assert claim(ledger, make) is not None
    end_all(postgres_store)
    assert asyncio.run(ledger.session("ses_1")) is not None
    assert whole(ledger) == ["call.claimed"]


def test_a_connection_that_dies_in_a_transaction_costs_nothing(
    ledger: SqlLedger, postgres_store: str
) -> None:
    tries: list[int] = []

    def work(connection: Any) -> int:
        tries.append(1)
        connection.execute(text("UPDATE sessions SET model = 'm'"))
        if len(tries) == 1:
            end_all(postgres_store)
        return int(connection.execute(text("SELECT 7")).scalar())

    assert database_of(ledger).write(work) == 7
    assert len(tries) == 2


@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_whose_answer_is_lost_is_looked_up(
    ledger: SqlLedger,
    postgres_store: str,
    make: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    arrives: bool,
) -> None:
    from toolkeeper_ledger import postgres_database

    real, lost = postgres_database.commit, [True]

    def commit(connection: Any) -> None:
        if lost:
            lost.clear()
            if arrives:
                real(connection)
            end_all(postgres_store)
        real(connection)
        # Nothing is committed any more: the server would not have answered.
        connection.connection.driver_connection.execute("SELECT 1")

    monkeypatch.setattr(postgres_database, "commit", commit)
    asyncio.run(ledger.append("ses_1", [Event("noted")]))
    assert whole(ledger) == ["noted"]


@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("callers", [1, 3])
def test_a_message_whose_answer_is_lost_is_looked_up(
    ledger: SqlLedger,
    postgres_store: str,
    make: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    arrives: bool,
    callers: int,
) -> None:
    from toolkeeper_ledger.postgres_shortcut import Shortcut

    real, lost = Shortcut.send, [True]

    def send(self: Any, connection: Any, messages: Any) -> Any:
        if lost:
            lost.clear()
            if arrives:
                real(self, connection, messages)
            end_all(postgres_store)
            connection.connection.driver_connection.execute("SELECT 1")
        return real(self, connection, messages)

    monkeypatch.setattr(Shortcut, "send", send)

    async def both() -> tuple[list[Any], list[Any]]:
        rows = [make.a_row(f"inv_{number}") for number in range(callers)]
        leases = await asyncio.gather(
            *(ledger.claim(row, make.LEASE, [Event("call.claimed")]) for row in rows)
        )
        lost.append(True)
        ends = await asyncio.gather(
            *(ledger.settle(make.ended(row, 1), [Event("call.settled")]) for row in rows)
        )
        return list(leases), list(ends)

    leases, ends = asyncio.run(both())
    assert [lease.fence for lease in leases] == [1] * callers
    assert ends == [True] * callers
    assert whole(ledger) == ["call.claimed"] * callers + ["call.settled"] * callers
    rows = asyncio.run(ledger.invocations())
    assert {row.state for row in rows} == {State.SETTLED}


def test_a_restart_of_the_server_is_waited_for(
    own_cluster: Any, clock: Any, make: ModuleType
) -> None:
    ledger = open_ledger(own_cluster.url(), clock=clock)
    make.begin(ledger)

    async def story() -> None:
        own_cluster.stop(signal.SIGINT)
        waiting = asyncio.create_task(
            ledger.claim(make.a_row(), make.LEASE, [Event("call.claimed")])
        )
        await asyncio.to_thread(own_cluster.start)
        assert await waiting is not None
        assert await ledger.invocation("inv_1") is not None
        await ledger.close()

    asyncio.run(story())


def test_a_server_that_stays_away_is_told_and_comes_back(
    own_cluster: Any, clock: Any, make: ModuleType
) -> None:
    ledger = open_ledger(own_cluster.url(), clock=clock, busy_timeout=0.2)
    make.begin(ledger)
    own_cluster.stop(signal.SIGQUIT)
    for use in (
        lambda: claim(ledger, make),
        lambda: asyncio.run(ledger.session("ses_1")),
    ):
        with pytest.raises(RunError) as failure:
            use()
        assert failure.value.code is Code.LEDGER_UNAVAILABLE
        assert "cannot be reached" in failure.value.message
    with pytest.raises(RunError, match="cannot be reached"):
        open_ledger(own_cluster.url(), clock=clock)
    own_cluster.start()
    assert claim(ledger, make) is not None
    assert whole(ledger) == ["call.claimed"]
    asyncio.run(ledger.close())


def test_a_lock_that_lasts_is_told(postgres_store: str, clock: Any, make: ModuleType) -> None:
    ledger = open_ledger(postgres_store, clock=clock, busy_timeout=0.1)
    make.begin(ledger)
    with psycopg.connect(postgres_store) as holder:
        holder.execute("SELECT 1 FROM sessions FOR UPDATE")
        with pytest.raises(RunError, match="locked by another process"):
            claim(ledger, make)
        assert asyncio.run(ledger.session("ses_1")) is not None  # readers go on
    assert claim(ledger, make) is not None
    asyncio.run(ledger.close())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda url: url.replace("/store_", "/no_store_"), "database is not there"),
        (lambda url: url.replace("postgres@", "nobody_of_ours@"), "did not accept the user"),
        (lambda url: url + "?bogus=1", "option that cannot be used"),
        (lambda url: url + "?sslmode=sometimes", "option that cannot be used"),
    ],
)
def test_a_url_that_opens_nothing_is_the_developers_to_mend(
    postgres_store: str, clock: Any, change: Callable[[str], str], words: str
) -> None:
    url = change(postgres_store).replace("@", ":hunter2@")
    with pytest.raises(ConfigError) as failure:
        open_ledger(url, clock=clock)
    assert words in failure.value.message
    assert failure.value.hint
    assert "hunter2" not in str(failure.value)


def test_a_server_without_a_free_connection_says_so(own_cluster: Any, clock: Any) -> None:
    own_cluster.stop()
    own_cluster.settings["max_connections"] = "5"
    own_cluster.settings["superuser_reserved_connections"] = "0"
    own_cluster.start()
    held = [psycopg.connect(own_cluster.url()) for _ in range(5)]
    with pytest.raises(RunError, match="no connection left"):
        open_ledger(own_cluster.url(), clock=clock)
    for connection in held:
        connection.close()


def test_a_server_that_takes_no_writes_is_told(
    ledger: SqlLedger, postgres_store: str, make: ModuleType
) -> None:
    with other(postgres_store) as server:
        (name,) = server.execute("SELECT current_database()").fetchone()
        server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    end_all(postgres_store)
    with pytest.raises(RunError, match="takes no writes"):
        claim(ledger, make)
    assert asyncio.run(ledger.session("ses_1")) is not None


def test_a_missing_driver_is_told_with_the_extra(
    postgres_store: str, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError) as failure:
        open_ledger(postgres_store, clock=clock)
    assert "toolkeeper[postgres]" in str(failure.value.hint)


def test_a_database_of_somebody_else_is_left_alone(postgres_cluster: Any, clock: Any) -> None:
    with other(postgres_cluster.url()) as server:
        server.execute("DROP DATABASE IF EXISTS foreign_one")
        server.execute("CREATE DATABASE foreign_one")
    url = postgres_cluster.url("foreign_one")
    with other(url) as server:
        server.execute("CREATE TABLE sessions (id integer)")
    with pytest.raises(ConfigError, match="another program"):
        open_ledger(url, clock=clock)
    aside = f"{url}?options=-csearch_path%3Dtoolkeeper"
    with other(url) as server:
        server.execute("CREATE SCHEMA toolkeeper")
    asyncio.run(open_ledger(aside, clock=clock).close())


def test_reading_makes_no_tables(postgres_cluster: Any, clock: Any) -> None:
    with other(postgres_cluster.url()) as server:
        server.execute("DROP DATABASE IF EXISTS empty_one")
        server.execute("CREATE DATABASE empty_one")
    for options in ({"read_only": True}, {"create": False}):
        with pytest.raises(ConfigError, match="holds no store"):
            open_ledger(postgres_cluster.url("empty_one"), clock=clock, **options)


def test_a_ledger_that_only_reads_writes_nothing(
    ledger: SqlLedger, postgres_store: str, clock: Any, make: ModuleType
) -> None:
    reader = open_ledger(postgres_store, clock=clock, read_only=True, create=False)
    assert asyncio.run(reader.session("ses_1")) is not None
    with pytest.raises(RunError, match="read only"):
        claim(reader, make)
    asyncio.run(reader.close())


def test_any_text_comes_back_as_it_was(ledger: SqlLedger, make: ModuleType) -> None:
    odd = "a\0b\ufdd0c\ufdd00 \ufdd01\0\U0001f9b7"
    row = make.a_row(call_id=odd, arguments={"a": odd})
    asyncio.run(ledger.settle(make.ended(row, 0), [Event("call.settled", {"t": odd})]))
    kept = asyncio.run(ledger.invocation("inv_1"))
    assert kept is not None
    assert (kept.call_id, kept.arguments) == (odd, {"a": odd})
    assert asyncio.run(ledger.invocation("inv\0_1")) is None
    assert whole(ledger) == ["call.settled"]


def test_a_group_whose_last_message_cannot_be_sent_leaves_each_its_own_end(
    ledger: SqlLedger, make: ModuleType
) -> None:
    async def story() -> list[Any]:
        rows = [make.a_row("inv_1"), make.a_row("inv_2", call_id="\ud800"), make.a_row("inv_3")]
        return await asyncio.gather(
            *(ledger.claim(row, make.LEASE, [Event("call.claimed")]) for row in rows),
            return_exceptions=True,
        )

    first, refused, last = asyncio.run(story())
    assert isinstance(first, Lease)
    assert isinstance(refused, RunError)
    assert isinstance(last, Lease)
    assert whole(ledger) == ["call.claimed"] * 2


def test_a_refusal_that_is_heard_before_all_is_sent_is_only_its_own(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group is undone by the server, which is not lost; each gets an answer of its own."""
    from toolkeeper_ledger.postgres_text import BytesCursor

    real, begun, answered = BytesCursor.execute, [], []

    def execute(cursor: Any, *given: Any, **options: Any) -> Any:
        begun.append(cursor)
        if len(begun) == 2:
            answered.extend(select.select([cursor.connection], [], [], 10)[0])
        return real(cursor, *given, **options)

    async def both() -> list[Any]:
        row = make.a_row("inv_0")
        assert await ledger.claim(row, make.LEASE, [Event("call.claimed")])
        monkeypatch.setattr(BytesCursor, "execute", execute)
        # The first of the group, which is refused: its run is not there.
        astray = make.a_row("inv_1", run_id="run_nowhere")
        works = [astray, make.a_row("inv_2"), make.a_row("inv_3")]
        claims = [ledger.claim(each, make.LEASE, [Event("call.claimed")]) for each in works]
        # While the thread is busy, the others gather behind it.
        with database_of(ledger)._lock:
            waiting = [asyncio.ensure_future(each) for each in claims]
            await asyncio.sleep(0)
        return await asyncio.gather(*waiting, return_exceptions=True)

    refused, *leases = asyncio.run(both())
    assert isinstance(refused, RunError)
    assert refused.code is Code.LEDGER_CONFLICT
    assert leases == [Lease(name, 1, make.LEASE) for name in ("inv_2", "inv_3")]
    assert answered == [begun[1].connection]


def test_a_head_that_another_process_has_moved_costs_a_second_try(
    ledger: SqlLedger, postgres_store: str, clock: Any, make: ModuleType
) -> None:
    process = open_ledger(postgres_store, clock=clock)
    for number in range(5):
        assert claim(ledger, make, f"inv_a{number}") is not None
        assert claim(process, make, f"inv_b{number}") is not None
        asyncio.run(process.append("ses_1", [Event("noted")]))
    assert whole(ledger) == ["call.claimed", "call.claimed", "noted"] * 5
    asyncio.run(process.close())


def test_a_call_is_one_message_to_begin_and_one_to_end(
    ledger: SqlLedger, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolkeeper_ledger.postgres_shortcut import Shortcut

    real, sent = Shortcut.send, []

    def send(self: Any, connection: Any, messages: Any) -> Any:
        sent.append(len(messages))
        return real(self, connection, messages)

    def no_steps(work: object) -> Any:
        raise AssertionError("it went step by step")

    monkeypatch.setattr(Shortcut, "send", send)
    monkeypatch.setattr(database_of(ledger), "_write_once", no_steps)
    for name in ("inv_1", "inv_2"):
        lease = claim(ledger, make, name)
        end = make.ended(make.a_row(name), lease.fence)
        assert asyncio.run(ledger.settle(end, [Event("call.settled")], private=True))
    assert sent == [1, 1, 1, 1]
    assert whole(ledger) == ["call.claimed", "call.settled"] * 2
    session = asyncio.run(ledger.session("ses_1"))
    assert session is not None
    assert (session.tainted, session.private) == (False, True)


def test_an_end_in_one_message_is_only_its_lease_holders(
    ledger: SqlLedger, clock: Any, make: ModuleType
) -> None:
    assert claim(ledger, make) is not None
    clock.forward(hours=1)
    asyncio.run(ledger.reap(clock.now()))
    late = make.ended(make.a_row(), 1)
    assert asyncio.run(ledger.settle(late, [Event("call.settled")])) is False
    assert whole(ledger) == ["call.claimed", "lease.reaped", "call.fenced"]
    row = asyncio.run(ledger.invocation("inv_1"))
    assert row is not None
    assert row.fence == 2
