"""A store that is not ours to use is refused with one clear message, and left as it is."""

import asyncio
import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, ConfigError, RunError
from toolkeeper_ledger import VERSION, SqlLedger, open_ledger

FORK = multiprocessing.get_context("fork")


def refused(url: str, clock: Any, **options: Any) -> ConfigError:
    with pytest.raises(ConfigError) as failure:
        open_ledger(url, clock=clock, **options)
    assert failure.value.hint
    assert failure.value.message[0].islower()
    return failure.value


def test_a_new_store_is_made_with_its_version(store: str, clock: Any, tmp_path: Path) -> None:
    asyncio.run(open_ledger(store, clock=clock).close())
    connection = sqlite3.connect(tmp_path / "ledger.db")
    assert connection.execute("SELECT version FROM toolkeeper_schema").fetchall() == [(VERSION,)]
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    assert (tmp_path / "ledger.db").stat().st_mode & 0o077 == 0


def test_what_was_written_is_there_after_opening_again(
    store: str, clock: Any, make: ModuleType
) -> None:
    first = open_ledger(store, clock=clock)
    make.begin(first)
    asyncio.run(first.close())
    for options in ({}, {"read_only": True}, {"synchronous": "full"}, {"create": False}):
        again = open_ledger(store, clock=clock, **options)
        assert asyncio.run(again.session("ses_1")) == make.a_session(turn=1)
        asyncio.run(again.close())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "toolkeeper.db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:////tmp/x.db?mode=ro",
        "sqlite://host/x.db",
        "sqlite+aiosqlite:///x.db",
        "mysql://ana:hunter2@db/x",
        "postgresql://ana:hunter2@db",
        "postgresql://ana:hunter2@db:port/x",
        "postgresql+asyncpg://ana:hunter2@db/x",
        "sqlite:///a\0b",
    ],
)
def test_a_url_that_names_no_file_is_refused(url: str, clock: Any) -> None:
    assert "hunter2" not in str(refused(url, clock))


@pytest.mark.parametrize("options", [{"read_only": True}, {"create": False}])
def test_a_missing_store_is_not_made_by_reading(
    store: str, clock: Any, tmp_path: Path, options: dict[str, bool]
) -> None:
    assert "is not there" in refused(store, clock, **options).message
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_a_missing_folder_is_refused(clock: Any, tmp_path: Path) -> None:
    assert "folder" in refused(f"sqlite:///{tmp_path}/no/where/x.db", clock).message
    assert list(tmp_path.iterdir()) == []


def test_a_folder_or_a_device_is_not_a_store(clock: Any, tmp_path: Path) -> None:
    refused(f"sqlite:///{tmp_path}", clock)
    refused("sqlite:////dev/null", clock)


