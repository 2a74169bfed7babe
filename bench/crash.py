"""Is anything lost or done twice, when workers die?

    python bench/crash.py [--runs 20] [--database sqlite|postgresql ...]

Has a worker die at every boundary that it passes (stages, statements, commits, a tool's effect),
`runs` times at each, on each database, and prints what is left afterwards: one table of points. The
driver is `tests/crash/driver.py`; it is run once for each part, as many at a time as there are
cores. Needs `pip install -e ".[test]"`.
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
# What must be 0 as well, and has no column of its own.
HIDDEN = ("approvals spent twice", "broken chains")


def main() -> int:
    parser = argparse.ArgumentParser(description="Let workers die, and count what is left.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--database", action="append", choices=("sqlite", "postgresql"))
    chosen = parser.parse_args()
    databases = chosen.database or ["sqlite", "postgresql"]
    parts = [(database, act) for act in _acts() for database in databases]
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
    done = subprocess.run(
        [sys.executable, str(DRIVER), "--database", database, "--act", act, "--runs", str(runs)],
        capture_output=True,
        text=True,
    )
    if done.stderr:
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _is_wrong(point: dict[str, Any]) -> bool:
    return point["killed"] != point["runs"] or any(point[name] for name in (*COLUMNS[2:], *HIDDEN))


def _print(told: Sequence[dict[str, Any]], databases: Sequence[str]) -> None:
    deaths = sum(point["killed"] for point in told)
    pairs = " A pair of numbers is SQLite and PostgreSQL." if len(databases) > 1 else ""
    print(f"{deaths:,} deaths at {len(told)} points.{pairs}\n")
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
