"""A turn that began goes on in another process, whatever its servers list by then."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolkeeper import Completed, ConfigError, Refused, Suspended, Toolkeeper
from toolkeeper_contract import ApprovalState, canonical_text

SERVER = Path(__file__).parent.parent / "servers" / "bookshelf_server.py"
ATLAS, NOVEL = "mcp.shelf.atlas", "mcp.shelf.novel"

Shelf = Callable[..., None]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An agent that has two tools of a server by name; one of them asks."""
    command = {"command": sys.executable, "args": [str(SERVER), str(tmp_path / "shelf.json")]}
    text = {
        "version": 1,
        "servers": {"shelf": {**command, "trust": "trusted"}},
        "policy": ["policy.yaml"],
        "agents": {"chat": {"tools": [ATLAS, NOVEL]}},
    }
    policy = {
        "version": 1,
        "rules": [
            {"id": "ask", "tools": [NOVEL], "effect": "ask"},
            {"id": "free", "tools": [ATLAS], "flags": ["destructive"], "effect": "allow"},
        ],
    }
    (tmp_path / "policy.yaml").write_text(json.dumps(policy))
    path = tmp_path / "toolkeeper.yaml"
    path.write_text(json.dumps(text))
    return path


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Puts tools into the server's file, for its next start."""

    def stock(**tools: str) -> None:
        (tmp_path / "shelf.json").write_text(json.dumps(tools))

    return stock


async def begun(config: Path) -> tuple[str, str]:
    """A session with one turn; its id and what the turn shows."""
    async with Toolkeeper.from_config(config) as keeper:
        session = await keeper.open_session(agent="chat")
        turn = await session.begin_turn("x")
        return session.session_id, canonical_text(turn.request)


@pytest.mark.parametrize(
    "now",
    [
        {"novel": "Tells a story."},
        {"atlas": "Shows quite another map.", "novel": "Tells a story."},
        {"atlas": "Shows a map.", "novel": "Tells a story.", "zoo": "Names an animal."},
        {},
    ],
    ids=["dropped", "changed", "added", "emptied"],
)
def test_the_same_bytes_are_shown_whatever_the_server_lists(
    config: Path, shelf: Shelf, now: dict[str, str]
) -> None:
    async def main() -> None:
        shelf(atlas="Shows a map.", novel="Tells a story.")
        session_id, shown = await begun(config)
        shelf(**now)
        async with Toolkeeper.from_config(config) as keeper:
            session = await keeper.resumed_session(session_id)
            turn = await session.reopen_turn()
            assert canonical_text(turn.request) == shown
            assert await outcome_of(turn) is (Completed if "zoo" in now else Refused)

    async def outcome_of(turn: Any) -> type:
        return type(await turn.call(turn.read("c1", ATLAS, {"copies": 2})))

    asyncio.run(main())


def test_a_turn_that_begins_anew_is_told_of_the_configured_tool_that_is_gone(
    config: Path, shelf: Shelf
) -> None:
    async def main() -> None:
        shelf(atlas="Shows a map.", novel="Tells a story.")
        session_id, _ = await begun(config)
        shelf(novel="Tells a story.")
        async with Toolkeeper.from_config(config) as keeper:
            session = await keeper.resumed_session(session_id)
            await session.reopen_turn()
            with pytest.raises(ConfigError, match=f"unknown tool `{ATLAS}`"):
                await session.begin_turn("y")

    asyncio.run(main())


def test_an_approved_call_runs_though_another_tool_is_gone(config: Path, shelf: Shelf) -> None:
    from toolkeeper import resume_one

    async def main() -> None:
        shelf(atlas="Shows a map.", novel="Tells a story.")
        async with Toolkeeper.from_config(config) as keeper:
            session = await keeper.open_session(agent="chat")
            turn = await session.begin_turn("x")
            parked = await turn.call(turn.read("c1", NOVEL, {"copies": 3}))
            assert isinstance(parked, Suspended)
            approval_id = parked.row.approval_id
            assert approval_id is not None
            await keeper.desk().answer(approval_id, ApprovalState.APPROVED, by="local")
        shelf(novel="Tells a story.")
        async with Toolkeeper.from_config(config) as keeper:
            taken = await resume_one(keeper, approval_id)
            (outcome,) = taken.outcomes
            assert isinstance(outcome, Completed), outcome
            assert "3 of novel" in (outcome.row.result or "")

    asyncio.run(main())
