"""The guide to watching toolkeeper run leads where it says."""

import importlib.util
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "howto" / "watch-it-run.md"
SECRET = "a secret of this guide, long enough"


class Collector:
    """Decodes OTLP, in a process of its own: the one that the tests of telemetry use."""

    def __init__(self) -> None:
        script = ROOT / "tests" / "telemetry" / "otlp_receiver.py"
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip()}"


def ended(process: subprocess.Popen[str]) -> str:
    process.kill()
    out, _ = process.communicate(timeout=60)
    return out or ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    if made.process.poll() is None:
        ended(made.process)


def test_the_guide_leads_where_it_says(
    guide: Callable[[str], Any], tmp_path: Path, collector: Collector
) -> None:
    assert importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    page = guide("watch-it-run")
    page.write_files()
    port = free_port()
    world = {
        "HOOK_URL": f"http://127.0.0.1:{port}/",
        "HOOK_SECRET": SECRET,
        "OTLP_URL": collector.url,
    }
    receiver = subprocess.Popen(
        [sys.executable, "receiver.py", str(port)],
        cwd=tmp_path,
        env={**os.environ, **world},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        wait_for(port)
        assert page.follow_all(env=world)
    finally:
        told = ended(receiver)
        measured = ended(collector.process)
    assert re.fullmatch(r"approval\.asked apr_\w+\n", told)
    assert "execute_tool mail.send" in measured
    assert "toolkeeper.approvals.pending" in measured
    assert "bea@example.com" not in told + measured


def test_the_guide_names_every_metric_that_there_is() -> None:
    source = ROOT / "adapters" / "toolkeeper_telemetry" / "instruments.py"
    names = set(re.findall(r'"((?:toolkeeper|gen_ai)\.[a-z_.]+)"', source.read_text("utf-8")))
    guide = GUIDE.read_text("utf-8").replace(
        "`toolkeeper.approvals.pending`, `.oldest_age`",
        "`toolkeeper.approvals.pending`, `toolkeeper.approvals.oldest_age`",
    )
    assert len(names) >= 9
    assert [name for name in sorted(names) if f"`{name}`" not in guide] == []
