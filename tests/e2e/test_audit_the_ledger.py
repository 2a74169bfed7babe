"""The guide to auditing the ledger leads where it says, step by step."""

import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "audit-the-ledger.md"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.sqlite_file
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
    assert commands >= 12


def run(folder: Path, words: str, shown: list[str]) -> None:
    words, _, exit_code = words.partition(" # exit ")
    program, *arguments = shlex.split(words)
    if program == "sqlite3":
        # Not everybody who runs this has the program.
        file, statement = arguments
        connection = sqlite3.connect(folder / file)
        connection.execute(statement)
        connection.commit()
        connection.close()
        return
    assert program == "toolkeeper"
    into = None
    if ">" in arguments:
        place = arguments.index(">")
        into = folder / arguments[place + 1]
        del arguments[place:]
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
    if into is not None:
        into.write_text(done.stdout, "utf-8")
    printed = squeezed(done.stdout)
    for line in shown:
        assert squeezed(line) in printed, said


def squeezed(text: str) -> str:
    return " ".join(text.split())
