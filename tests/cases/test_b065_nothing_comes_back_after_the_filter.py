"""B65: what is added after the filter, or asked for by the model, brings disabled tools back.

Right: one expansion, in which what takes away comes last; a late addition, an overlay or a list
that somebody supplies cannot bring back what was denied, and a child has a part of its parent's.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper_contract import Code, Ending

pytestmark = pytest.mark.in_this_process

SHELF = Path(__file__).parents[1] / "servers" / "shelf_server.py"
SCHEMA = {"type": "object"}


@tool(name="memory.write", side_effect="none")
def memory_write(text: str = "") -> str:
    """Write to the memory."""
    raise AssertionError("this must not run")


@tool(name="terminal", side_effect="none")
def terminal(command: str = "") -> str:
    """Run a command."""
    raise AssertionError("this must not run")


MORE = (memory_write, terminal)
WAYS: list[tuple[str, Any]] = [
    ("memory.write", {}),
    ("memory_write", {}),
    ("tool.call", {"name": "memory.write"}),
    ("tool.search", {"select": ["memory.write"]}),
]


async def refused(turn: Any) -> None:
    for at, (name, arguments) in enumerate(WAYS):
        row = (await turn.call(turn.read(f"c{at}", name, arguments))).row
        if name == "tool.search":
            assert row.is_error
        else:
            assert (row.outcome, row.code) == (Ending.REFUSED, Code.NOT_OFFERED)


@pytest.mark.parametrize(
    "intent",
    [
        {"disabled": ["memory.write"]},
        {"disabled": ["memory.write"], "overlays": {"memory": True}},
        {"disabled": ["memory.write"], "toolset": "writing"},
        {"disabled": ["memory.write"], "allowed": ["memory.write", "notes.list"]},
        {"allowed": ["notes.list"], "disabled": ["memory.write"], "overlays": {"memory": True}},
    ],
    ids=json.dumps,
)
def test_what_is_disabled_stays_away_whatever_else_asks_for_it(shop: Any, intent: Any) -> None:
    async def play() -> None:
        keeper = shop.keeper(
            *MORE,
            deferred_tools=("*",),
            overlays={"memory": ("memory.write",)},
            toolsets={"writing": ("memory.write", "notes.add")},
            always_defined=("memory.write",),
        )
        async with keeper, keeper.session(agent="chat", user="ana", intent=intent) as session:
            turn = await session.begin_turn()
            assert "memory.write" not in turn.plan.pins
            assert "memory.write" not in turn.system
            await refused(turn)
            forced = await session.begin_turn(tool_choice=next(iter(turn.plan.pins)))
            await refused(forced)

    asyncio.run(play())


@pytest.mark.parametrize("override", [{"allowed": ["memory.write"]}, ["memory.write"]])
def test_an_unconditional_denial_outlives_what_a_turn_asks_for(shop: Any, override: Any) -> None:
    policy = "version: 1\nrules:\n  - {id: no-memory, tools: ['memory.*'], effect: deny}\n"

    async def play() -> None:
        keeper = shop.keeper(*MORE, deferred_tools=("*",), policy=policy)
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn(override=override)
            assert "memory.write" not in turn.plan.pins
            await refused(turn)

    asyncio.run(play())


@pytest.mark.parametrize("brief", [["terminal", "notes.list"], ["*"], ["Terminal"], None])
def test_a_child_gets_nothing_that_its_parent_lacks(shop: Any, brief: Any) -> None:
    async def play() -> None:
        keeper = shop.keeper(*MORE, deferred_tools=("*",))
        intent = {"disabled": ["terminal"]}
        async with keeper, keeper.session(agent="chat", user="ana", intent=intent) as session:
            parent = await session.begin_turn()
            child = await parent.delegate(brief)
            turn = await child.begin_turn(override={"allowed": ["terminal", "notes.list"]})
            assert set(turn.plan.pins) <= set(parent.plan.pins)
            await child.set_intent(None)
            again = await child.begin_turn()
            assert set(again.plan.pins) <= set(parent.plan.pins)
            grandchild = await (await again.delegate(["terminal"])).begin_turn()
            assert "terminal" not in grandchild.plan.pins
            for name in ("terminal", "tool.call"):
                arguments = {"name": "terminal"} if name == "tool.call" else {}
                row = (await turn.call(turn.read("c", name, arguments))).row
                assert row.code is Code.NOT_OFFERED

    asyncio.run(play())


def test_what_a_server_adds_later_under_a_disabled_name_stays_disabled(home: Any) -> None:
    listing = home.folder / "shelf.json"
    shelf = [{"name": name, "inputSchema": SCHEMA} for name in ("rearrange",)]
    listing.write_text(json.dumps(shelf))
    added = [*shelf, {"name": "memory.write", "inputSchema": SCHEMA}]
    home.servers["shelf"] = {
        "command": sys.executable,
        "args": [str(SHELF), str(listing)],
        "trust": "trusted",
    }
    home.agent["servers"] = ["shelf"]
    home.write()
    name = "mcp.shelf.memory.write"
    session = home.folder / "late.yaml"
    session.write_text(
        json.dumps(
            {
                "agent": "chat",
                "user": "ana",
                "intent": {"disabled": [name]},
                "turns": [
                    {
                        "user": "rearrange",
                        "calls": [
                            {
                                "id": "c1",
                                "tool": "mcp.shelf.rearrange",
                                "arguments": {"tools": added},
                            }
                        ],
                        "approvals": {"*": "approve"},
                    },
                    {
                        "user": "write it down",
                        "calls": [
                            {"id": "c2", "tool": name, "arguments": {}},
                            {"id": "c3", "tool": "tool.call", "arguments": {"name": name}},
                        ],
                        "approvals": {"*": "approve"},
                    },
                ],
            }
        )
    )
    lines = home.toolkeeper("run", str(session), "--json", expect=1).lines()
    assert lines[0]["outcome"] == "completed"
    assert [line["code"] for line in lines[1:]] == ["tool.not_found.not_offered"] * 2
