"""What a process holds does not grow with the calls that it has made."""

import asyncio
import gc
from pathlib import Path

import pytest

from toolkeeper import Session, tool
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.keeper import Toolkeeper
from toolkeeper.testing import keeper_of
from toolkeeper_contract import (
    Classification,
    Completed,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_ledger import SealingKey, open_ledger
from toolkeeper_pipeline import Schemas
from toolkeeper_pipeline import run as run_module
from toolkeeper_policy import load_policy, provenance

pytestmark = pytest.mark.sqlite_file

CALLS = 1_100


@tool(name="notes.add", side_effect="workspace_read")
async def add_note(title: str, tags: list[str]) -> str:
    """Add a note."""
    return f"noted {title}"


async def many_calls(session: Session, first: int) -> None:
    turn = await session.begin_turn("make notes")
    for number in range(first, first + CALLS):
        arguments = {"title": f"note {number}", "tags": ["a"]}
        outcome = await turn.call(turn.read(f"c{number}", "notes.add", arguments))
        assert isinstance(outcome, Completed)


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def test_a_thousand_calls_more_leave_no_objects_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "MOST_WAITING", CALLS - 100)
    clock = SystemClock()
    url = f"sqlite:///{tmp_path / 'ledger.db'}"

    async def growth(*, apart: bool) -> int:
        ledger = open_ledger(url, clock=clock)
        configuration = Configuration(
            file="testing",
            folder=tmp_path,
            store=url,
            agents={"chat": Agent(name="chat", tools=("notes.add",))},
        )
        keeper = Toolkeeper(
            configuration,
            policy=load_policy([]),
            ledger=ledger,
            sealer=SealingKey.generate(),
            clock=clock,
            ids=RandomIds(),
        )
        keeper.add(add_note)
        async with keeper:
            session = await keeper.open_session(agent="chat")
            await many_calls(session, 0)
            before = objects()
            if apart:
                session = await keeper.open_session(agent="chat")
            await many_calls(session, CALLS)
            after = objects()
        await ledger.close()
        return after - before

    # One object a call would be twice as many; what waits to be indexed differs by less.
    assert asyncio.run(growth(apart=False)) < CALLS // 2
    assert asyncio.run(growth(apart=True)) < CALLS // 2


def test_a_server_that_changes_for_weeks_leaves_few_compiled_schemas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "_KEPT", 4)
    schemas = Schemas()
    for number in range(20):
        schema = {"type": "object", "properties": {f"p{number}": {"type": "string"}}}
        made = Tool.of(
            ToolIdentity(SourceKind.MCP, "shelf", "list"),
            ToolDefinition("list", None, "Lists.", schema, output_schema=schema),
            Classification(SideEffect.WORKSPACE_READ, frozenset(), "declaration"),
        )
        for _ in range(2):
            assert schemas.input(made).is_valid({f"p{number}": "x"})
            assert not schemas.input(made).is_valid({f"p{number}": 1})
            schemas.output(made)
            schemas.secret_arguments(made)
            schemas.secret_results(made)
    compiled = [value for value in vars(schemas).values() if isinstance(value, dict)]
    assert [len(kept) for kept in compiled] == [4, 4, 4, 4]


def test_a_turn_remembers_only_names_that_nothing_answers_to() -> None:
    async def play() -> dict[str, str]:
        keeper = keeper_of([add_note])
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            for number in range(20):
                arguments = {"title": f"{number}", "tags": []}
                await turn.call(turn.read(f"c{number}", "notes.add", arguments))
            await turn.call(turn.read("c20", "No such tool", {}))
            return turn._called_as

    assert list(asyncio.run(play()).values()) == ["No such tool"]
