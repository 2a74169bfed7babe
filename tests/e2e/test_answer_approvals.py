"""The guide to approvals leads where it says."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

IDS = {
    "ID": ("toolkeeper approvals list --json", "approval_id"),
    "GRANT": ("toolkeeper grants list --json", "grant_id"),
}


def test_every_step_of_the_guide_to_approvals_prints_what_it_shows(
    guide: Callable[[str], Any],
) -> None:
    page = guide("answer-approvals")
    commands = 0
    for step in page.steps():
        typed = "a secret\na secret\n" if "hash" in step.words else ""
        page.follow(replace(step, words=with_ids(page, step.words)), typed=typed)
        commands += 1
    assert commands >= 20
    _, calls, _ = page.told("toolkeeper audit calls --json")
    ended = [json.loads(line)["outcome"] for line in calls.splitlines()]
    assert ended == ["completed"] * 2 + ["refused"] + ["completed"] * 2 + ["suspended"] * 2


def with_ids(page: Any, words: str) -> str:
    """`words` with the ids that the page leaves to its reader."""
    for place, (listing, key) in IDS.items():
        if place in words.split():
            # Where it was answered before, it is the last one of all.
            rows = page.told(listing)[1] or page.told(f"{listing} --all")[1]
            words = words.replace(f" {place}", f" {json.loads(rows.splitlines()[-1])[key]}")
    return words
