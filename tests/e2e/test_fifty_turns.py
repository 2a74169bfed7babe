"""Fifty turns of a session: what a provider's cache keeps, and what every rewrite was for.

Own functions and a real MCP server whose list changes, toggles, overrides, searches that load, a
forced tool, a cleared conversation, and restarts in the middle of a turn and between two.
"""

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolkeeper import Toolkeeper
from toolkeeper.runtime.cache_meter import measure, measure_session
from toolkeeper.runtime.cache_report import CacheLine, CacheReport
from toolkeeper_contract import canonical_text

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SERVER = HERE.parent / "servers" / "bookshelf_server.py"

AGENTS = {
    "index": ("openai", None),
    "names": ("anthropic", None),
    "alone": ("openai-responses", None),
    "native": ("anthropic", "claude-sonnet-4-5"),
}
"""The agents of `fifty_turns/toolkeeper.yaml`, with the provider and the model of the session."""

ATLAS, NOVEL, POEMS = "Shows a map.", "Tells a story.", "Reads a poem."
SHELVES: tuple[dict[str, str], ...] = (
    {"atlas": ATLAS, "novel": NOVEL},
    {"atlas": ATLAS, "novel": NOVEL, "poems": POEMS},
    {"atlas": "Shows a larger map.", "novel": NOVEL, "poems": POEMS},
    {"novel": NOVEL, "poems": POEMS},
    {"atlas": ATLAS, "zoo": "Names an animal."},
)

FOLLOW = object()


@dataclass(frozen=True)
class Scene:
    """One turn: what happens before it begins, with it, and between its model steps."""

    shelf: int | None = None
    intent: Any = FOLLOW
    override: Any = None
    forced: str | None = None
    clear: bool = False
    restart: bool = False
    inside: tuple[tuple[Any, ...], ...] = ()


def scene(number: int) -> Scene:
    """Most turns change nothing; the others one thing each, some of it while they run."""
    special = {
        3: Scene(shelf=1),
        5: Scene(inside=(("search", "book an appointment"),)),
        8: Scene(inside=(("search", "weather this week"), ("shelf", 2), ("restart",))),
        11: Scene(intent={"disabled": ["notes.list"]}),
        13: Scene(inside=(("intent", None), ("process",))),
        16: Scene(override={"disabled": ["notes.read", "mail.draft"]}),
        19: Scene(forced="weather.today"),
        20: Scene(forced="weather.today", inside=(("search", "draft a mail"),)),
        23: Scene(shelf=3, inside=(("search", "poem"), ("restart",), ("shelf", 4))),
        26: Scene(inside=(("search", "a tool that does not exist anywhere"),)),
        29: Scene(restart=True),
        31: Scene(clear=True),
        34: Scene(inside=(("search", "animal"), ("restart",), ("search", "calendar"))),
        37: Scene(intent={"enabled": False}),
        38: Scene(intent=["notes.read", "calendar.book", "mcp.shelf.zoo"]),
        40: Scene(intent=None, forced="notes.delete"),
        43: Scene(shelf=0, override={"disabled": ["calendar.show"]}),
        46: Scene(inside=(("shelf", 1), ("shelf", 0), ("process",))),
        48: Scene(inside=(("intent", {"disabled": []}),)),
    }
    return special.get(number, Scene())


@dataclass
class Played:
    """What was seen: the requests as they went out, and what each turn was begun with."""

    requests: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    inputs: dict[int, str] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)
    events: dict[int, dict[str, Any]] = field(default_factory=dict)
    recorded: CacheReport = field(default_factory=lambda: CacheReport(()))

    @property
    def report(self) -> CacheReport:
        return measure([body for _, body in self.requests])

    def firsts(self) -> list[CacheLine]:
        """The line of the first request of each turn."""
        numbers = [number for number, _ in self.requests]
        lines = self.report.lines
        return [lines[numbers.index(number)] for number in sorted(set(numbers))]


