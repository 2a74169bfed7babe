"""Two places to try a case in: a shop in memory, and a home on disk with the real command line."""

import asyncio
import base64
import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
from sqlalchemy import create_engine, text

from toolkeeper import Toolkeeper, Turn, tool
from toolkeeper.cli.main import app, main
from toolkeeper.testing import FixedClock, keeper_of
from toolkeeper_contract import Invocation, Outcome

T = TypeVar("T")

WORKER = Path(__file__).parent / "approval_worker.py"
LISTING_SERVER = Path(__file__).parent / "servers" / "listing_server.py"

TOOLS = '''
"""Tools whose effects can be counted afterwards."""

import json
import os
import time
from pathlib import Path

from toolkeeper import tool

EFFECTS = Path(__file__).parent / "effects.jsonl"


def happened(*what):
    # One write of one line: whole, whichever processes write.
    with open(EFFECTS, "ab", buffering=0) as file:
        file.write(json.dumps(what).encode() + b"\\n")


@tool(name="notes.list", side_effect="workspace_read")
def list_notes(limit: int = 10) -> str:
    """List the notes."""
    happened("list", limit)
    return "no notes"


@tool(name="notes.read", side_effect="workspace_read")
def read_note(title: str) -> str:
    """Read a note."""
    happened("read", title)
    return f"the note {title}"


@tool(name="notes.add", side_effect="workspace_write")
def add_note(title: str, seconds: float = 0) -> str:
    """Add a note."""
    happened("add", title, os.getpid())
    time.sleep(seconds)
    return f"added {title}"


@tool(name="mail.send", side_effect="message_send")
def send_mail(to: str, text: str = "") -> str:
    """Send a mail."""
    happened("send", to)
    return "sent"


@tool(name="danger.wipe", side_effect="workspace_write")
def wipe() -> str:
    """Wipe everything."""
    happened("wipe")
    return "wiped"


TOOLS = [list_notes, read_note, add_note, send_mail, wipe]
'''


@dataclass
class Shop:
    """A keeper in memory over tools whose effects are counted."""

    effects: list[Any] = field(default_factory=list)
    clock: FixedClock = field(default_factory=FixedClock)

    def tools(self) -> list[Any]:
        effects = self.effects

        @tool(name="notes.list", side_effect="workspace_read")
        def list_notes(limit: int = 10) -> str:
            """List the notes."""
            effects.append(("list", limit))
            return "no notes"

        @tool(name="notes.read", side_effect="workspace_read")
        def read_note(title: str) -> str:
            """Read a note."""
            effects.append(("read", title))
            return f"the note {title}"

        @tool(name="notes.add", side_effect="workspace_write")
        def add_note(title: str) -> str:
            """Add a note."""
            effects.append(("add", title))
            return f"added {title}"

        @tool(name="mail.send", side_effect="message_send")
        def send_mail(to: str, text: str = "") -> str:
            """Send a mail."""
            effects.append(("send", to))
            return "sent"

        return [list_notes, read_note, add_note, send_mail]

    def keeper(self, *more: Any, **agent: Any) -> Toolkeeper:
        """`notes.list` is defined; the others are deferred, and `tool.call` is there for them."""
        agent.setdefault("deferred_tools", ("notes.read", "notes.add", "mail.send"))
        return keeper_of([*self.tools(), *more], clock=self.clock, **agent)

    def turn(
        self,
        act: Callable[[Turn, Toolkeeper], Awaitable[T]],
        *,
        provider: str = "generic",
        more: tuple[Any, ...] = (),
        **agent: Any,
    ) -> T:
        """What `act` makes of one turn."""

        async def play() -> T:
            keeper = self.keeper(*more, **agent)
            async with (
                keeper,
                keeper.session(agent="chat", user="ana", provider=provider) as session,
            ):
                return await act(await session.begin_turn(), keeper)

        return asyncio.run(play())

    def one(self, name: Any, arguments: Any, **options: Any) -> Invocation:
        """The row of one call."""

        async def act(turn: Turn, keeper: Toolkeeper) -> Outcome:
            return await turn.call(turn.read("c1", name, arguments))

        return self.turn(act, **options).row

    def rows(self, *calls: tuple[Any, Any], **options: Any) -> list[Invocation]:
        """Every row of the ledger after these calls."""

        async def act(turn: Turn, keeper: Toolkeeper) -> list[Invocation]:
            for number, (name, arguments) in enumerate(calls, 1):
                await turn.call(turn.read(f"c{number}", name, arguments))
            return list(await keeper.ledger.invocations())

        return self.turn(act, **options)


