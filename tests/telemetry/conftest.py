"""Collectors that take OTLP over HTTP: a receiver that decodes it, and a real one before it."""

import importlib.util
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECEIVER = Path(__file__).with_name("otlp_receiver.py")


class Received:
    """What came in, decoded."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(RECEIVER)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: list[dict[str, Any]] = []

    def wait_for(self, key: str, name: str) -> dict[str, Any]:
        """Reads on until a span or metric of that name has come; the newest one."""
        while not (found := [each for each in self.all(key) if each["name"] == name]):
            self._read()
        return found[-1]

    def all(self, key: str) -> list[dict[str, Any]]:
        return [each for request in self.requests for each in request.get(key, [])]

    def span(self, name: str) -> dict[str, Any]:
        return self.wait_for("spans", name)

    def points(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.wait_for("metrics", name)["points"]
        return found

    def end(self) -> None:
        """Ends the receiver; what it had printed can still be looked at."""
        self.process.kill()
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.requests.append(json.loads(line))
        self.process.wait()
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the receiver has ended"
        self.requests.append(json.loads(line))


@pytest.fixture
def received() -> Iterator[Received]:
    made = Received()
    yield made
    if made.process.poll() is None:
        made.end()


@pytest.fixture
def rotel(received: Received, tmp_path: Path) -> Iterator[str]:
    """The address of a collector that others wrote, which hands on to the receiver."""
    found = importlib.util.find_spec("rotel")
    if found is None or found.origin is None:
        pytest.skip("the collector is not installed: pip install rotel")
    ports = [_free_port(), _free_port()]
    agent = Path(found.origin).with_name("rotel-agent")
    process = subprocess.Popen(
        [
            str(agent),
            "start",
            f"--otlp-http-endpoint=127.0.0.1:{ports[0]}",
            f"--otlp-grpc-endpoint=127.0.0.1:{ports[1]}",
            "--exporter=otlp",
            "--otlp-exporter-protocol=http",
            f"--otlp-exporter-endpoint={received.url}",
            "--batch-timeout=50ms",
        ],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _wait_for_port(ports[0], process)
    yield f"http://127.0.0.1:{ports[0]}"
    process.kill()
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None, "the collector has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("the collector does not listen")