@pytest.mark.parametrize(
    "content", [b"version: 1\n" * 200, b"x", b"SQLite format 3\0" + b"\1" * 999]
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database_is_refused_and_left_alone(
    store: str, clock: Any, tmp_path: Path, content: bytes, read_only: bool
) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    refused(store, clock, read_only=read_only)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_of_another_program_is_refused_and_left_alone(
    store: str, clock: Any, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE sessions (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    assert "another program" in refused(store, clock).message
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (f"UPDATE toolkeeper_schema SET version = {VERSION + 1}", f"version {VERSION + 1}"),
        ("INSERT INTO toolkeeper_schema VALUES (99, '')", "version 99"),
        ("UPDATE toolkeeper_schema SET version = 0", "version 0"),
        ("DELETE FROM toolkeeper_schema", "does not say"),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_another_version_is_refused_and_left_alone(
    store: str, clock: Any, tmp_path: Path, change: str, says: str, read_only: bool
) -> None:
    asyncio.run(open_ledger(store, clock=clock).close())
    path = tmp_path / "ledger.db"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(change)
    connection.close()
    before = path.read_bytes()
    assert says in refused(store, clock, read_only=read_only).message
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store_but_not_by_reading(
    store: str, clock: Any, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.db"
    path.touch()
    refused(store, clock, read_only=True)
    assert path.read_bytes() == b""
    asyncio.run(open_ledger(store, clock=clock).close())
    assert path.stat().st_size > 0


def test_an_unknown_way_to_synchronise_is_refused(store: str, clock: Any, tmp_path: Path) -> None:
    assert "OFF" in refused(store, clock, synchronous="OFF").message
    assert list(tmp_path.iterdir()) == []


def test_a_store_opened_to_read_is_not_written(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    asyncio.run(open_ledger(store, clock=clock).close())
    reader = open_ledger(store, clock=clock, read_only=True)
    with pytest.raises(RunError) as failure:
        asyncio.run(reader.open_session(make.a_session(), []))
    assert failure.value.code is Code.LEDGER_UNAVAILABLE
    assert asyncio.run(reader.reap(clock.now())) == []
    asyncio.run(reader.close())


def test_a_store_with_odd_characters_in_its_path_is_itself(clock: Any, tmp_path: Path) -> None:
    path = tmp_path / "a b%20?#é.db"
    url = "sqlite:///" + str(path).replace("%", "%25").replace("?", "%3F")
    asyncio.run(open_ledger(url, clock=clock).close())
    assert path.exists()


def as_nobody(work: Callable[[], str]) -> str:
    """What `work` says when it runs without root's rights, in a process of its own."""

    def child(pipe: Any) -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            pipe.send(work())
        except (ConfigError, RunError) as error:
            pipe.send(f"{type(error).__name__}: {error.message}")

    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=child, args=(theirs,))
    process.start()
    assert ours.poll(20)
    said: str = ours.recv()
    process.join()
    return said


@pytest.fixture
def shared(tmp_path: Path, clock: Any, make: ModuleType) -> Path:
    """A store that others can reach but, as it stands, not write."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005 and folder.owner() == tmp_path.owner():
            folder.chmod(folder.stat().st_mode | 0o005)
        if folder.name.startswith("pytest-of"):
            break
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", clock=clock)
    make.begin(ledger)
    asyncio.run(ledger.close())
    (tmp_path / "ledger.db").chmod(0o444)
    tmp_path.chmod(0o555)
    return tmp_path / "ledger.db"


def opened(path: Path, clock: Any, **options: Any) -> str:
    ledger: SqlLedger = open_ledger(f"sqlite:///{path}", clock=clock, **options)
    session = asyncio.run(ledger.session("ses_1"))
    asyncio.run(ledger.close())
    return "nothing" if session is None else session.user


def test_a_store_that_may_only_be_read_is_refused_for_writing(shared: Path, clock: Any) -> None:
    assert "cannot be written" in as_nobody(lambda: opened(shared, clock))


def test_a_store_that_may_only_be_read_can_be_read(shared: Path, clock: Any) -> None:
    assert as_nobody(lambda: opened(shared, clock, read_only=True)) == "ana"


def test_a_store_that_may_not_be_read_is_refused(shared: Path, clock: Any) -> None:
    shared.chmod(0o000)
    for read_only in (False, True):
        said = as_nobody(lambda only=read_only: opened(shared, clock, read_only=only))  # type: ignore[misc]
        assert said.startswith("ConfigError")
        assert "cannot be read" in said


def test_a_store_that_cannot_be_made_is_refused(shared: Path, clock: Any) -> None:
    said = as_nobody(lambda: opened(shared.with_name("new.db"), clock))
    assert said.startswith("ConfigError")
    assert "cannot be created" in said
    assert not shared.with_name("new.db").exists()


def test_many_processes_can_make_one_store_at_once(tmp_path: Path, clock: Any) -> None:
    for round_number in range(3):
        path = tmp_path / f"{round_number}.db"
        gate = FORK.Event()
        answers = FORK.Queue()

        def open_it(path: Path = path, gate: Any = gate, answers: Any = answers) -> None:
            gate.wait()
            try:
                ledger = open_ledger(f"sqlite:///{path}", clock=clock)
                answers.put(len(asyncio.run(ledger.heads())))
                asyncio.run(ledger.close())
            except Exception as error:
                answers.put(repr(error))

        workers = [FORK.Process(target=open_it) for _ in range(6)]
        for worker in workers:
            worker.start()
        gate.set()
        assert [answers.get(timeout=30) for _ in workers] == [0] * 6
        for worker in workers:
            worker.join()
        connection = sqlite3.connect(path)
        assert connection.execute("SELECT count(*) FROM toolkeeper_schema").fetchone() == (1,)
        connection.close()
