"""Several processes on one store: one wins, nothing is lost, and what was committed stays."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import create_engine

from toolkeeper_contract import ApprovalState, State
from toolkeeper_ledger import open_ledger, verify

WORKER = Path(__file__).with_name("worker.py")


class Worker:
    """A process that does one thing at the store when it is told to go."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def say(self, word: str = "go") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def start() -> Iterator[Any]:
    workers: list[Worker] = []

    def begin(*arguments: str) -> Worker:
        workers.append(Worker(*arguments))
        return workers[-1]

    yield begin
    for worker in workers:
        worker.end()


def together(workers: list[Worker]) -> list[Any]:
    """What each worker prints, after all are ready and told to go."""
    assert [worker.line() for worker in workers] == ["ready"] * len(workers)
    for worker in workers:
        worker.say()
    return [json.loads(worker.line()) for worker in workers]


def test_groups_that_share_sessions_never_wait_for_each_other_in_a_ring(
    postgres_store: str, clock: Any, make: ModuleType, start: Any
) -> None:
    rounds, many = 60, 6
    ledger = open_ledger(postgres_store, clock=clock)
    for number in range(many):
        make.begin(ledger, f"ses_{number}", f"run_{number}")
    workers = [start("share", postgres_store, str(rounds), str(many), n) for n in ("one", "two")]
    assert together(workers) == [[True] * rounds * many] * 2
    for worker in workers:
        worker.process.wait()
    rows = asyncio.run(ledger.invocations())
    assert Counter(row.state for row in rows) == {State.SETTLED: 2 * rounds * many}
    for head in asyncio.run(ledger.heads()):
        assert verify(asyncio.run(ledger.events(head.session_id)), head) is None
    asyncio.run(ledger.close())
    engine = create_engine(postgres_store.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert connection.exec_driver_sql(query).scalar() == 0
    engine.dispose()


@pytest.mark.parametrize("who", ["same call", "equal calls"])
def test_two_processes_that_claim_one_approval_run_it_once(
    any_store: str, clock: Any, make: ModuleType, start: Any, who: str
) -> None:
    rounds = 100
    ledger = open_ledger(any_store, clock=clock)
    make.begin(ledger)
    desk = make.Desk(ledger, clock)
    for number in range(rounds):
        desk.park(f"inv_{number}", f"apr_{number}")
        desk.approve(f"apr_{number}")
    workers = [start("claim", any_store, str(rounds), who, name) for name in ("a", "b")]
    first, second = together(workers)
    assert [one + other for one, other in zip(first, second, strict=True)] == [1] * rounds
    approvals = desk.wait(ledger.approvals(pending_only=False))
    assert {approval.state for approval in approvals} == {ApprovalState.SPENT}
    running = [r for r in desk.wait(ledger.invocations()) if r.state is State.RUNNING]
    assert sorted(row.invocation_id for row in running) == sorted(
        approval.spent_by for approval in approvals
    )
    told = Counter(record.event.name for record in desk.wait(ledger.events()))
    assert told["call.claimed"] == rounds
    assert told["call.superseded"] == (rounds if who == "equal calls" else 0)
    (head,) = desk.wait(ledger.heads())
    assert verify(desk.wait(ledger.events("ses_1")), head) is None
    desk.wait(ledger.close())


def test_two_processes_that_answer_one_approval_decide_it_once(
    any_store: str, clock: Any, make: ModuleType, start: Any
) -> None:
    rounds = 50
    ledger = open_ledger(any_store, clock=clock)
    make.begin(ledger)
    desk = make.Desk(ledger, clock)
    for number in range(rounds):
        desk.park(f"inv_{number}", f"apr_{number}")
    workers = [
        start("answer", any_store, str(rounds), state, state) for state in ("approved", "denied")
    ]
    yes, no = together(workers)
    assert [one + other for one, other in zip(yes, no, strict=True)] == [1] * rounds
    for number in range(rounds):
        assert desk.state_of(f"apr_{number}") == ("approved" if yes[number] else "denied")
    desk.wait(ledger.close())


def test_sessions_that_append_at_once_lose_no_event(
    any_store: str, clock: Any, make: ModuleType, start: Any
) -> None:
    ledger = open_ledger(any_store, clock=clock)
    make.begin(ledger, "ses_1", "run_1")
    make.begin(ledger, "ses_2", "run_2")
    plan = [("ses_1", "a"), ("ses_1", "b"), ("ses_2", "c")]
    workers = [start("append", any_store, "30", session, name) for session, name in plan]
    written = together(workers)
    assert [sum(one) for one in written] == [30] * 3
    heads = asyncio.run(ledger.heads())
    assert [(head.session_id, head.seq) for head in heads] == [("ses_1", 62), ("ses_2", 32)]
    for head in heads:
        events = asyncio.run(ledger.events(head.session_id))
        assert verify(events, head) is None
    own = [r.event.data["by"] for r in asyncio.run(ledger.events("ses_1"))[2:]]
    assert Counter(own) == {"a": 30, "b": 30}
    asyncio.run(ledger.close())


@pytest.mark.parametrize("point", ["before", "claimed", "inside", "settled"])
def test_a_killed_process_keeps_what_it_had_committed_and_no_more(
    any_store: str, clock: Any, make: ModuleType, start: Any, tmp_path: Path, point: str
) -> None:
    ledger = open_ledger(any_store, clock=clock)
    make.begin(ledger)
    asyncio.run(ledger.close())
    worker = start("die", any_store, "1", point, "a")
    assert worker.line() == "ready"
    worker.say()
    assert worker.line() == "at the point"
    worker.process.send_signal(signal.SIGKILL)
    assert worker.process.wait() == -signal.SIGKILL

    ledger = open_ledger(any_store, clock=clock)
    row = asyncio.run(ledger.invocation("inv_1"))
    told = [record.event.name for record in asyncio.run(ledger.events("ses_1"))][2:]
    if point == "before":
        assert (row, told) == (None, [])
    elif point == "settled":
        assert row is not None
        assert (row.state, told) == (State.SETTLED, ["call.claimed", "call.settled"])
    else:
        assert row is not None
        assert (row.state, told) == (State.RUNNING, ["call.claimed"])
    (head,) = asyncio.run(ledger.heads())
    assert verify(asyncio.run(ledger.events("ses_1")), head) is None
    asyncio.run(ledger.reap(make.LEASE))
    left = asyncio.run(ledger.invocations())
    assert [r.state for r in left] == ([] if point == "before" else [State.SETTLED])
    asyncio.run(ledger.close())
    if any_store.startswith("sqlite"):
        connection = sqlite3.connect(tmp_path / "ledger.db")
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
