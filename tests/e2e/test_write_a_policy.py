"""The guide to writing a policy leads where it says, step by step."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "write-a-policy.md"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_step_of_the_guide_prints_what_it_shows(tmp_path: Path) -> None:
    commands = 0
    for language, name, text in BLOCK.findall(GUIDE.read_text("utf-8")):
        if name:
            (tmp_path / name).write_text(text, "utf-8")
        elif language == "console":
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                words, *shown = command.splitlines()
                run(tmp_path, words, shown)
                commands += 1
    assert commands >= 10


def run(folder: Path, words: str, shown: list[str]) -> None:
    words, _, exit_code = words.partition(" # exit ")
    program, *arguments = shlex.split(words)
    assert program == "toolkeeper"
    done = subprocess.run(
        [sys.executable, "-m", "toolkeeper", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    said = f"$ {words}\n{done.stdout}{done.stderr}"
    assert done.returncode == int(exit_code or 0), said
    printed = squeezed(done.stdout)
    for line in shown:
        # Tables are as wide as what stands in them, and a guide shows a part of it.
        assert squeezed(line) in printed, said


def squeezed(text: str) -> str:
    return " ".join(text.split())
