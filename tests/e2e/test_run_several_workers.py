"""The guide to several workers leads where it says, on a PostgreSQL server."""

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "run-several-workers.md"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_step_of_the_guide_prints_what_it_shows(
    tmp_path: Path, postgres_store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLKEEPER_STORE", postgres_store)
    monkeypatch.setenv("TOOLKEEPER_SEAL_KEY", "c2l4dGVlbiBieXRlcyBvciAzMiwgaGVyZSBhcmUgMzI=")
    commands = 0
    for language, name, text in BLOCK.findall(GUIDE.read_text("utf-8")):
        if name:
            (tmp_path / name).write_text(text, "utf-8")
        elif language == "console":
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                words, *shown = command.splitlines()
                run(tmp_path, words, shown)
                commands += 1
    assert commands >= 8


def run(folder: Path, words: str, shown: list[str]) -> None:
    words, _, comment = words.partition(" # ")
    if words.endswith(" &"):
        watch(folder, words.removesuffix(" &"))
        return
    done = subprocess.run(
        command(folder, words), cwd=folder, capture_output=True, encoding="utf-8", timeout=120
    )
    said = f"$ {words}\n{done.stdout}{done.stderr}"
    assert done.returncode == int(comment.removeprefix("exit ") or 0), said
    for line in shown:
        assert line in done.stdout, said


def watch(folder: Path, words: str) -> None:
    """Lets the worker run a call that is parked and approved meanwhile, and stops it."""
    worker = subprocess.Popen(
        command(folder, words), cwd=folder, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        run(
            folder,
            'toolkeeper call --agent porter --user ana door.open \'{"door": "west"}\' # exit 1',
            [],
        )
        run(folder, "toolkeeper approvals approve APPROVAL --as bea", [])
        assert worker.stdout is not None
        assert json.loads(worker.stdout.readline())["result"] == "west is open"
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    finally:
        worker.kill()
        worker.communicate(timeout=60)


def command(folder: Path, words: str) -> list[str]:
    program, *arguments = shlex.split(words)
    assert program == "toolkeeper"
    if "APPROVAL" in arguments:
        arguments[arguments.index("APPROVAL")] = pending(folder)
    return [sys.executable, "-m", "toolkeeper", *arguments]


def pending(folder: Path) -> str:
    listed = subprocess.run(
        [sys.executable, "-m", "toolkeeper", "approvals", "list", "--json"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    approval: str = json.loads(listed.stdout)["approval_id"]
    return approval
