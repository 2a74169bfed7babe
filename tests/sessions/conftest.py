"""An office on disk with a real store, real MCP servers, and a conversation with any provider."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import create_engine, text

from toolkeeper import Session, Toolkeeper, Turn, tool
from toolkeeper.runtime.wish import Wish  # noqa: F401  (for the tests, by way of `kit`)

T = TypeVar("T")

SHELF_SERVER = Path(__file__).parents[1] / "servers" / "shelf_server.py"

FORMS = ["generic", "openai", "openai-responses", "anthropic", "gemini"]
"""The providers in whose form a conversation can be handed over."""


@dataclass
class Office:
    """A configuration file, the tools of this program, and the keepers over one store."""

    folder: Path
    agent: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    effects: list[Any] = field(default_factory=list)
    more: list[Any] = field(default_factory=list)

    def tools(self) -> list[Any]:
        effects = self.effects

        @tool(name="notes.list", side_effect="workspace_read")
        def list_notes(limit: int = 10) -> str:
            """List the notes."""
            effects.append(("list", limit))
            return "no notes"

        @tool(name="notes.read", side_effect="workspace_read")
        def read_note(title: str) -> str:
            """Read one note aloud."""
            effects.append(("read", title))
            return f"the note {title}"

        @tool(name="notes.add", side_effect="workspace_write")
        def add_note(title: str) -> str:
            """Add a page to the notebook."""
            effects.append(("add", title))
            return f"added {title}"

        @tool(name="mail.send", side_effect="message_send")
        def send_mail(to: str, text: str = "") -> str:
            """Send an email to somebody."""
            effects.append(("send", to))
            return "sent"

        @tool(name="weather.today", side_effect="network_read")
        def weather(city: str) -> str:
            """Tell the weather forecast of a city."""
            effects.append(("weather", city))
            return f"rain in {city}"

        return [list_notes, read_note, add_note, send_mail, weather, *self.more]

    def write(self) -> Path:
        """Writes the configuration file."""
        names = [each.name for each in self.tools()]
        settings = {
            "version": 1,
            "store": os.environ.get("TOOLKEEPER_STORE", "sqlite:///ledger.db"),
            "agents": {"chat": {"tools": names, **self.agent}},
            **self.settings,
        }
        file = self.folder / "toolkeeper.yaml"
        file.write_text(json.dumps(settings))
        return file

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

    def shelf(self, *names: str, description: str = "Does {}.") -> Path:
        """Configures a real server `shelf` with these tools; returns the file that it lists."""
        file = self.folder / "shelf.json"
        file.write_text(json.dumps(shelved(*names, description=description)))
        args = [str(SHELF_SERVER), str(file)]
        self.settings["servers"] = {
            "shelf": {
                "command": sys.executable,
                "args": args,
                "trust": "trusted",
                "annotations": "trusted",
            }
        }
        self.agent.setdefault("servers", ["shelf"])
        return file

    def keeper(self, **ports: Any) -> Toolkeeper:
        """A keeper as a new process would make it."""
        keeper = Toolkeeper.from_config(self.write(), environment={}, **ports)
        for each in self.tools():
            keeper.add(each)
        return keeper

    def play(self, act: Callable[[Toolkeeper], Awaitable[T]]) -> T:
        """What `act` makes of an open keeper; another call is another process."""

        async def run() -> T:
            async with self.keeper() as keeper:
                return await act(keeper)

        return asyncio.run(run())


def shelved(*names: str, description: str = "Does {}.") -> list[dict[str, Any]]:
    """Tools as a server lists them: reads, and the two that `shelf_server.py` knows."""
    return [
        {
            "name": name,
            "description": description.format(name),
            "inputSchema": {"type": "object", "properties": {"tools": {"type": "array"}}},
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }
        for name in (*names, "rearrange", "fall")
    ]


@dataclass
class Talk:
    """A conversation in the form of one provider, kept as an application keeps it."""

    provider: str
    messages: list[Any] = field(default_factory=list)

    def user(self, text: str) -> None:
        if self.provider == "gemini":
            self.messages.append({"role": "user", "parts": [{"text": text}]})
        else:
            self.messages.append({"role": "user", "content": text})

    def system(self, text: str) -> None:
        self.messages.append({"role": "system", "content": text})

    def reply(self, *calls: tuple[str, str, Any]) -> Any:
        """What the provider answers: calls of (id, wire name, arguments)."""
        if self.provider == "anthropic":
            blocks = [
                {"type": "tool_use", "id": id, "name": name, "input": arguments}
                for id, name, arguments in calls
            ]
            return {"role": "assistant", "content": blocks}
        if self.provider == "gemini":
            parts = [
                {"functionCall": {"name": name, "args": arguments}} for _, name, arguments in calls
            ]
            return {"candidates": [{"content": {"role": "model", "parts": parts}}]}
        if self.provider == "openai-responses":
            return {
                "output": [
                    {
                        "type": "function_call",
                        "call_id": id,
                        "name": name,
                        "arguments": json.dumps(arguments),
                    }
                    for id, name, arguments in calls
                ]
            }
        called = [
            {
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for id, name, arguments in calls
        ]
        return {"choices": [{"message": {"role": "assistant", "tool_calls": called}}]}

    def take(self, reply: Any) -> None:
        """Keeps a reply as the next messages."""
        if self.provider == "openai-responses":
            self.messages += reply["output"]
        elif self.provider == "anthropic":
            self.messages.append(reply)
        elif self.provider == "gemini":
            self.messages.append(reply["candidates"][0]["content"])
        else:
            self.messages.append(reply["choices"][0]["message"])

    async def step(self, turn: Turn, *calls: tuple[str, str, Any]) -> list[Any]:
        """One model step: the calls, answered by the turn; the outcomes."""
        reply = self.reply(*calls)
        self.take(reply)
        outcomes = await turn.call_all(turn.calls(reply))
        self.messages += turn.results(outcomes)
        return outcomes

    async def search(self, turn: Turn, query: str, id: str = "s1") -> Any:
        (outcome,) = await self.step(turn, (id, "tool_search", {"query": query}))
        return outcome


async def searched(
    session: Session, query: str, *, id: str = "s1", provider: str = "generic"
) -> tuple[Turn, Talk]:
    """A turn in which one search was made, and the conversation so far."""
    talk = Talk(provider)
    talk.user("find it")
    turn = await session.begin_turn("find it")
    outcome = await talk.search(turn, query, id)
    assert not outcome.row.is_error, outcome.row.result
    return turn, talk


def names(tools: Sequence[Any]) -> list[str]:
    """The wire names in a tools array of any provider."""
    found: list[str] = []
    for each in tools:
        if "functionDeclarations" in each:
            found += [inner["name"] for inner in each["functionDeclarations"]]
        else:
            found.append(each.get("function", each).get("name", each.get("type")))
    return found


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


@pytest.fixture
def searching(office: Office) -> Office:
    """The agent loads by search; only `notes.list` is always there."""
    office.agent |= {
        "disclosure": "search",
        "always_defined": ["notes.list"],
        "deferred_tools": ["*"],
    }
    return office


@pytest.fixture
def kit() -> Any:
    """What this file has for tests, which are no package and cannot import it."""
    return sys.modules[__name__]


async def rearrange(talk: Talk, turn: Turn, tools: list[Any], listing: Path) -> None:
    """Has the server list other tools, and waits until it has said so."""
    (done,) = await talk.step(turn, ("r1", "mcp__shelf__rearrange", {"tools": tools}))
    assert done.row.outcome == "completed", done.row.result
    assert json.loads(listing.read_text()) == tools
