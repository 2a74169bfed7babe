"""B141: what hurts by its form is bounded before anything is made of it.

Many blocks, deep nesting or many small values cost more than their bytes say.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper.testing import keeper_of
from toolkeeper_contract import Blob, Code, Ending, Invocation, Text, ToolResult

HEAVY = Path(__file__).parent / "servers" / "heavy_server.py"


def nested(depth: int, leaf: Any = 0) -> Any:
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def loop() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@tool(name="give", side_effect="none")
def give(what: str) -> Any:
    """Give something."""
    return {
        "blocks": lambda: ToolResult(tuple(Text(f"b{n}") for n in range(10_000))),
        "blobs": lambda: ToolResult(tuple(Blob(b"\x00\x01", "a/b") for _ in range(10_000))),
        "deep": lambda: nested(5_000),
        "deep_enough": lambda: nested(200),
        "deep_beside_text": lambda: ToolResult((Text("told"),), nested(5_000)),
        "deep_text": lambda: "[" * 5_000 + "]" * 5_000,
        "deep_names": lambda: {"a": nested(5_000, {"password": "x"})},
        "loop": loop,
        "nodes": lambda: list(range(100_000)),
        "names": lambda: {f"k{n}": n for n in range(150_000)},
        "long_name": lambda: {"k" * 40_000_000: 1},
        "million": lambda: [[0] * 1_000] * 1_001,
        "long_text": lambda: {"a": "x" * 40_000_000},
        "fine": lambda: {"a": [1, 2]},
    }[what]()


def row_of(what: str, **limits: Any) -> Invocation:
    async def run() -> Any:
        keeper = keeper_of([give], limits=Limits(result_bytes=2_000, **limits))
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            outcome = await turn.call(turn.read("c1", "give", {"what": what}))
            # Whatever it was, the next call is served.
            after = await turn.call(turn.read("c2", "give", {"what": "fine"}))
            assert after.row.result == '{"a":[1,2]}'
            return outcome.row

    row: Invocation = asyncio.run(run())
    assert len((row.result or "").encode()) < 3_000
    return row


@pytest.mark.parametrize(
    "what", ["deep", "deep_names", "loop", "million", "long_name", "long_text"]
)
def test_what_cannot_be_taken_in_ends_the_call_and_says_so(what: str) -> None:
    row = row_of(what)
    assert (row.outcome, row.code) == (Ending.FAILED, Code.FAILED_RESULT_INVALID)
    assert row.result == "the tool ran, but its result is too large or too deep to be read"


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("blobs", "[9,000 of 10,000 parts are left out]"),
        ("deep_enough", "[structured content of more than 128 levels is left out]"),
        ("deep_beside_text", "[structured content of more than 128 levels is left out]"),
        ("names", "[structured content of more than 100,000 values is left out]"),
    ],
)
def test_what_can_be_shown_is_shown_with_a_note_on_the_rest(what: str, says: str) -> None:
    row = row_of(what)
    assert row.outcome is Ending.COMPLETED
    assert row.truncated
    assert says in (row.result or "").splitlines()


def test_ten_thousand_texts_are_read_like_one() -> None:
    row = row_of("blocks")
    assert row.outcome is Ending.COMPLETED
    assert row.handle
    assert "left out" not in (row.result or "")


def test_deep_text_is_text_like_any_other() -> None:
    row = row_of("deep_text")
    assert row.outcome is Ending.COMPLETED
    assert row.truncated


def test_a_hundred_thousand_values_are_read_on_by_handle() -> None:
    row = row_of("nodes", result_nodes=200_000)
    assert (row.outcome, row.truncated) == (Ending.COMPLETED, True)
    assert (row.result or "").startswith("[0,1,2,")


@pytest.mark.parametrize("limit", [1, 2, 999])
def test_the_limits_are_the_agents(limit: int) -> None:
    row = row_of("blobs", result_blocks=limit)
    assert f"[{10_000 - limit:,} of 10,000 parts are left out]" in (row.result or "")


@pytest.fixture
def heavy(home: Any) -> Any:
    home.servers["heavy"] = {"command": sys.executable, "args": [str(HEAVY)]}
    home.agent = {"tools": [], "servers": ["heavy"], "deferred_tools": []}
    home.settings = {"policy": ["policy.yaml"]}
    home.write()
    (home.folder / "policy.yaml").write_text(
        "version: 1\ntaint: off\nrules:\n"
        "  - {id: all, tools: ['*'], flags: [destructive], effect: allow}\n"
    )
    return home


def test_a_servers_answer_that_is_too_deep_ends_its_call_at_once(heavy: Any) -> None:
    names = ("deep", "fine", "deep_id_last", "nodes", "checked", "structured_error", "fine")
    lines = heavy.run(
        *(
            {"id": f"c{n}", "tool": f"mcp.heavy.{name}", "arguments": {}}
            for n, name in enumerate(names)
        )
    )
    assert [(line["outcome"], line["code"]) for line in lines] == [
        ("failed", "tool.failed.result_invalid"),
        ("completed", None),
        ("failed", "tool.failed.result_invalid"),
        ("completed", None),
        # With an output schema a result that cannot be held against it is none.
        ("failed", "tool.failed.result_invalid"),
        # What a tool calls an error need not look like its results.
        ("completed", None),
        ("completed", None),
    ]
    assert "[structured content of more than 100,000 values is left out]" in lines[3]["result"]
    assert lines[5]["is_error"] is True
    assert "wrong" in lines[5]["result"]
