"""B91: the tools array follows connection or hash order, and the cached prefix is lost.

Right: the same intent and registry give the same bytes, whichever server answers first, in whatever
process, and for every request of a turn.
"""

import asyncio
import json
from typing import Any

import pytest

from toolkeeper import Toolkeeper

NAMES = ["zeta", "alpha", "mid", "Beta", "b-2", "b_2"]


def tool(name: str, read: bool) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"Does {name}.",
        "inputSchema": {
            "type": "object",
            "properties": {key: {"type": "string"} for key in (f"q{name[:1]}", "a", "z")},
        },
        "annotations": {"readOnlyHint": read},
    }


@pytest.fixture
def served(home: Any) -> Any:
    trusted = {"trust": "trusted", "annotations": "trusted"}
    home.serve("one", [tool(name, n % 2 == 0) for n, name in enumerate(NAMES)], **trusted)
    home.serve("two", [tool(name, n % 2 == 1) for n, name in enumerate(reversed(NAMES))], **trusted)
    home.agent["caps"] = {"definitions": 9}
    home.write()
    return home


def shuffled(home: Any) -> None:
    """The same world told the other way round: servers, listings, keys of every object."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(item) for key, item in reversed(list(value.items()))}
        return value

    for name in ("one", "two"):
        file = home.folder / f"{name}.json"
        listing = json.loads(file.read_text())
        listing["tools"] = [turned(tool) for tool in reversed(listing["tools"])]
        file.write_text(json.dumps(listing))
    home.servers = dict(reversed(list(home.servers.items())))
    home.write()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_two_processes_give_the_same_bytes(served: Any, provider: str) -> None:
    served.agent["deferred_tools"] = ["notes.read", "mcp.one.mid", "mcp.two.alpha"]
    served.write()
    args = ("plan", "--agent", "chat", "--render", "--provider", provider)
    first = served.start(*args, PYTHONHASHSEED="1").communicate(timeout=60)[0]
    shuffled(served)
    second = served.start(*args, PYTHONHASHSEED="2").communicate(timeout=60)[0]
    assert first == second
    assert len(json.loads(first)["tools"]) == 9


def test_the_plan_is_the_same_whichever_server_answers_first(served: Any) -> None:
    async def digest(first: str) -> str:
        keeper = Toolkeeper.from_config(served.folder / "toolkeeper.yaml")
        try:
            # That server is up and listed before the other one is started.
            await keeper.discovery.refresh([first])
            return (await keeper.sight(agent="chat")).plan.digest
        finally:
            await keeper.close()

    assert asyncio.run(digest("one")) == asyncio.run(digest("two"))


def test_every_request_of_a_turn_and_every_turn_has_the_same_bytes(shop: Any) -> None:
    async def play() -> list[str]:
        keeper: Toolkeeper = shop.keeper()
        seen = []
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            for _ in range(2):
                turn = await session.begin_turn()
                for name, arguments in (
                    ("notes.read", {"title": "tea"}),
                    ("tool.search", {"query": "mail"}),
                    ("notes.add", {"title": "tea"}),
                ):
                    seen.append(json.dumps([turn.tools, turn.system]))
                    await turn.call(turn.read("c", name, arguments))
        return seen

    assert len(set(asyncio.run(play()))) == 1


def test_one_more_deferred_tool_moves_no_byte_of_the_array(served: Any) -> None:
    def array() -> Any:
        (request,) = served.here("plan", "--agent", "chat", "--render")
        return json.dumps(request["tools"])

    before = array()
    served.agent["tools"] = ["notes.list", "notes.read", "notes.add", "mail.send", "danger.wipe"]
    served.agent["deferred_tools"] = ["notes.read", "notes.add", "danger.wipe"]
    served.write()
    assert array() == before
