"""The guide to auditing the ledger leads where it says, step by step."""

import shlex
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest


@pytest.mark.sqlite_file
def test_every_step_of_the_guide_prints_what_it_shows(guide: Callable[[str], Any]) -> None:
    page = guide("audit-the-ledger")
    commands = 0
    for step in page.steps():
        commands += 1
        words, _, into = step.words.partition(" > ")
        if words.startswith("sqlite3 "):
            # Not everybody who runs this has the program.
            _, file, statement = shlex.split(words)
            connection = sqlite3.connect(page.folder / file)
            connection.execute(statement)
            connection.commit()
            connection.close()
            continue
        out = page.follow(replace(step, words=words))
        if into:
            (page.folder / into).write_text(out, "utf-8")
    assert commands >= 12
