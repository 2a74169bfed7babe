"""A session's calls are found through its runs, on each kind of store, and none of another's."""

import asyncio
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Ending, Event, State
from toolkeeper_ledger import SqlLedger, export, session_calls
from toolkeeper_ledger.export import Part


@pytest.fixture
def two(any_sql: SqlLedger, make: ModuleType) -> SqlLedger:
    """Two sessions whose calls were made in turns: seven of one, in two runs, and seven."""
    make.begin(any_sql, "ses_1", "run_1")
    make.begin(any_sql, "ses_2", "run_2")

    async def play() -> None:
        again = make.a_run("run_3", "ses_1", turn=2)
        await any_sql.begin_run(again, make.PLAN, [])
        for number in range(7):
            for session in ("ses_1", "ses_2"):
                later = "run_3" if number % 2 else "run_1"
                row = make.a_row(
                    f"inv_{number}_{session}",
                    session_id=session,
                    run_id=later if session == "ses_1" else "run_2",
                )
                ended = replace(row, state=State.SETTLED, outcome=Ending.COMPLETED)
                told = Event("call.settled", {}, row.run_id, row.invocation_id)
                assert await any_sql.settle(ended, [told])

    asyncio.run(play())
    return any_sql


MINE = [f"inv_{number}_ses_1" for number in range(7)]


def test_they_come_in_the_order_in_which_they_were_opened(two: SqlLedger) -> None:
    assert [row.invocation_id for row in asyncio.run(two.invocations("ses_1"))] == MINE
    assert asyncio.run(two.invocations("ses_3")) == []


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_they_are_exported_page_by_page(
    two: SqlLedger, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(export, "PAGE", size)

    async def read(**asked: Any) -> list[list[str]]:
        pages = two.exported(Part.CALLS, **asked)
        return [[row["invocation_id"] for row in page] async for page in pages]

    pages = asyncio.run(read(session_id="ses_1"))
    assert [name for page in pages for name in page] == MINE
    assert max(map(len, pages)) <= size
    assert len([name for page in asyncio.run(read()) for name in page]) == 14


def test_they_are_audited_page_by_page(two: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_calls, "PAGE", 3)
    assert asyncio.run(two.audit(session_id="ses_1")).calls == 7
    assert asyncio.run(two.audit()).calls == 14


def test_the_events_of_a_call_are_those_of_its_session_and_its_repetitions_anywhere(
    two: SqlLedger,
) -> None:
    name = MINE[0]

    async def play() -> list[tuple[str, str]]:
        repeated = Event("call.repeated", {}, "run_2", name)
        await two.append("ses_2", [repeated])
        await two.append("ses_1", [Event("call.fenced", {}, "run_1", name)])
        told = await two.events(invocation_id=name)
        assert [record.event.name for record in await two.events("ses_2", name)] == [
            "call.repeated"
        ]
        return [(record.session_id, record.event.name) for record in told]

    assert asyncio.run(play()) == [
        ("ses_1", "call.settled"),
        ("ses_2", "call.repeated"),
        ("ses_1", "call.fenced"),
    ]


def test_events_that_name_a_call_without_a_row_are_found_too(two: SqlLedger) -> None:
    async def play() -> int:
        await two.append("ses_2", [Event("call.decided", {}, "run_2", "inv_lost")])
        return len(await two.events(invocation_id="inv_lost"))

    assert asyncio.run(play()) == 1
