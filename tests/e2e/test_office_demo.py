"""The demo tells the truth: its world really changes, and nothing of it stays behind."""

import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

needs_servers = pytest.mark.skipif(
    importlib.util.find_spec("mcp_server_git") is None
    or importlib.util.find_spec("mcp_server_time") is None,
    reason='the MCP servers are not installed: pip install -e ".[demo]"',
)
needs_git = pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed: apt install git"
)

# The configuration of the example names its store.
pytestmark = [pytest.mark.slow, pytest.mark.sqlite_file, needs_servers, needs_git]


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A copy of the example without the world that another run may have left in it."""
    folder = tmp_path / "office"
    shutil.copytree(
        ROOT / "examples" / "office", folder, ignore=shutil.ignore_patterns("world", "__pycache__")
    )
    return folder


# One test, since the demo takes as long as all of them: run in parallel, several would repeat it.
def test_the_demo_tells_the_truth_and_leaves_nothing_behind(office: Path) -> None:
    done = _demo_over_ruins(office)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "Traceback" not in done.stdout
    assert _processes_under(office) == []
    _assert_the_repository_has_the_commit_once(office)
    _assert_the_appointment_moved_and_the_note_is_still_there(office)
    _assert_every_turn_has_its_skip_on_record(office)
    _assert_each_call_is_one_row_under_the_real_name(office)
    _assert_only_what_ran_spent_its_approval(office)
    _assert_the_readme_shows_lines_of_this_plan(done.stdout)


def test_the_demo_says_what_is_missing_where_git_is_not_installed(office: Path) -> None:
    done = subprocess.run(
        [sys.executable, "demo.py"],
        cwd=office,
        env={**os.environ, "PATH": str(office / "nothing-here")},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("\nthe demo failed: the program `git` is not installed")


def _demo_over_ruins(office: Path) -> subprocess.CompletedProcess[str]:
    """The demo, run over what a demo that broke off may have left behind."""
    left = office / "world" / "repository" / ".git"
    left.mkdir(parents=True)
    (left / "index.lock").touch(mode=0o444)
    (office / "world" / "office.db").write_text("not a database", "utf-8")
    (office / "world" / "toolkeeper.db").write_text("not a database either", "utf-8")
    return subprocess.run(
        [sys.executable, "demo.py"],
        cwd=office,
        # A repository handed down by whoever runs the tests is not the demo's.
        env={**os.environ, "GIT_DIR": str(office / "nowhere"), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )


def _assert_the_repository_has_the_commit_once(office: Path) -> None:
    assert _git(office, "log", "--format=%s").splitlines() == [
        "Minutes of the board meeting",
        "Begin the book of minutes",
    ]
    assert _git(office, "show", "--name-only", "--format=", "HEAD").split() == ["minutes.md"]
    assert _git(office, "status", "--porcelain") == ""


def _assert_the_appointment_moved_and_the_note_is_still_there(office: Path) -> None:
    with closing(sqlite3.connect(office / "world" / "office.db")) as store:
        start = store.execute("SELECT start FROM appointments WHERE title = 'Dentist'").fetchone()
        notes = store.execute("SELECT count(*) FROM notes").fetchone()
    assert start == ("2026-12-04T10:00",)
    assert notes == (2,)


def _assert_every_turn_has_its_skip_on_record(office: Path) -> None:
    turns = _objects(office, "audit", "plans", "--skipped")
    assert [turn["turn"] for turn in turns] == [1, 2, 3, 4, 5, 6]
    skipped = {"name": "mcp.git.git_reset", "reason": "index_entries"}
    assert all(turn["skipped_tool_names"] == [skipped] for turn in turns)


def _assert_each_call_is_one_row_under_the_real_name(office: Path) -> None:
    rows = _objects(office, "audit", "calls")
    assert [(row["call_id"], row["tool"], row["outcome"], row["code"]) for row in rows] == [
        ("c1", "calendar.list", "completed", None),
        ("c2", "mcp.git.git_status", "completed", None),
        ("c3", "calendar.move", "refused", "tool.arguments_invalid"),
        ("c4", "calendar.move", "completed", None),
        ("c5", "mcp.git.git_add", "completed", None),
        ("c6", "mcp.git.git_commit", "completed", None),
        ("c7", "mcp.git.git_checkout", "refused", "tool.denied.hardline"),
        ("c8", "mcp.git.git_log", "completed", None),
        ("c9", "notes.delete", "refused", "tool.denied.hardline"),
    ]
    assert {row["state"] for row in rows} == {"settled"}
    assert [row["call_id"] for row in rows if row["advertised_as"] == "definition"] == ["c1", "c2"]


def _assert_only_what_ran_spent_its_approval(office: Path) -> None:
    approvals = _objects(office, "approvals", "list", "--all")
    assert {each["tool"]: each["state"] for each in approvals} == {
        "mcp.git.git_add": "spent",
        "mcp.git.git_commit": "spent",
        "notes.delete": "expired",
    }
    assert {each["decided_by"] for each in approvals} == {"bea"}


def _assert_the_readme_shows_lines_of_this_plan(printed: str) -> None:
    # Tokens are left out of the comparison: they are the estimator's and the servers' affair.
    excerpt = re.search(
        r"```text\n(place .*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert excerpt is not None
    shown = {_without_tokens(line) for line in printed.splitlines()}
    lines = [_without_tokens(line) for line in excerpt[1].splitlines()]
    assert [line for line in lines if line not in shown] == []
    assert {line[0] for line in lines} == {"place", "defined", "deferred", "skipped", "filtered"}


def _objects(office: Path, *words: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "toolkeeper", *words, "--json"],
        cwd=office,
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=120,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _git(office: Path, *words: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(
        ["git", *words],
        cwd=office / "world" / "repository",
        env=environment,
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    ).stdout


def _processes_under(folder: Path) -> list[str]:
    """Command lines of the processes that run in `folder`; none where there is no /proc to ask."""
    found = []
    for entry in Path("/proc").glob("*"):
        if not entry.name.isdigit():
            continue
        try:
            cwd = Path(os.readlink(entry / "cwd"))
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if cwd.is_relative_to(folder):
            found.append(command)
    return found


def _without_tokens(line: str) -> tuple[str, ...]:
    return tuple(word for word in line.split() if not word.isdigit())
