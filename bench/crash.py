"""Is anything lost or done twice, when workers die?

    python bench/crash.py [--runs 20] [--database sqlite|postgresql|loop ...]

Has a worker die at every boundary that it passes (stages, statements, commits, a tool's effect),
`runs` times at each, on each database, and prints what is left afterwards: one table of points.
`loop` is PostgreSQL where the commits of a call go from the caller's own event loop, as they do in
a worker after its first few calls; `postgresql` where a thread writes. The driver is
`tests/crash/driver.py`; it is run once for each part, as many at a time as there are cores. Needs
`pip install -e ".[test]"`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

DRIVER = Path(__file__).resolve().parents[1] / "tests" / "crash" / "driver.py"
COLUMNS = ("runs", "killed", "duplicate effects", "lost", "stuck", "not taken up", "unreported")
DATABASES = {
    "sqlite": ("--database", "sqlite"),
    "postgresql": ("--database", "postgresql"),
    "loop": ("--database", "postgresql", "--at-home"),
}
ON_THE_LOOP = ("write", "read", "retry", "together", "equal", "delegate")
"""The acts that commit there; what the others do goes to the thread."""

# What must be 0 as well, and has no column of its own.
HIDDEN = ("approvals spent twice", "broken chains")


def main() -> int:
    parser = argparse.ArgumentParser(description="Let workers die, and count what is left.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--database", action="append", choices=DATABASES)
    chosen = parser.parse_args()
    databases = chosen.database or list(DATABASES)
    parts = [
        (database, act)
        for act in _acts()
        for database in databases
        if database != "loop" or act in ON_THE_LOOP
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        told = [
            point
            for points in pool.map(lambda part: _points(*part, chosen.runs), parts)
            for point in points
        ]
    _print(told, databases)
    wrong = [point for point in told if _is_wrong(point)]
    for point in wrong:
        print(json.dumps(point), file=sys.stderr)
    return 1 if wrong else 0


def _acts() -> list[str]:
    done = subprocess.run([sys.executable, str(DRIVER), "--acts"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.split()


def _points(database: str, act: str, runs: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(DRIVER), *DATABASES[database], "--act", act]
    done = subprocess.run([*command, "--runs", str(runs)], capture_output=True, text=True)
    if done.stderr:
        raise SystemExit(done.stderr)
    return [json.loads(line) | {"database": database} for line in done.stdout.splitlines()]


def _is_wrong(point: dict[str, Any]) -> bool:
    return point["killed"] != point["runs"] or any(point[name] for name in (*COLUMNS[2:], *HIDDEN))


def _print(told: Sequence[dict[str, Any]], databases: Sequence[str]) -> None:
    deaths = sum(point["killed"] for point in told)
    order = f" The numbers stand in the order {', '.join(databases)}." if databases[1:] else ""
    print(f"{deaths:,} deaths at {len(told)} points.{order}\n")
    print("| act | point | " + " | ".join(COLUMNS) + " | unknown, reported |")
    print("| --- | --- |" + " ---: |" * (len(COLUMNS) + 1))
    rows: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for point in told:
        rows.setdefault((point["act"], point["point"]), {})[point["database"]] = point
    for (act, name), by_database in rows.items():
        both = [by_database.get(database, {}) for database in databases]
        cells = [
            " / ".join(str(each.get(column, "-")) for each in both)
            for column in (*COLUMNS, "unknown")
        ]
        print(f"| {act} | {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
