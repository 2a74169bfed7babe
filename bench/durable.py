"""How long does a governed call take whose row survives, and how many fit into a second?

    pip install -e ".[bench,postgres]"
    python bench/durable.py [--rounds 3] [--calls 2000] [--postgres URL] [--only NAME]

A call is parsed, unwrapped, resolved, validated, classified, decided by fifty rules, claimed, run
(an async function that does nothing) and settled, through `Turn.call`. LangGraph with its savers
and DBOS make the same tool call a durable step in the same run, and SQLAlchemy alone writes one row
before the call and changes it afterwards; each measurement in a process of its own, one after
another in every round. Prints medians over the rounds: microseconds of a call with one caller, and
calls a second with eight. The PostgreSQL server is a private one that syncs every commit to disk,
unless `--postgres` names another.
"""

import argparse
import asyncio
import contextlib
import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import durable_peers
from durable_office import ARGUMENTS, keeper_on

from toolkeeper.runtime.clock import SystemClock
from toolkeeper_contract import Completed, Ledger
from toolkeeper_ledger import MemoryLedger, open_ledger

HERE = Path(__file__).resolve().parent
WARM_UP = 100


@dataclass(frozen=True, slots=True)
class Case:
    """A system on a store (`memory`, `sqlite`, `postgres`) that synchronises in a mode."""

    system: str
    store: str
    mode: str = ""
    share: float = 1.0
    """Of the calls that are made with ours: a slow one needs fewer for its median."""


CASES = (
    Case("toolkeeper", "memory", share=2),
    Case("toolkeeper", "sqlite", "NORMAL"),
    Case("row alone", "sqlite", "NORMAL"),
    Case("LangGraph", "sqlite", "NORMAL", share=0.25),
    Case("toolkeeper", "sqlite", "FULL"),
    Case("row alone", "sqlite", "FULL"),
    Case("LangGraph", "sqlite", "FULL", share=0.25),
    Case("DBOS", "sqlite", share=0.15),
    Case("toolkeeper", "postgres"),
    Case("row alone", "postgres", share=0.5),
    Case("LangGraph", "postgres", share=0.25),
    Case("DBOS", "postgres", share=0.15),
)
PEERS = {
    "row alone": durable_peers.row_alone,
    "LangGraph": durable_peers.langgraph,
    "DBOS": durable_peers.dbos,
}
NEEDS = {"LangGraph": "langgraph", "DBOS": "dbos"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--only", metavar="NAME", help="a system or a store")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        system, store, mode, callers, calls = given.one
        print(*measured(system, store, mode, int(callers), int(calls)))
        return
    with contextlib.ExitStack() as stack:
        cases = [
            case
            for case in CASES
            if given.only in (None, case.system, case.store) and _is_there(case.system)
        ]
        server = given.postgres
        if server is None and any(case.store == "postgres" for case in cases):
            server = stack.enter_context(private_server())
            if server is None:
                cases = [case for case in cases if case.store != "postgres"]
        report(cases, given.rounds, given.calls, server)


def report(cases: list[Case], rounds: int, calls: int, server: str | None) -> None:
    """Measures every case in each of the rounds, and prints the table."""
    alone: dict[Case, list[float]] = {case: [] for case in cases}
    together: dict[Case, list[float]] = {case: [] for case in cases}
    for number in range(rounds):
        for case in cases:
            store = (server or "") if case.store == "postgres" else case.store
            many = int(calls * case.share)
            alone[case].append(in_process(case, store, 1, many, number)[0])
            together[case].append(in_process(case, store, 8, many, number)[1])
    print(f"{rounds} rounds of {calls:,} calls; one caller: us a call; 8 callers: calls a second")
    print(f"{'':<12}{'store':<18}{'one caller':>12}{'8 callers':>12}")
    for case in cases:
        where = f"{case.store} {case.mode}".strip()
        first, second = statistics.median(alone[case]), statistics.median(together[case])
        print(f"{case.system:<12}{where:<18}{first:>9,.0f} us{second:>10,.0f}/s")


def in_process(
    case: Case, store: str, callers: int, calls: int, number: int
) -> tuple[float, float]:
    """What `measured` gives, in a process of its own."""
    command = [sys.executable, str(HERE / "durable.py"), "--one"]
    done = subprocess.run(
        [*command, case.system, store, case.mode, str(callers), str(calls)],
        capture_output=True,
        text=True,
        cwd=HERE.parent,
    )
    if done.returncode != 0:
        raise SystemExit(f"{case.system} on {case.store} failed:\n{done.stderr}")
    median, rate = done.stdout.split()[-2:]
    return float(median), float(rate)


def measured(system: str, store: str, mode: str, callers: int, calls: int) -> tuple[float, float]:
    """Median microseconds of a call, and calls a second."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if store.startswith("postgresql:"):
            store = stack.enter_context(database_of_its_own(store))
        if system in PEERS:
            return PEERS[system](store, mode, callers, calls, Path(folder))
        return asyncio.run(governed(store, mode, callers, calls, Path(folder)))


async def governed(
    store: str, mode: str, callers: int, calls: int, folder: Path
) -> tuple[float, float]:
    """The same of our own: `callers` sessions in one process, each with one call at a time."""
    clock = SystemClock()
    if store == "memory":
        ledger: Ledger = MemoryLedger(clock)
    elif store == "sqlite":
        url = f"sqlite:///{folder / 'toolkeeper.db'}"
        ledger = open_ledger(url, clock=clock, synchronous=mode)
    else:
        ledger = open_ledger(store, clock=clock)
    took: list[float] = []
    async with keeper_on(ledger) as keeper:

        async def call_often(many: int) -> None:
            session = await keeper.open_session(agent="chat", user="ana")
            turn = await session.begin_turn("please make some notes")
            for number in range(many):
                began = time.perf_counter()
                outcome = await turn.call(turn.read(f"c{number}", "notes.add", ARGUMENTS))
                took.append(time.perf_counter() - began)
                assert isinstance(outcome, Completed), outcome

        await asyncio.gather(*(call_often(WARM_UP // callers) for _ in range(callers)))
        took.clear()
        began = time.perf_counter()
        await asyncio.gather(*(call_often(calls // callers) for _ in range(callers)))
        whole = time.perf_counter() - began
    await ledger.close()
    return statistics.median(took) * 1e6, len(took) / whole


@contextlib.contextmanager
def private_server() -> Iterator[str | None]:
    """The address of a server that syncs to disk as one in use does; None where there is none."""
    spec = importlib.util.spec_from_file_location(
        "postgres_cluster", HERE.parent / "tests" / "postgres_cluster.py"
    )
    assert spec is not None
    assert spec.loader is not None
    cluster = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cluster)
    binaries = cluster.find_binaries()
    if binaries is None:
        print("without PostgreSQL: there is no server to start", file=sys.stderr)
        yield None
        return
    durable = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
    with cluster.PostgresCluster(binaries, **durable) as server:
        yield server.url()


@contextlib.contextmanager
def database_of_its_own(server: str) -> Iterator[str]:
    """The address of a new database on `server`, dropped at the end."""
    import psycopg

    name = f"bench_{time.time_ns()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _is_there(system: str) -> bool:
    package = NEEDS.get(system)
    if package is None or importlib.util.find_spec(package) is not None:
        return True
    print(f"without {system}: it is not installed", file=sys.stderr)
    return False


if __name__ == "__main__":
    main()
