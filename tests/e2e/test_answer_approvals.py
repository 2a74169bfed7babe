"""The guide to approvals leads where it says."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "answer-approvals.md"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_step_of_the_guide_to_approvals_prints_what_it_shows(tmp_path: Path) -> None:
    commands = 0
    for language, name, text in BLOCK.findall(GUIDE.read_text("utf-8")):
        if name:
            (tmp_path / name).write_text(text, "utf-8")
        elif language == "console":
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                words, *shown = command.splitlines()
                follow(tmp_path, words, shown)
                commands += 1
    assert commands >= 20
    ended = [json.loads(line)["outcome"] for line in told(tmp_path, "audit calls --json")[1]]
    assert ended == ["completed"] * 2 + ["refused"] + ["completed"] * 2 + ["suspended"] * 2


def follow(folder: Path, words: str, shown: list[str]) -> None:
    words, _, exit_code = words.partition(" # exit ")
    program, words = words.split(" ", 1)
    assert program == "toolkeeper"
    for place, list_of, key in (
        ("ID", "approvals list --json", "approval_id"),
        ("GRANT", "grants list --json", "grant_id"),
    ):
        if place in words.split():
            # Where it was answered before, it is the last one of all.
            rows = told(folder, list_of)[1] or told(folder, f"{list_of} --all")[1]
            words = words.replace(f" {place}", f" {json.loads(rows[-1])[key]}")
    code, lines = told(folder, words, "a secret\na secret\n" if "hash" in words else "")
    said = "\n".join([f"$ toolkeeper {words}", *lines])
    assert code == int(exit_code or 0), said
    printed = " ".join(said.split())
    for line in shown:
        assert " ".join(line.split()) in printed, said


def told(folder: Path, words: str, typed: str = "") -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "toolkeeper", *shlex.split(words)],
        cwd=folder,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()
