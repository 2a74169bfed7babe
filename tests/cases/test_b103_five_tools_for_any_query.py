"""B103: a query that no tool can answer still brings five tools, and the model hunts on and on.

Right: below a rule of coverage there is no match, and the index is printed again; a hunt that finds
nothing is told to stop.
"""

import asyncio
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper.testing import keeper_of

TOPICS = [
    "calendar",
    "invoice",
    "parcel",
    "weather",
    "picture",
    "ticket",
    "branch",
    "server",
    "contract",
    "customer",
]
VERBS = ["create", "list", "update", "delete"]


def made(topic: str, verb: str) -> Any:
    def work(id: str = "") -> str:
        return "done"

    work.__doc__ = f"Use this tool to {verb} one {topic} for the user and send back the outcome."
    return tool(work, name=f"{topic}.{verb}", side_effect="workspace_read")


MORE = tuple(made(topic, verb) for topic in TOPICS for verb in VERBS)


def searched(*queries: str) -> list[Any]:
    """The rows of these searches, in one turn over nothing but these forty tools."""

    async def play() -> list[Any]:
        keeper = keeper_of(MORE, deferred_tools=("*",))
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return [
                (await turn.call(turn.read(f"s{at}", "tool.search", {"query": query}))).row
                for at, query in enumerate(queries)
            ]

    return asyncio.run(play())


@pytest.mark.parametrize(
    "query",
    ["send gmail email", "gmail", "book a flight to Lisbon", "solve a sudoku", "translate poetry"],
)
def test_what_no_tool_does_has_no_match_and_prints_the_index(query: str) -> None:
    row = searched(query)[0]
    assert (row.is_error, row.code) == (True, "tool.search_invalid")
    assert row.result.startswith("no tool matches")
    assert "calendar.create(id?)" in row.result


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("send an invoice", "invoice."),
        ("delete a calendar entry", "calendar.delete"),
        ("what is the weather", "weather."),
        ("update the customer's contract", "contract.update"),
    ],
)
def test_what_a_tool_does_is_found(query: str, name: str) -> None:
    row = searched(query)[0]
    assert not row.is_error
    assert f'"name":"{name}' in row.result


def test_a_hunt_ends_with_a_word_and_without_the_index() -> None:
    rows = searched(*["send gmail email", "gmail", "gmail inbox", "email"] * 10)
    assert all(row.is_error for row in rows)
    late = rows[5:]
    assert all("stop searching" in row.result and "calendar" not in row.result for row in late)
    assert sum(row.bytes for row in late) < 35 * 300
