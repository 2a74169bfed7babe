"""The guide to writing a policy leads where it says, step by step."""

from collections.abc import Callable
from typing import Any


def test_every_step_of_the_guide_prints_what_it_shows(guide: Callable[[str], Any]) -> None:
    assert guide("write-a-policy").follow_all() >= 10
