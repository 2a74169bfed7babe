"""What the model reads of a call is readable, bounded and without secrets, however it ended."""

import asyncio
from typing import Any

import pytest

from toolkeeper import ToolError, tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper.testing import keeper_of
from toolkeeper_contract import Code, Ending, Invocation

WORDS = {
    "surrogate": "half a pair \ud800",
    "secret": "the login failed: password=hunter2-hunter2",
    "long": "x" * 10_000,
}


@tool(name="words.raise", side_effect="none")
def complain(which: str) -> str:
    """Fail with words for the model."""
    raise ToolError(Code.FAILED, WORDS[which])


@tool(name="words.give", side_effect="none")
def give(which: str) -> str:
    """Give words."""
    return WORDS[which]


def row_of(name: str, which: str, call_id: str = "c1") -> Invocation:
    async def play() -> Any:
        keeper = keeper_of([complain, give], limits=Limits(result_bytes=1_000))
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return (await turn.call(turn.read(call_id, name, {"which": which}))).row

    return asyncio.run(play())


@pytest.mark.parametrize("name", ["words.raise", "words.give"])
@pytest.mark.parametrize("which", sorted(WORDS))
def test_words_of_a_tool_are_held_to_the_same_rules_also_when_it_fails(
    name: str, which: str
) -> None:
    row = row_of(name, which)
    assert row.outcome is (Ending.FAILED if name == "words.raise" else Ending.COMPLETED)
    assert row.result is not None
    row.result.encode("utf-8")
    assert "hunter2" not in row.result
    assert row.bytes <= 1_000
    assert row.truncated is (which == "long")


def test_a_call_id_that_no_store_takes_still_gets_its_row() -> None:
    row = row_of("words.give", "secret", call_id="c\ud800")
    assert row.outcome is Ending.COMPLETED
    assert row.call_id == "c\\ud800"
