"""Do the counts add up after 20,000 calls by 8 clients on 4 workers that are killed in between?

    python bench/soak.py [--calls 20000] [--kills 20] [--store postgres|sqlite]

A quarter of the calls is asked about: some are approved by an approver in a process of its own,
some denied, some left to expire. Workers die by SIGKILL and are started again; clients that hear
nothing ask the next worker the same again, under the same key. Prints what is left, and every sum
that does not add up: rows, effects in a file outside, approvals, chains. The server is private and
syncs every commit to disk.
"""

import argparse
import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path

from durable import database_of_its_own, private_server

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "soak"))

from soak_run import Count, soak
from soak_scene import SoakScene

WORKERS, CLIENTS = 4, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--store", choices=("postgres", "sqlite"), default="postgres")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        url = f"sqlite:///{folder}/toolkeeper.db"
        if given.store == "postgres":
            server = stack.enter_context(private_server())
            if server is None:
                raise SystemExit(1)
            url = stack.enter_context(database_of_its_own(server))
        scene = SoakScene(Path(folder), url, lease=5.0, expiry=30.0)
        count = asyncio.run(
            soak(scene, calls=given.calls, workers=WORKERS, clients=CLIENTS, kills=given.kills)
        )
    report(count, given.store)
    sys.exit(1 if count.faults else 0)


def report(count: Count, store: str) -> None:
    """Prints the counts."""
    print(
        f"{count.calls:,} calls by {CLIENTS} clients on {WORKERS} workers, {store}, "
        f"{count.seconds:,.0f} s, {count.calls / count.seconds:,.0f} calls a second"
    )
    rows = {
        "workers killed": count.kills,
        "calls asked again": count.repeats,
        "  after their approval had run out": count.anew,
        "  after they were refused": count.refused_again,
        "rows": sum(count.outcomes.values()),
        **{f"  {name}": many for name, many in sorted(count.outcomes.items())},
        "writes of unknown outcome, reported": count.unknown,
        "approvals asked": sum(count.approvals.values()),
        **{f"  {name}": many for name, many in sorted(count.approvals.items())},
        "effects": sum(count.effects.values()),
        **{f"  {name}": many for name, many in sorted(count.effects.items())},
        "events in chains that verify": count.events,
        "sums that do not add up": len(count.faults),
    }
    for name, many in rows.items():
        print(f"{name:<40}{many:>9,}")
    for fault in count.faults:
        print(f"  {fault}")


if __name__ == "__main__":
    main()