class Player:
    """Drives a keeper through the scenes, and restarts it where they say so."""

    def __init__(self, config: Path, agent: str) -> None:
        self.config, self.agent = config, agent
        self.played = Played()
        self.shelf = 0
        self.calls = 0
        self.messages: list[Any] = []

    async def play(self, turns: int = 50) -> Played:
        self.keeper = Toolkeeper.from_config(self.config)
        await self.keeper.open()
        try:
            provider, model = AGENTS[self.agent]
            self.session = await self.keeper.open_session(
                agent=self.agent, provider=provider, model=model
            )
            for number in range(1, turns + 1):
                await self.turn(number, scene(number))
            await self.read_back()
        finally:
            await self.keeper.close()
        return self.played

    async def turn(self, number: int, scene: Scene) -> None:
        if scene.restart:
            await self.restart()
        if scene.shelf is not None:
            await self.arrange(scene.shelf)
        if scene.intent is not FOLLOW:
            await self.session.set_intent(scene.intent)
        if scene.clear:
            await self.session.clear()
            self.messages = []
        intent = self.session.record.intent if scene.override is None else scene.override
        loaded = await self.keeper.ledger.loadings([self.session.session_id])
        self.played.inputs[number] = canonical_text(
            {
                "intent": intent,
                "forced": scene.forced,
                "shelf": SHELVES[self.shelf],
                "loaded": [dict(each.tools) for each in loaded],
            }
        )
        self.now = await self.session.begin_turn(
            f"turn {number}", override=scene.override, tool_choice=scene.forced
        )
        self.messages.append({"role": "user", "content": f"turn {number}"})
        self.played.digests[number] = self.now.rendering
        self.request(number)
        for action in scene.inside or (("call", "notes.read"),):
            await self.act(*action)
            self.request(number)

    def request(self, number: int) -> None:
        parts = {key: self.now.request[key] for key in ("tools", "system")}
        body = {**parts, "messages": list(self.messages)}
        self.played.requests.append((number, json.loads(json.dumps(body))))

    async def act(self, what: str, argument: Any = None) -> None:
        if what == "search":
            await self.call("tool.search", {"query": argument})
        elif what == "call":
            await self.call(argument, {})
        elif what == "shelf":
            await self.arrange(argument)
        elif what == "intent":
            await self.session.set_intent(argument)
        elif what == "restart":
            await self.restart()
            self.now = await self.session.reopen_turn()
        elif what == "process":
            shown = await asyncio.to_thread(self.elsewhere)
            assert shown == canonical_text(self.now.request)
        self.messages.append({"role": "user", "content": f"after {what}"})

    async def call(self, name: str, arguments: dict[str, Any]) -> None:
        self.calls += 1
        outcome = await self.now.call(self.now.read(f"c{self.calls}", name, arguments))
        self.messages += self.now.results([outcome])

    async def arrange(self, shelf: int) -> None:
        registry = await self.keeper.everything()
        assert {status.reason for status in registry.sources} == {None}
        source = self.keeper.discovery.source(registry.tools["mcp.shelf.arrange"])
        assert source is not None
        await source.call("arrange", {"tools": SHELVES[shelf]})
        async with asyncio.timeout(20):
            while not source.changed:  # type: ignore[attr-defined]
                await asyncio.sleep(0.005)
        self.shelf = shelf

    async def restart(self) -> None:
        await self.keeper.close()
        self.keeper = Toolkeeper.from_config(self.config)
        await self.keeper.open()
        self.session = await self.keeper.resumed_session(self.session.session_id)

    def elsewhere(self) -> str:
        done = subprocess.run(
            [sys.executable, HERE / "turn_shown.py", self.config, self.session.session_id],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode("utf-8")

    async def read_back(self) -> None:
        ledger, id = self.keeper.ledger, self.session.session_id
        turns = {run.run_id: run.turn for run in await ledger.runs(id)}
        for record in await ledger.events(session_id=id):
            if record.event.name in ("tools.changed", "index.changed"):
                assert record.event.run_id is not None
                told = self.played.events.setdefault(turns[record.event.run_id], {})
                assert record.event.name not in told
                told[record.event.name] = record.event.data
        self.played.recorded = await measure_session(ledger, id)


def prefix(body: dict[str, Any]) -> str:
    return json.dumps([body["tools"], body["system"]])


def within_a_turn_every_requests_prefix_is_byte_identical(played: Played) -> None:
    by_turn: dict[int, set[str]] = {}
    for number, body in played.requests:
        by_turn.setdefault(number, set()).add(prefix(body))
    assert sorted(by_turn) == list(range(1, 51))
    assert {number for number, shown in by_turn.items() if len(shown) != 1} == set()
    assert len(played.requests) > 100


def at_most_one_rewrite_a_turn_boundary(played: Played) -> None:
    numbers = [number for number, _ in played.requests]
    lines = played.report.lines
    rewritten = [number for number, line in zip(numbers, lines, strict=True) if line.rewrite]
    assert rewritten == sorted(set(rewritten))
    assert 10 <= len(rewritten) <= 20
    inside = [
        line
        for before, number, line in zip(numbers, numbers[1:], lines[1:], strict=False)
        if before == number
    ]
    assert {line.kept_bytes == line.prefix_bytes for line in inside} == {True}


def a_turn_whose_input_did_not_change_rewrites_nothing(played: Played) -> None:
    firsts = dict(enumerate(played.firsts(), start=1))
    steady = [
        number for number in range(2, 51) if played.inputs[number] == played.inputs[number - 1]
    ]
    assert len(steady) > 20
    assert [number for number in steady if firsts[number].rewrite] == []
    assert [number for number in steady if number in played.events] == []
    assert all(played.digests[number] == played.digests[number - 1] for number in steady)


def equal_input_gives_equal_bytes_however_far_apart(played: Played) -> None:
    shown: dict[str, set[str]] = {}
    for number, given in played.inputs.items():
        shown.setdefault(given, set()).add(played.digests[number])
    assert {given: digests for given, digests in shown.items() if len(digests) > 1} == {}


def every_rewrite_has_its_cause_in_an_event(played: Played) -> None:
    for number, line in enumerate(played.firsts(), start=1):
        told = played.events.get(number, {})
        parts = {cause.part for cause in line.causes if cause.part != "messages"}
        assert line.rewrite == bool(told)
        assert ("tools" in parts) == ("tools.changed" in told)
        assert ("system" in parts) == ("index.changed" in told)
        for data in told.values():
            named = {name for key in data if key != "reasons" for name in data[key]}
            assert named == set(data["reasons"])
            assert named


def the_ledgers_meter_agrees_and_explains_every_change(played: Played) -> None:
    lines = [line for line in played.recorded.lines if line.request == 1]
    assert [line.turn for line in lines] == list(range(1, 51))
    for recorded, seen in zip(lines, played.firsts(), strict=True):
        assert (recorded.prefix_bytes, recorded.kept_bytes, recorded.rewrite) == (
            seen.prefix_bytes,
            seen.kept_bytes,
            seen.rewrite,
        )
        assert (recorded.broke is None) == (not seen.rewrite)
        told = played.events.get(recorded.turn or 0, {})
        for cause in recorded.causes:
            assert cause.reason is not None, (recorded.turn, cause)
            event = told["tools.changed" if cause.part == "tools" else "index.changed"]
            if cause.name != "boundary":
                assert event["reasons"][cause.name] == cause.reason


CHECKS = (
    within_a_turn_every_requests_prefix_is_byte_identical,
    at_most_one_rewrite_a_turn_boundary,
    a_turn_whose_input_did_not_change_rewrites_nothing,
    equal_input_gives_equal_bytes_however_far_apart,
    every_rewrite_has_its_cause_in_an_event,
    the_ledgers_meter_agrees_and_explains_every_change,
)

POEMS_CAME = {"mcp.shelf.poems": "registry"}
LOADED = {
    6: {"calendar.book": "loaded"},
    9: {"weather.today": "loaded", "weather.week": "loaded"},
    31: {
        "calendar.book": "unloaded",
        "weather.today": "unloaded",
        "weather.week": "unloaded",
    },
    19: {},
    40: {"notes.delete": "forced", "calendar.show": "loaded"},
    43: {"mcp.shelf.zoo": "registry", "calendar.show": "intent"},
    44: {"calendar.show": "loaded"},
}
FORCED = {19: {"weather.today": "forced"}, 20: {}, 21: {"weather.today": "forced"}}
TOGGLED = {
    11: {"notes.list": "intent"},
    12: {},
    14: {"notes.list": "intent"},
    16: {"notes.read": "intent"},
    17: {"notes.read": "intent"},
    27: {},
    29: {},
    30: {},
    37: {"notes.read": "intent"},
    47: {},
}
CAUSES: dict[str, dict[int, dict[str, str]]] = {
    "index": {**TOGGLED, **FORCED, 3: {"searchable": "registry"}, 6: {}, 31: {}},
    "names": {**TOGGLED, **LOADED, 3: POEMS_CAME, 24: POEMS_CAME},
    "alone": {**TOGGLED, **LOADED, 3: {}, 24: {}},
    "native": {**TOGGLED, **FORCED, 3: POEMS_CAME, 6: {}, 9: {"mcp.shelf.atlas": "registry"}},
}
"""By agent and turn: some of the causes that must be told, or {} for a turn without a rewrite."""


@pytest.mark.parametrize("agent", AGENTS)
def test_fifty_turns_rewrite_at_most_once_a_boundary_and_tell_the_cause(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(HERE / "fifty_turns", tmp_path / "fifty")
    shelf = folder / "shelf.json"
    shelf.write_text(json.dumps(SHELVES[0]))
    for name, value in (("PYTHON", sys.executable), ("SERVER", SERVER), ("SHELF", shelf)):
        monkeypatch.setenv(name, str(value))
    played = asyncio.run(Player(folder / "toolkeeper.yaml", agent).play())
    for check in CHECKS:
        check(played)
    for number, causes in CAUSES[agent].items():
        events = played.events.get(number, {})
        told = {
            name: why
            for data in (events.get("index.changed"), events.get("tools.changed"))
            if data is not None
            for name, why in data["reasons"].items()
        }
        assert bool(told) == bool(causes), (number, told)
        assert {name: told.get(name) for name in causes} == causes, number
