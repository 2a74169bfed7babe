"""Accepted definitions outlive their process, and a broken one is never taken for none."""

import asyncio
import sqlite3
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import AcceptedTool, Code, RunError, ToolDefinition
from toolkeeper_ledger import open_ledger

OLD, NEW = "a" * 64, "b" * 64


def a_tool(make: ModuleType, name: str, fingerprint: str = OLD, by: str = "ana") -> AcceptedTool:
    return AcceptedTool(name, fingerprint, name.split(".")[1], make.START, by)


def test_accepted_definitions_read_back_by_name(desk: Any, make: ModuleType) -> None:
    tools = [a_tool(make, f"mcp.crm.{name}") for name in ("send", "find")]
    desk.wait(desk.ledger.accept(tools))
    assert desk.wait(desk.ledger.accepted_tools()) == tools[::-1]


def test_nothing_is_accepted_at_first(desk: Any) -> None:
    assert desk.wait(desk.ledger.accepted_tools()) == []
    desk.wait(desk.ledger.accept([]))
    assert desk.wait(desk.ledger.accepted_tools()) == []


def test_a_name_has_one_accepted_definition(desk: Any, make: ModuleType) -> None:
    old, new = a_tool(make, "mcp.crm.send"), a_tool(make, "mcp.crm.send", NEW, "eve")
    desk.wait(desk.ledger.accept([old, a_tool(make, "mcp.crm.find")]))
    desk.wait(desk.ledger.accept([new]))
    kept = desk.wait(desk.ledger.accepted_tools())
    assert kept == [a_tool(make, "mcp.crm.find"), new]
    desk.wait(desk.ledger.accept([new, old]))
    assert desk.wait(desk.ledger.accepted_tools())[-1] == old


def test_only_one_listing_of_a_source_is_the_first(desk: Any, make: ModuleType) -> None:
    first = [a_tool(make, "mcp.crm.find"), a_tool(make, "mcp.crm.send")]
    desk.wait(desk.ledger.accept(first, first=True))
    late = [a_tool(make, "mcp.crm.send", NEW), a_tool(make, "mcp.crm.wipe")]
    other = a_tool(make, "mcp.git.log")
    desk.wait(desk.ledger.accept([*late, other], first=True))
    assert desk.wait(desk.ledger.accepted_tools()) == [*first, other]


def test_accepted_definitions_are_there_in_another_process(
    store: str, clock: Any, make: ModuleType
) -> None:
    async def both() -> Any:
        one = open_ledger(store, clock=clock)
        two = open_ledger(store, clock=clock)
        await one.accept([a_tool(make, "mcp.crm.send")])
        seen = await two.accepted_tools()
        await one.close()
        await two.close()
        return seen

    assert asyncio.run(both()) == [a_tool(make, "mcp.crm.send")]


def a_definition(text: str = "Sends a mail.") -> ToolDefinition:
    schema = {"type": "object", "properties": {"n": {"maximum": 2**80, "x": [1.0, None, "ü"]}}}
    return ToolDefinition("send", None, text, schema, None, {"readOnlyHint": False})


def test_an_accepted_definition_is_kept_word_for_word(desk: Any, make: ModuleType) -> None:
    known, stray = a_definition(), a_definition("Sends two mails.")
    tool = a_tool(make, "mcp.crm.send", known.fingerprint())
    desk.wait(desk.ledger.accept([tool], definitions=[known, stray]))
    assert desk.wait(desk.ledger.accepted_definition(known.fingerprint())) == known
    assert desk.wait(desk.ledger.accepted_definition(stray.fingerprint())) is None
    desk.wait(desk.ledger.accept([tool], definitions=[known]))
    late = a_tool(make, "mcp.crm.send", stray.fingerprint())
    desk.wait(desk.ledger.accept([late], definitions=[stray], first=True))
    assert desk.wait(desk.ledger.accepted_definition(stray.fingerprint())) is None
    desk.wait(desk.ledger.accept([late], definitions=[stray]))
    # What it was before can still be told.
    assert desk.wait(desk.ledger.accepted_definition(known.fingerprint())) == known


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "{}"])
def test_a_changed_definition_is_not_read(
    store: str, clock: Any, make: ModuleType, tmp_path: Path, body: str
) -> None:
    ledger = open_ledger(store, clock=clock)
    known = a_definition()
    tool = a_tool(make, "mcp.crm.send", known.fingerprint())
    asyncio.run(ledger.accept([tool], definitions=[known]))
    plain = sqlite3.connect(tmp_path / "ledger.db")
    plain.execute("UPDATE accepted_definitions SET body = ?", (body,))
    plain.commit()
    plain.close()
    with pytest.raises(RunError) as failure:
        asyncio.run(ledger.accepted_definition(known.fingerprint()))
    asyncio.run(ledger.close())
    assert failure.value.code is Code.LEDGER_UNAVAILABLE


@pytest.mark.parametrize(
    "damage",
    [
        f"UPDATE accepted_tools SET fingerprint = '{OLD[:20]}'",
        "UPDATE accepted_tools SET fingerprint = ''",
        "UPDATE accepted_tools SET at = ''",
        "UPDATE accepted_tools SET at = '2026-13-01'",
        "UPDATE accepted_tools SET source = ''",
        "UPDATE accepted_tools SET by_name = ''",
        "UPDATE accepted_tools SET fingerprint = x'00'",
        "UPDATE accepted_tools SET at = 7",
        "DROP TABLE accepted_tools",
    ],
)
def test_a_broken_row_is_never_taken_for_none(
    store: str, clock: Any, make: ModuleType, tmp_path: Path, damage: str
) -> None:
    ledger = open_ledger(store, clock=clock)
    asyncio.run(ledger.accept([a_tool(make, "mcp.crm.send")]))
    asyncio.run(ledger.close())
    plain = sqlite3.connect(tmp_path / "ledger.db")
    plain.execute(damage)
    plain.commit()
    plain.close()
    again = open_ledger(store, clock=clock)
    with pytest.raises(RunError) as failure:
        asyncio.run(again.accepted_tools())
    asyncio.run(again.close())
    assert failure.value.code is Code.LEDGER_UNAVAILABLE
    assert OLD[:10] not in str(failure.value)
