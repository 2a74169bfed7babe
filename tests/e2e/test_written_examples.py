"""What the documentation shows runs as it is shown."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIRST_STEPS = (ROOT / "docs" / "howto" / "first-steps.md").read_text("utf-8")
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
LIBRARY = ROOT / "examples" / "library"


def test_the_library_code_of_the_readme_is_the_example(tmp_path: Path) -> None:
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert block is not None
    assert block[1] in (LIBRARY / "answering.py").read_text("utf-8")


@pytest.mark.sqlite_file
def test_the_library_example_runs_and_goes_on_after_an_answer(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    shutil.copytree(LIBRARY, folder, ignore=shutil.ignore_patterns("world", "__pycache__"))
    printed = _python(folder, "answering.py")
    approval = re.search(r"^notes\.add waits for approval (apr_\w+)$", printed, re.MULTILINE)
    assert approval is not None
    assert "'tool_use_id': 'toolu_1'" in printed
    _toolkeeper(folder, f"approvals approve {approval[1]}")
    printed = _python(
        folder,
        "-c",
        "import asyncio, sys\n"
        "from answering import keeper, notes\n"
        "from toolkeeper import resume_one\n"
        "async def go_on():\n"
        "    async with keeper:\n"
        "        await resume_one(keeper, sys.argv[1])\n"
        "asyncio.run(go_on())\n"
        "print(notes)\n",
        approval[1],
    )
    assert printed.strip() == "{'Dentist': 'Call before noon.'}"


@pytest.mark.sqlite_file
def test_first_steps_lead_where_they_say(tmp_path: Path) -> None:
    for name, text in re.findall(r"```\w+ file=(\S+)\n(.*?)```", FIRST_STEPS, re.DOTALL):
        (tmp_path / name).write_text(text, "utf-8")
    commands = re.findall(r"^\$ toolkeeper (.*)$", FIRST_STEPS, re.MULTILINE)
    assert len(commands) >= 10
    for command in commands:
        words, _, remark = command.partition(" # exit ")
        if " ID" in words:
            (approval,) = _objects(tmp_path, "approvals list --all")
            words = words.replace(" ID", f" {approval['approval_id']}")
        _toolkeeper(tmp_path, words, exit_code=int(remark or 0))
    assert (tmp_path / "shopping.txt").read_text("utf-8") == "1 x bread\n"
    assert [
        (row["tool"], row["outcome"], row["code"]) for row in _objects(tmp_path, "audit calls")
    ] == [
        ("list.show", "completed", None),
        ("list.add", "refused", "tool.arguments_invalid"),
        ("list.add", "completed", None),
        ("list.show", "completed", None),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    missing = [
        target
        for target in targets
        if "://" not in target and not (page.parent / target).resolve().exists()
    ]
    assert missing == []


def _toolkeeper(folder: Path, words: str, *, exit_code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "toolkeeper", *shlex.split(words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == exit_code, f"toolkeeper {words}\n{done.stdout}{done.stderr}"
    return done.stdout


def _objects(folder: Path, words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _toolkeeper(folder, f"{words} --json").splitlines()]


def _python(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
