"""Does memory stay flat over 100,000 calls?

    python bench/memory.py [--calls 100000] [--sessions 1] [--trace]

Calls of one process on a SQLite store, with results that are told to the session (its facts and
the index of provenance with them), spread over sessions that come and go. Prints the resident size
after every tenth of the calls, and how much it grew for each 10,000 calls after the first tenth.
With `--trace` the same of what Python has allocated (slower), and where the growth was made.
"""

import argparse
import asyncio
import gc
import itertools
import statistics
import tempfile
import tracemalloc
from pathlib import Path

from durable_office import keeper_on

from toolkeeper import Session
from toolkeeper.runtime.clock import SystemClock
from toolkeeper_contract import Completed
from toolkeeper_ledger import open_ledger

TENTHS = 10
CALLS_OF_A_TURN = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=1, help="over how many the calls go")
    parser.add_argument("--trace", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(watch(Path(folder), given.calls, given.sessions, trace=given.trace))


async def watch(folder: Path, calls: int, sessions: int, *, trace: bool) -> None:
    """Makes the calls and prints what is held in between."""
    clock = SystemClock()
    ledger = open_ledger(f"sqlite:///{folder / 'toolkeeper.db'}", clock=clock)
    sizes: list[float] = []
    began = None
    print(f"{calls:,} calls over {sessions:,} sessions, {CALLS_OF_A_TURN} calls a turn")
    async with keeper_on(ledger) as keeper:
        session = None
        for tenth in range(TENTHS):
            done = calls // TENTHS * tenth
            for first in range(done, done + calls // TENTHS, CALLS_OF_A_TURN):
                if session is None or first % max(calls // sessions, CALLS_OF_A_TURN) == 0:
                    session = await keeper.open_session(agent="chat", user="ana")
                await turn_of(session, first)
            gc.collect()
            if trace and tenth == 0:
                tracemalloc.start(4)
                began = tracemalloc.take_snapshot()
            held = tracemalloc.get_traced_memory()[0] if trace else resident()
            sizes.append(held / 1_000_000)
            print(f"after {done + calls // TENTHS:>9,} calls {sizes[-1]:>10.2f} MB", flush=True)
        if began is not None:
            told(began)
    await ledger.close()
    steps = [later - earlier for earlier, later in itertools.pairwise(sizes[1:])]
    growth = statistics.median(steps) * 10_000 / (calls / TENTHS)
    print(f"growth {growth:+.3f} MB for each 10,000 calls (median of {len(steps)} tenths)")


async def turn_of(session: Session, first: int) -> None:
    """A turn of calls whose arguments and results are never the same twice."""
    turn = await session.begin_turn(f"please make the notes from {first} on")
    for number in range(first, first + CALLS_OF_A_TURN):
        arguments = {"title": f"note {number}", "body": f"by mail{number}@example.com", "tags": []}
        outcome = await turn.call(turn.read(f"c{number}", "notes.add", arguments))
        assert isinstance(outcome, Completed), outcome


def resident() -> int:
    """Bytes of this process that are in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("the size of a process can only be read on Linux; use --trace")


def told(began: tracemalloc.Snapshot) -> None:
    """Prints where most of what is held now and was not held at `began` was made."""
    ended = tracemalloc.take_snapshot()
    for entry in ended.compare_to(began, "lineno")[:12]:
        frame = entry.traceback[0]
        size = f"{entry.size_diff / 1e6:>+9.3f} MB {entry.count_diff:>+9,} blocks"
        print(f"{size}  {Path(frame.filename).name}:{frame.lineno}")


if __name__ == "__main__":
    main()
