"""The guide to several workers leads where it says, on a PostgreSQL server."""

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

ASK = 'toolkeeper call --agent porter --user ana door.open \'{"door": "west"}\''
APPROVE = "toolkeeper approvals approve APPROVAL --as bea"


def test_every_step_of_the_guide_prints_what_it_shows(
    guide: Callable[[str], Any], postgres_store: str
) -> None:
    page = guide("run-several-workers")
    world = {
        "TOOLKEEPER_STORE": postgres_store,
        "TOOLKEEPER_SEAL_KEY": "c2l4dGVlbiBieXRlcyBvciAzMiwgaGVyZSBhcmUgMzI=",
    }
    commands = 0
    for step in page.steps():
        words = step.words.partition(" # ")[0]
        if words.endswith(" &"):
            watch(page, words.removesuffix(" &"), world)
        else:
            page.follow(replace(step, words=with_id(page, words, world)), env=world)
        commands += 1
    assert commands >= 8


def watch(page: Any, words: str, world: dict[str, str]) -> None:
    """Lets the worker run a call that is parked and approved meanwhile, and stops it."""
    worker = page.start(words, world)
    try:
        assert page.told(ASK, env=world)[0] == 1
        assert page.told(with_id(page, APPROVE, world), env=world)[0] == 0
        assert json.loads(worker.stdout.readline())["result"] == "west is open"
        worker.send_signal(signal.SIGTERM)
        assert worker.communicate(timeout=60) == ("", "")
        assert worker.returncode == 0
    finally:
        worker.kill()
        worker.communicate(timeout=60)


def with_id(page: Any, words: str, world: dict[str, str]) -> str:
    if "APPROVAL" not in words:
        return words
    _, listed, _ = page.told("toolkeeper approvals list --json", env=world)
    return words.replace("APPROVAL", json.loads(listed)["approval_id"])
