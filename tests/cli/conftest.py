"""The command line as its users meet it: a folder with files of their own, and the command."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar
from unittest.mock import patch

import pytest
from sqlalchemy import create_engine, text

from toolkeeper.cli.main import main

TOOLS = '''
"""Tools of a person's own; the world is the file `world.txt` beside this module."""

import asyncio
from pathlib import Path

from toolkeeper import tool

WORLD = Path(__file__).with_name("world.txt")


def done(text: str) -> str:
    with WORLD.open("a") as world:
        world.write(text + "\\n")
    return text


@tool(name="schedule.list", side_effect="workspace_read")
async def list_(day: str = "today") -> list[str]:
    """List the appointments of a day."""
    return [day, "dentist"]


@tool(name="schedule.update", side_effect="workspace_write")
def update(id: int, title: str | None = None, when: str | None = None) -> str:
    """Update an appointment. The rest of this text is not for the index."""
    return done(f"updated {id}")


@tool(name="mail.send", side_effect="message_send", scopes=["mail"])
def send(to: str, body: str) -> str:
    """Send a mail."""
    return done(f"sent to {to}")


@tool(name="money.pay", side_effect="financial")
def pay(amount: float) -> str:
    """Pay somebody."""
    return done("paid")


@tool(name="slow.read", side_effect="network_read")
async def slow(seconds: float, api_token: str = "") -> str:
    """Read slowly."""
    WORLD.with_name("started.txt").touch()
    await asyncio.sleep(seconds)
    return "slept"


@tool(name="slow.write", side_effect="workspace_write")
async def slow_write(seconds: float) -> str:
    """Write slowly."""
    await asyncio.sleep(seconds)
    return "slept"


@tool(name="broken", side_effect="none")
def broken() -> str:
    """Raise."""
    raise RuntimeError("a secret of the library")


def undeclared(x: int) -> int:
    """Double a number."""
    return x * 2


TOOLS = [list_, update, send, pay, slow, slow_write, broken, undeclared]
'''

CONFIG = """
version: 1
functions: ["tools:TOOLS"]
users: {ana: {scopes: [mail]}}
agents:
  chat:
    tools: [schedule.list, schedule.update, mail.send, money.pay, slow.read, broken, undeclared]
    deferred_tools: [mail.send]
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def line(self) -> dict[str, Any]:
        """Standard output as one JSON line."""
        (line,) = self.lines
        return line


@dataclass(frozen=True, slots=True)
class Desktop:
    """A person's folder, with a configuration and tools in it."""

    folder: Path

    CONFIG: ClassVar[str] = CONFIG.lstrip()
    TOOLS: ClassVar[str] = TOOLS.lstrip()

    def configure(self, *swaps: tuple[str, str], add: str = "") -> None:
        """Writes the configuration with some words swapped, and `add` below it."""
        text = self.CONFIG
        for old, new in swaps:
            assert old in text
            text = text.replace(old, new)
        self.write("toolkeeper.yaml", text + add)

    def write(self, name: str, text: str) -> Path:
        """Writes a file and returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def toolkeeper(self, *args: object, env: Mapping[str, str] | None = None) -> Ended:
        """Runs the command in this process, as if it were called from the folder."""
        out, err = StringIO(), StringIO()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with (
                patch.object(sys, "argv", ["toolkeeper", *map(str, args)]),
                patch.dict(os.environ, env or {}),
                redirect_stdout(out),
                redirect_stderr(err),
            ):
                try:
                    main()
                    code: Any = 0
                except SystemExit as end:
                    code = end.code
        finally:
            os.chdir(before)
        assert "Traceback" not in err.getvalue()
        return Ended(int(code or 0), out.getvalue(), err.getvalue())

    def start(
        self, *args: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Starts the installed command in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "toolkeeper", *map(str, args)],
            cwd=cwd or self.folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ended(self, process: subprocess.Popen[str], stdin: str = "") -> Ended:
        """How a started process ends."""
        out, err = process.communicate(stdin, timeout=60)
        assert "Traceback" not in err
        return Ended(process.returncode, out, err)

    def process(self, *args: object, stdin: str = "", **options: Any) -> Ended:
        """Runs the installed command in a process of its own."""
        return self.ended(self.start(*args, **options), stdin)

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Waits until it is so."""
        deadline = time.monotonic() + 30
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def wait_for_lease(self) -> None:
        """Waits until every lease in the store is over."""
        query = "SELECT max(lease_expires_at) FROM invocations WHERE state = 'running'"

        def over() -> bool:
            until = self.sql(query)
            return until is None or datetime.fromisoformat(until) < datetime.now(UTC)

        self.wait_for(over)

    def play(self, calls: str, *args: object, head: str = "", tail: str = "") -> Ended:
        """Plays a session of one turn with `calls` (YAML flow, a line each)."""
        items = "".join(f"      - {line.strip()}\n" for line in calls.strip().splitlines())
        script = self.folder / "session.yaml"
        head = head or "agent: chat\nuser: ana\n"
        script.write_text(f"{head}turns:\n  - user: hello\n    calls:\n{items}{tail}")
        return self.toolkeeper("run", script, "--json", *args)

    def record(self, script: Mapping[str, Any], *args: object) -> Ended:
        """Plays a session of agent `chat` for ana that is written as JSON, a value a line."""
        text = json.dumps({"agent": "chat", "user": "ana", **script}, indent=1)
        (self.folder / "session.yaml").write_text(text)
        return self.toolkeeper("run", "session.yaml", "--json", *args)

    def sql(self, statement: str) -> Any:
        """Looks into the store, or changes it, behind everybody's back; one value."""
        url = os.environ.get("TOOLKEEPER_STORE", f"sqlite:///{self.folder / 'toolkeeper.db'}")
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        try:
            with engine.begin() as connection:
                done = connection.execute(text(statement))
                row = done.first() if done.returns_rows else None
            return row[0] if row else None
        finally:
            engine.dispose()

    @property
    def world(self) -> list[str]:
        """What the tools did."""
        path = self.folder / "world.txt"
        return path.read_text().splitlines() if path.exists() else []

    def files(self) -> set[str]:
        """The names of what lies in the folder, but for Python's own caches."""
        return {path.name for path in self.folder.iterdir() if path.name != "__pycache__"}


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    """A folder with the configuration and the tools above."""
    made = Desktop(tmp_path)
    made.write("tools.py", TOOLS)
    made.write("toolkeeper.yaml", CONFIG)
    return made
