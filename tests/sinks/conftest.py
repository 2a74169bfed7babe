"""Receivers of webhooks to tell something to."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

RECEIVER = Path(__file__).with_name("receiver.py")


class Hook:
    """A receiver in a process of its own."""

    def __init__(self, *behaviours: str, port: int | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(RECEIVER), *behaviours], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/hook?token=in-the-address"

    def next(self) -> dict[str, Any]:
        """The next request that came in; waits for it."""
        assert self.process.stdout is not None
        seen: dict[str, Any] = json.loads(self.process.stdout.readline())
        return seen

    def rest(self) -> list[dict[str, Any]]:
        """All requests that were not looked at; ends the receiver."""
        self.process.kill()
        assert self.process.stdout is not None
        seen = [json.loads(line) for line in self.process.stdout.read().splitlines()]
        self.process.wait()
        self.process.stdout.close()
        return seen


@pytest.fixture
def hook() -> Iterator[Callable[..., Hook]]:
    """Starts receivers, each with its own behaviour."""
    started: list[Hook] = []

    def start(*behaviours: str) -> Hook:
        started.append(Hook(*behaviours))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.rest()
