"""The command as a program: its exit codes, its streams, and how it is interrupted."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Desktop = Any


def test_no_words_print_help_as_a_mistake_and_help_prints_it_as_an_answer(
    desktop: Desktop,
) -> None:
    bare = desktop.toolkeeper()
    asked = desktop.toolkeeper("--help")
    assert (bare.code, bare.out) == (2, "")
    assert (asked.code, asked.err) == (0, "")
    assert "Usage: toolkeeper" in bare.err
    for verb in ("plan", "run", "call", "approvals", "resume", "audit", "tools", "schema"):
        assert f"  {verb} " in asked.out
    assert desktop.toolkeeper("--version").out.startswith("toolkeeper ")


def test_the_module_and_the_console_script_are_the_same_command(desktop: Desktop) -> None:
    script = Path(sys.executable).with_name("toolkeeper")
    if not script.exists():
        pytest.skip("the console script is not installed beside this python")
    for words in (["approvals", "--help"], ["plan"]):
        done = subprocess.run(
            [script, *words], cwd=desktop.folder, capture_output=True, text=True, timeout=60
        )
        module = desktop.process(*words)
        assert (done.returncode, done.stdout, done.stderr) == (module.code, module.out, module.err)


@pytest.mark.sqlite_file
def test_relative_paths_count_from_the_file_that_names_them(
    desktop: Desktop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    config = os.path.relpath(desktop.folder / "toolkeeper.yaml", elsewhere)
    desktop.write(
        "session.yaml", "agent: chat\nturns:\n  - calls: [{id: c, tool: schedule.list}]\n"
    )
    script = os.path.relpath(desktop.folder / "session.yaml", elsewhere)
    ran = desktop.process("run", script, "-c", config, "--json", cwd=elsewhere)
    assert ran.code == 0
    assert list(elsewhere.iterdir()) == []
    assert (desktop.folder / "toolkeeper.db").exists()
    assert desktop.process("audit", "calls", "-c", config, "--json", cwd=elsewhere).lines


def test_a_reader_that_has_seen_enough_is_no_fault_to_tell(desktop: Desktop) -> None:
    desktop.play("\n".join("{id: c, tool: schedule.list}" for _ in range(40)))
    for words in (("audit", "events", "--json"), ("audit", "calls"), ("schema",)):
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-m", "toolkeeper", *words],
            cwd=desktop.folder,
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(writing)
        os.close(reading)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (1, "")


def test_an_interrupted_run_writes_down_what_was_going_on(desktop: Desktop) -> None:
    desktop.write(
        "session.yaml",
        "agent: chat\nturns:\n  - calls:\n"
        "      - {id: c1, tool: schedule.list}\n"
        "      - {id: c2, tool: slow.read, arguments: {seconds: 60}}\n"
        "      - {id: c3, tool: schedule.list}\n",
    )
    process = desktop.start("run", "session.yaml", "--json")
    desktop.wait_for(lambda: (desktop.folder / "started.txt").exists())
    process.send_signal(signal.SIGINT)
    ended = desktop.ended(process)
    assert ended.code == 130
    assert ended.err == "interrupted\n"
    assert [line["call_id"] for line in ended.lines] == ["c1"]
    rows = desktop.toolkeeper("audit", "calls", "--json").lines
    assert [(row["call_id"], row["state"], row["outcome"]) for row in rows] == [
        ("c1", "settled", "completed"),
        ("c2", "settled", "failed"),
    ]


def test_a_fault_of_ours_is_told_without_a_traceback(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise ZeroDivisionError("the words of a library")

    monkeypatch.setattr("toolkeeper.runtime.keeper.Toolkeeper.from_config", fail)
    ended = desktop.toolkeeper("plan", "--agent", "chat")
    assert (ended.code, ended.out) == (1, "")
    assert "ZeroDivisionError" in ended.err
    assert "the words of a library" not in ended.err
