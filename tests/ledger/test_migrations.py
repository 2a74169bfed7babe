"""A store of an older version becomes one of this version, whole, or stays what it was."""

import asyncio
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, event

from toolkeeper_contract import ApprovalState, Code, ConfigError, RunError, State
from toolkeeper_ledger import VERSION, SqlLedger, open_ledger, verify
from toolkeeper_ledger.migrating import climb
from toolkeeper_ledger.migrations import STEPS
from toolkeeper_ledger.schema import metadata

FORK = multiprocessing.get_context("fork")
STORES = Path(__file__).parent / "stores"


@pytest.fixture
def old(tmp_path: Path, old_store: ModuleType) -> Path:
    """A store of version 1 with something in every table."""
    path = tmp_path / "ledger.db"
    old_store.make_old(path)
    return path


def opened(path: Path, clock: Any, **options: Any) -> SqlLedger:
    return open_ledger(f"sqlite:///{path}", clock=clock, **options)


def content(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    lines = list(connection.iterdump())
    connection.close()
    return lines


def in_memory() -> Engine:
    return create_engine("sqlite://")


def test_the_steps_together_come_to_the_tables_of_this_version(old_store: ModuleType) -> None:
    with in_memory().connect() as climbed, in_memory().connect() as created:
        climb(climbed, 0, VERSION)
        metadata.create_all(created)
        assert old_store.tables(climbed) == old_store.tables(created)
        # A difference means that `schema.py` changed: that needs a step, and a new VERSION where
        # the last one was released.
        assert compare_metadata(MigrationContext.configure(climbed), metadata) == []


def test_every_version_has_its_step() -> None:
    assert list(STEPS) == list(range(1, VERSION + 1))


def test_the_first_step_makes_the_tables_of_the_first_release(
    old: Path, old_store: ModuleType
) -> None:
    with (
        in_memory().connect() as climbed,
        create_engine(f"sqlite:///{old}").connect() as released,
    ):
        climb(climbed, 0, 1)
        assert old_store.tables(climbed) == old_store.tables(released)


def test_an_older_store_is_brought_up_to_date_with_all_that_it_holds(old: Path, clock: Any) -> None:
    before = rows(old)
    ledger = opened(old, clock)
    assert versions(old) == [1, VERSION]
    after = rows(old)
    for table, lines in before.items():
        shared = [key for key in lines[0] if key in after[table][0]] if lines else []
        assert shared == (list(lines[0]) if lines else [])
        assert [{key: line[key] for key in shared} for line in after[table]] == lines
    with create_engine(f"sqlite:///{old}").connect() as upgraded:
        assert compare_metadata(MigrationContext.configure(upgraded), metadata) == []

    async def read() -> None:
        for head in await ledger.heads():
            assert verify(await ledger.events(head.session_id), head) is None
        states = {approval.state for approval in await ledger.approvals(pending_only=False)}
        assert states == set(ApprovalState)
        calls = await ledger.invocations()
        assert len(calls) == 14
        assert {call.state for call in calls} == set(State)
        assert {(call.grant_id, call.attempts) for call in calls} == {(None, 0)}
        handle = next(call for call in calls if call.handle)
        session = await ledger.session(handle.session_id)
        assert session is not None
        kept = await ledger.kept_result(
            str(handle.handle), session_id=session.session_id, user="ana", agent="helper"
        )
        assert kept is not None
        assert "one loaf of bread" in kept.text
        assert (kept.data, kept.mime_type) == (None, None)
        assert [tool.name for tool in await ledger.accepted_tools()] == [
            "mcp.saved.find",
            "mcp.saved.hours",
        ]
        await ledger.close()

    asyncio.run(read())


def test_a_store_of_version_2_is_brought_up_to_date_and_answers_as_before(
    tmp_path: Path, clock: Any, old_store: ModuleType
) -> None:
    path = tmp_path / "ledger.db"
    old_store.make_version_2(path)
    before = rows(path)
    with pytest.raises(ConfigError) as failure:
        opened(path, clock, read_only=True)
    assert "version 2" in failure.value.message
    ledger = opened(path, clock)
    assert versions(path) == [1, 2, VERSION]
    assert rows(path) == before
    with create_engine(f"sqlite:///{path}").connect() as upgraded:
        assert compare_metadata(MigrationContext.configure(upgraded), metadata) == []

    async def read() -> None:
        calls = before["invocations"]
        for session in {call["session_id"] for call in calls}:
            own = [call["invocation_id"] for call in calls if call["session_id"] == session]
            assert [row.invocation_id for row in await ledger.invocations(session)] == own
        for call in calls:
            told = await ledger.events(invocation_id=call["invocation_id"])
            assert [record.hash for record in told] == [
                event["hash"]
                for event in before["events"]
                if event["invocation_id"] == call["invocation_id"]
            ]
        counted = (await ledger.backlog(clock.now())).calls
        settled = [call["outcome"] for call in calls if call["state"] == "settled"]
        assert counted == {outcome: settled.count(outcome) for outcome in settled}
        assert len(await ledger.grants()) == 1
        await ledger.close()

    asyncio.run(read())


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    found = {
        name: [dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1")]
        for name in names
        if name != "toolkeeper_schema"
    }
    connection.close()
    return found


def versions(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    found = [row[0] for row in connection.execute("SELECT version FROM toolkeeper_schema")]
    connection.close()
    return sorted(found)


def test_a_call_that_an_older_release_parked_is_resumed(
    tmp_path: Path, old_store: ModuleType
) -> None:
    shutil.copytree(STORES / "version_1", tmp_path, dirs_exist_ok=True)
    (tmp_path / "toolkeeper.db.key").chmod(0o600)
    old_store.make_old(tmp_path / "toolkeeper.db")

    def verb(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "toolkeeper", *words],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    verb("resume", "--all")
    assert (tmp_path / "world.txt").read_text("utf-8") == "eggs with tok-eggs-12345\n"
    connection = sqlite3.connect(tmp_path / "toolkeeper.db")
    (pending,) = connection.execute(
        "SELECT approval_id FROM approvals WHERE state = 'pending'"
    ).fetchone()
    connection.close()
    verb("approvals", "approve", pending, "--as", "bea")
    verb("resume", pending)
    assert "tea with tok-tea-12345" in (tmp_path / "world.txt").read_text("utf-8")


def test_an_older_store_that_is_only_read_says_what_to_do(old: Path, clock: Any) -> None:
    before = old.read_bytes()
    with pytest.raises(ConfigError) as failure:
        opened(old, clock, read_only=True)
    assert "version 1" in failure.value.message
    assert "toolkeeper store upgrade" in str(failure.value.hint)
    assert old.read_bytes() == before
    assert list(old.parent.iterdir()) == [old]


def statements_of_an_upgrade(clock: Any, folder: Path, old_store: ModuleType) -> int:
    folder.mkdir()
    path = folder / "counted.db"
    old_store.make_old(path)
    count = 0

    def counted(*_: Any) -> None:
        nonlocal count
        count += 1

    event.listen(Engine, "before_cursor_execute", counted)
    try:
        asyncio.run(opened(path, clock).close())
    finally:
        event.remove(Engine, "before_cursor_execute", counted)
    return count


def at_statement(number: int, then: Any) -> None:
    """Does `then` when the process is about to run its `number`th statement."""
    count = 0

    def counted(*_: Any) -> None:
        nonlocal count
        count += 1
        if count == number:
            then()

    event.listen(Engine, "before_cursor_execute", counted)


def test_a_process_that_is_killed_while_it_upgrades_leaves_the_old_store(
    tmp_path: Path, clock: Any, old_store: ModuleType
) -> None:
    whole = statements_of_an_upgrade(clock, tmp_path / "counted", old_store)
    assert whole > 15
    for number in range(1, whole + 1):
        path = tmp_path / f"{number}.db"
        old_store.make_old(path)
        before = content(path)

        def die(path: Path = path, number: int = number) -> None:
            at_statement(number, lambda: os.kill(os.getpid(), signal.SIGKILL))
            opened(path, clock)

        process = FORK.Process(target=die)
        process.start()
        process.join(30)
        assert process.exitcode == -signal.SIGKILL
        assert content(path) == before
        # And the next one finds nothing in its way.
        asyncio.run(opened(path, clock).close())
        assert versions(path) == [1, VERSION]


def test_an_upgrade_that_fails_leaves_the_old_store(old: Path, clock: Any) -> None:
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE grants (mine TEXT)")
    connection.close()
    before = content(old)
    with pytest.raises((ConfigError, RunError)) as failure:
        opened(old, clock)
    assert "grants" not in str(failure.value)
    assert content(old) == before


def test_an_upgrade_on_a_full_disk_says_so_and_leaves_the_old_store(
    old: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(old)
    connect = sqlite3.connect

    def full(*arguments: Any, **options: Any) -> sqlite3.Connection:
        made = connect(*arguments, **options)
        (pages,) = made.execute("PRAGMA page_count").fetchone()
        made.execute(f"PRAGMA max_page_count = {pages}")
        return made

    monkeypatch.setattr("toolkeeper_ledger.sqlite_database.sqlite3.connect", full)
    with pytest.raises(RunError) as failure:
        opened(old, clock)
    assert failure.value.code is Code.LEDGER_UNAVAILABLE
    assert "disk is full" in failure.value.message
    monkeypatch.undo()
    assert content(old) == before
    asyncio.run(opened(old, clock).close())
    assert versions(old) == [1, VERSION]


def test_an_upgrade_that_may_not_write_says_so(old: Path, clock: Any, tmp_path: Path) -> None:
    before = old.read_bytes()

    def child(pipe: Any) -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            opened(old, clock)
            pipe.send("opened")
        except ConfigError as error:
            pipe.send(error.message)

    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005 and folder.owner() == tmp_path.owner():
            folder.chmod(folder.stat().st_mode | 0o005)
        if folder.name.startswith("pytest-of"):
            break
    old.chmod(0o444)
    tmp_path.chmod(0o555)
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=child, args=(theirs,))
    process.start()
    assert ours.poll(20)
    assert "cannot be written" in ours.recv()
    process.join()
    assert old.read_bytes() == before


def test_many_processes_can_upgrade_one_store_at_once(
    tmp_path: Path, clock: Any, old_store: ModuleType
) -> None:
    for number in range(3):
        path = tmp_path / f"{number}.db"
        old_store.make_old(path)
        gate = FORK.Event()
        answers = FORK.Queue()

        def open_it(path: Path = path, gate: Any = gate, answers: Any = answers) -> None:
            gate.wait()
            try:
                ledger = opened(path, clock)
                answers.put(len(asyncio.run(ledger.heads())))
                asyncio.run(ledger.close())
            except Exception as error:
                answers.put(repr(error))

        workers = [FORK.Process(target=open_it) for _ in range(5)]
        for worker in workers:
            worker.start()
        gate.set()
        assert [answers.get(timeout=30) for _ in workers] == [4] * 5
        for worker in workers:
            worker.join()
        assert versions(path) == [1, VERSION]


def test_a_store_that_a_newer_release_upgrades_meanwhile_is_left_alone(
    old: Path, clock: Any, make: Any
) -> None:
    ledger, reader = opened(old, clock), opened(old, clock, read_only=True)
    assert len(asyncio.run(ledger.heads())) == 4
    newer = sqlite3.connect(old)
    newer.execute("CREATE TABLE later (x TEXT)")
    newer.commit()
    # Some other change of the tables is nothing to stop for.
    assert len(asyncio.run(ledger.heads())) == 4
    assert asyncio.run(reader.session("ses_new")) is None
    newer.execute("ALTER TABLE sessions ADD COLUMN later TEXT")
    newer.execute(f"INSERT INTO toolkeeper_schema VALUES ({VERSION + 1}, '')")
    newer.commit()
    before = content(old)
    for ask in (
        lambda: ledger.open_session(make.a_session("ses_new"), []),
        ledger.heads,
        reader.heads,
        lambda: ledger.session("ses_new"),
        lambda: reader.session("ses_new"),
    ):
        with pytest.raises(RunError) as failure:
            asyncio.run(ask())
        assert failure.value.code is Code.LEDGER_UNAVAILABLE
        assert "newer toolkeeper" in failure.value.message
    assert content(old) == before
    # Nor is it read when what is asked for is not even there any more.
    newer.execute("ALTER TABLE sessions RENAME COLUMN agent TO later_agent")
    newer.commit()
    for one in (ledger, reader):
        with pytest.raises(RunError) as failure:
            asyncio.run(one.session("ses_new"))
        assert "newer toolkeeper" in failure.value.message
    newer.close()
    asyncio.run(ledger.close())
    asyncio.run(reader.close())


def test_a_store_of_this_version_is_opened_without_alembic(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from toolkeeper.runtime.clock import SystemClock\n"
        "from toolkeeper_ledger import open_ledger\n"
        "for _ in range(2):\n"
        "    asyncio.run(open_ledger('sqlite:///new.db', clock=SystemClock()).close())\n"
        "print([name for name in sys.modules if name.startswith('alembic')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert done.stdout == "[]\n", done.stderr
