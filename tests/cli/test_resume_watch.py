"""`toolkeeper resume --watch`: a worker that runs what is answered, as soon as it is."""

import json
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

Desktop = Any

UPDATE = "{id: c1, tool: schedule.update, arguments: {id: 1}}"
THREE = (
    "[{id: a, tool: schedule.update, arguments: {id: 1}},"
    " {id: b, tool: schedule.update, arguments: {id: 2}},"
    " {id: c, tool: schedule.update, arguments: {id: 3}}]"
)


@pytest.fixture
def workers(desktop: Desktop) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate(timeout=30)


def worker(desktop: Desktop, workers: list[subprocess.Popen[str]]) -> subprocess.Popen[str]:
    workers.append(desktop.start("resume", "--watch", "--json"))
    return workers[-1]


def next_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line: dict[str, Any] = json.loads(process.stdout.readline())
    return line


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert err == ""
    return process.returncode, out


def test_a_worker_runs_a_call_as_soon_as_another_process_approves_it(
    desktop: Desktop, workers: list[subprocess.Popen[str]]
) -> None:
    (line,) = desktop.play(UPDATE).lines
    process = worker(desktop, workers)
    assert desktop.toolkeeper("approvals", "approve", line["approval_id"]).code == 0
    done = next_line(process)
    assert (done["invocation_id"], done["outcome"]) == (line["invocation_id"], "completed")
    assert desktop.world == ["updated 1"]
    assert ended(process) == (0, "")


def test_a_worker_tells_a_call_that_was_asked_about_while_it_watched(
    desktop: Desktop, workers: list[subprocess.Popen[str]]
) -> None:
    first, second, third = (line["approval_id"] for line in desktop.play(THREE).lines)
    process = worker(desktop, workers)
    desktop.toolkeeper("approvals", "deny", second, "--reason", "not on a friday")
    assert next_line(process)["code"] == "tool.approval.rejected"
    desktop.toolkeeper("approvals", "approve", first)
    assert next_line(process)["call_id"] == "a"
    (later,) = desktop.play(UPDATE).lines
    desktop.toolkeeper("approvals", "approve", later["approval_id"])
    assert next_line(process)["invocation_id"] == later["invocation_id"]
    assert ended(process) == (0, "")
    waiting = desktop.toolkeeper("approvals", "list", "--json").lines
    assert [each["approval_id"] for each in waiting] == [third]


def test_two_workers_run_a_call_once(
    desktop: Desktop, workers: list[subprocess.Popen[str]]
) -> None:
    lines = desktop.play(THREE).lines
    for line in lines:
        desktop.toolkeeper("approvals", "approve", line["approval_id"])
    both = [worker(desktop, workers), worker(desktop, workers)]
    desktop.wait_for(lambda: len(desktop.world) == 3)
    told = [json.loads(line) for process in both for line in ended(process)[1].splitlines()]
    assert sorted(desktop.world) == ["updated 1", "updated 2", "updated 3"]
    finished = {line["invocation_id"] for line in told if line["outcome"] == "completed"}
    assert finished == {line["invocation_id"] for line in lines}


GATE = '''
import asyncio
from pathlib import Path

from toolkeeper import tool

HERE = Path(__file__).parent


@tool(name="gate.pass", side_effect="workspace_write")
async def pass_() -> str:
    """Wait at the gate until it opens."""
    (HERE / "waits.txt").touch()
    while not (HERE / "open.txt").exists():
        await asyncio.sleep(0.02)
    return "passed"


TOOLS = [pass_]
'''


def test_what_runs_at_the_signal_comes_to_its_end(
    desktop: Desktop, workers: list[subprocess.Popen[str]]
) -> None:
    desktop.write("gate.py", GATE)
    desktop.configure(
        ('functions: ["tools:TOOLS"]', 'functions: ["tools:TOOLS", "gate:TOOLS"]'),
        ("tools: [schedule.list", "tools: [gate.pass, schedule.list"),
    )
    (line,) = desktop.play("{id: c1, tool: gate.pass}").lines
    process = worker(desktop, workers)
    desktop.toolkeeper("approvals", "approve", line["approval_id"])
    desktop.wait_for((desktop.folder / "waits.txt").exists)
    process.send_signal(signal.SIGTERM)
    desktop.write("open.txt", "")
    code, out = ended(process)
    assert code == 0
    assert json.loads(out)["outcome"] == "completed"


def test_a_worker_says_once_what_is_in_the_way(
    desktop: Desktop, workers: list[subprocess.Popen[str]]
) -> None:
    (line,) = desktop.play(UPDATE).lines
    desktop.toolkeeper("approvals", "approve", line["approval_id"])
    desktop.configure(("  chat:", "  other:"))
    process = worker(desktop, workers)
    assert process.stderr is not None
    assert "stays parked" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")
    assert desktop.world == []


@pytest.mark.parametrize("words", [(), ("--all", "--watch"), ("apr_1", "--watch")])
def test_one_way_to_say_what_to_resume(desktop: Desktop, words: tuple[str, ...]) -> None:
    told = desktop.toolkeeper("resume", *words)
    assert told.code == 2
    assert "`--watch`" in told.err