@dataclass
class Home:
    """A folder with a configuration, tools and a ledger, and the real command over them."""

    folder: Path
    agent: dict[str, Any] = field(default_factory=dict)
    servers: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    near: bool = False
    """Whether `toolkeeper` runs the command in this process: its start is no part of every case."""

    def write(self) -> None:
        (self.folder / "case_tools.py").write_text(TOOLS)
        agent = {
            "tools": ["notes.list", "notes.read", "notes.add", "mail.send"],
            "deferred_tools": ["notes.read", "notes.add"],
            **self.agent,
        }
        settings = {
            "version": 1,
            "store": os.environ.get("TOOLKEEPER_STORE", "sqlite:///ledger.db"),
            "functions": ["case_tools:TOOLS"],
            "servers": self.servers,
            "agents": {"chat": agent},
            **self.settings,
        }
        (self.folder / "toolkeeper.yaml").write_text(json.dumps(settings))

    def serve(self, name: str, tools: list[Any], **more: Any) -> None:
        """Configures a real MCP server that lists `tools` and lets the agent have it."""
        listing = self.folder / f"{name}.json"
        called = str(self.folder / f"{name}.called")
        results = more.pop("results", {})
        listing.write_text(json.dumps({"tools": tools, "results": results, "called": called}))
        args = [str(LISTING_SERVER), str(listing)]
        self.servers[name] = {"command": sys.executable, "args": args, **more}
        self.agent.setdefault("servers", []).append(name)
        self.write()

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """What a statement gives or does that somebody runs on the store by hand."""
        url = os.environ.get("TOOLKEEPER_STORE", f"sqlite:///{self.folder / 'ledger.db'}")
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        try:
            with engine.begin() as connection:
                done = connection.execute(text(statement), values)
                return [tuple(row) for row in done] if done.returns_rows else []
        finally:
            engine.dispose()

    def called(self, name: str) -> list[Any]:
        """What a server of `serve` was asked."""
        return _lines(self.folder / f"{name}.called")

    def start(self, *args: str, **environment: str) -> "subprocess.Popen[str]":
        """The command in a process of its own, not waited for."""
        return subprocess.Popen(
            [sys.executable, "-m", "toolkeeper", *args],
            cwd=self.folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def toolkeeper(self, *args: str, expect: int | None = None, **environment: str) -> "Printed":
        """What the command printed; a traceback never reaches a user."""
        if self.near:
            printed = self._near(args, environment)
        else:
            process = self.start(*args, **environment)
            out, err = process.communicate(timeout=60)
            printed = Printed(process.returncode, out, err)
        assert "Traceback" not in printed.err, printed
        assert expect is None or printed.code == expect, printed
        return printed

    def _near(self, args: tuple[str, ...], environment: dict[str, str]) -> "Printed":
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            patch.object(sys, "argv", ["toolkeeper", *args]),
            patch.dict(os.environ, environment),
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main()
        return Printed(int(end.value.code or 0), out.getvalue(), err.getvalue())

    def together(self, *commands: tuple[str, ...]) -> list[Any]:
        """What several processes of `approval_worker.py` say that begin at the same moment."""
        config = str(self.folder / "toolkeeper.yaml")
        processes = [
            subprocess.Popen(
                [sys.executable, str(WORKER), verb, config, *args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for verb, *args in commands
        ]
        try:
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            for process in processes:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            said = [process.communicate(timeout=60)[0] for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.communicate()
        assert [process.returncode for process in processes] == [0] * len(processes)
        return [json.loads(text) for text in said]

    def park(self, titles: list[str], **more: Any) -> list[dict[str, Any]]:
        """The lines of one parked call for each title."""
        calls = [
            {"id": f"c{number}", "tool": "notes.add", "arguments": {"title": title}}
            for number, title in enumerate(titles)
        ]
        return self.run(*calls, expect=1, **more)

    def here(self, *args: str) -> list[dict[str, Any]]:
        """The JSON lines of a verb that starts no tool, run in this process to save its start."""
        printed = io.StringIO()
        with redirect_stdout(printed):
            app(
                [*args, "-c", str(self.folder / "toolkeeper.yaml"), "--json"], standalone_mode=False
            )
        return [json.loads(line) for line in printed.getvalue().splitlines()]

    def run(
        self,
        *calls: Any,
        session: str | None = None,
        expect: int | None = None,
        **turn: Any,
    ) -> list[dict[str, Any]]:
        """The lines of a recorded session of one turn; its file is JSON, which is YAML too."""
        script: dict[str, Any] = {"turns": [{"user": "go on", "calls": list(calls), **turn}]}
        if session is None:
            script = {"agent": "chat", "user": "ana", **script}
        file = self.folder / "session.yaml"
        file.write_text(json.dumps(script, ensure_ascii=False))
        args = () if session is None else ("--session", session)
        printed = self.toolkeeper("run", str(file), *args, "--json", expect=expect)
        assert len(printed.lines()) == len(calls), printed
        return printed.lines()

    def effects(self) -> list[Any]:
        """What the functions did, in order."""
        return _lines(self.folder / "effects.jsonl")


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    err: str

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def object(self) -> dict[str, Any]:
        (line,) = self.lines()
        return line


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Home:
    """A home with the real command; in this process where a module is marked `in_this_process`."""
    home = Home(tmp_path, near=request.node.get_closest_marker("in_this_process") is not None)
    home.write()
    return home


@pytest.fixture(params=["sqlite", "postgresql"])
def any_home(request: pytest.FixtureRequest, home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with its ledger in a file, and one with it on a server."""
    if request.param == "postgresql":
        home.settings["store"] = request.getfixturevalue("postgres_store")
        monkeypatch.setenv("TOOLKEEPER_SEAL_KEY", base64.b64encode(b"k" * 32).decode())
        home.write()
    return home
