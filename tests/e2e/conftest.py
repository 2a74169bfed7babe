"""Guides to follow: the pages of docs/howto as a reader would type them."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "howto"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a guide: what is typed, what it ends with, and lines that it prints."""

    words: str
    code: int
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """A page, followed in a folder of one's own."""

    path: Path
    folder: Path

    @property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    def write_files(self) -> None:
        """All files of the page at once."""
        for _, name, text in BLOCK.findall(self.text):
            if name:
                (self.folder / name).write_text(text, "utf-8")

    def steps(self) -> Iterator[Step]:
        """Its commands in their order; a file is there once the page has shown it."""
        for language, name, text in BLOCK.findall(self.text):
            if name:
                (self.folder / name).write_text(text, "utf-8")
            elif language == "console":
                for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                    words, *shown = command.splitlines()
                    words, _, code = words.partition(" # exit ")
                    yield Step(words, int(code or 0), tuple(shown))

    def start(self, words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts a `toolkeeper` command."""
        program, *arguments = shlex.split(words)
        assert program == "toolkeeper"
        return subprocess.Popen(
            [sys.executable, "-m", "toolkeeper", *arguments],
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def told(
        self, words: str, *, typed: str = "", env: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a `toolkeeper` command."""
        process = self.start(words, env)
        out, err = process.communicate(typed, timeout=120)
        return process.returncode, out, err

    def follow(self, step: Step, *, typed: str = "", env: Mapping[str, str] | None = None) -> str:
        """Runs a step, and holds what it prints against the page; gives standard output."""
        code, out, err = self.told(step.words, typed=typed, env=env)
        said = f"$ {step.words}\n{out}{err}"
        assert code == step.code, said
        for line in step.shown:
            # Tables are as wide as what stands in them, and a guide shows a part of it.
            assert squeezed(line) in squeezed(out + err), said
        return out

    def follow_all(self, *, env: Mapping[str, str] | None = None) -> int:
        """Every step; how many there were."""
        count = 0
        for step in self.steps():
            self.follow(step, env=env)
            count += 1
        return count


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def guide(tmp_path: Path) -> Callable[[str], Guide]:
    """The page of a name, to be followed in an empty folder."""
    return lambda name: Guide(GUIDES / f"{name}.md", tmp_path)
