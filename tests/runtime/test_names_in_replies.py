"""A provider's reply speaks in wire names, whatever canonical names look like them."""

import asyncio
from typing import Any

from toolkeeper import tool
from toolkeeper.testing import keeper_of


@tool(name="notes.add", side_effect="none")
def dotted() -> str:
    """Add a note."""
    return "dotted"


@tool(name="notes_add", side_effect="none")
def plain() -> str:
    """Add a note otherwise."""
    return "plain"


def reply(name: str) -> dict[str, Any]:
    return {"content": [{"type": "tool_use", "id": "c1", "name": name, "input": {}}]}


def test_a_name_that_was_shown_for_one_tool_keeps_meaning_it() -> None:
    async def play() -> list[str]:
        keeper = keeper_of([dotted, plain], control_tools=())
        async with keeper:
            session = await keeper.open_session(
                agent="chat", provider="anthropic", intent={"disabled": ["notes_add"]}
            )
            first = await session.begin_turn()
            assert [each["name"] for each in first.tools] == ["notes_add"]
            await session.set_intent(None)
            second = await session.begin_turn()
            (shown,) = [each for each in second.tools if each["name"] != "notes_add"]
            outcomes = await second.call_all(
                [*second.calls(reply("notes_add")), *second.calls(reply(shown["name"]))]
            )
            return [outcome.row.result or "" for outcome in outcomes]

    assert asyncio.run(play()) == ["dotted", "plain"]


def test_a_canonical_name_of_a_script_means_exactly_that_tool() -> None:
    async def play() -> list[str]:
        keeper = keeper_of([dotted, plain], control_tools=())
        async with keeper, keeper.session(agent="chat") as session:
            turn = await session.begin_turn()
            calls = [turn.read("c1", name, {}) for name in ("notes.add", "notes_add")]
            return [outcome.row.result or "" for outcome in await turn.call_all(calls)]

    assert asyncio.run(play()) == ["dotted", "plain"]
