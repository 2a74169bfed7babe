"""What a turn shows is kept once, word for word, and found again by its digest."""

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, Event, RunError, digest_bytes
from toolkeeper_ledger import open_ledger

TEXT = '{"system":"be brief €","tools":[{"name":"notes_add"}]}'
DIGEST = digest_bytes(TEXT.encode("utf-8"))


def a_turn(make: ModuleType, turn: int, rendering: str | None = DIGEST, **changes: Any) -> Any:
    run = make.a_run(f"run_{turn}", turn=turn)
    return replace(run, rendering=rendering, **changes)


def refused(desk: Any, answer: Any) -> None:
    before = desk.wait(desk.ledger.events()), desk.wait(desk.ledger.session("ses_1"))
    with pytest.raises(RunError) as failure:
        desk.wait(answer)
    assert failure.value.code is Code.LEDGER_CONFLICT
    assert before == (desk.wait(desk.ledger.events()), desk.wait(desk.ledger.session("ses_1")))


def test_a_rendering_reads_back_word_for_word(desk: Any, make: ModuleType) -> None:
    run = a_turn(make, 2)
    desk.wait(desk.ledger.begin_run(run, make.PLAN, [], rendering=TEXT))
    assert desk.wait(desk.ledger.rendering(DIGEST)) == TEXT
    assert desk.wait(desk.ledger.run("run_2")) == run


def test_a_later_turn_may_name_a_rendering_or_bring_it_again(desk: Any, make: ModuleType) -> None:
    desk.wait(desk.ledger.begin_run(a_turn(make, 2), make.PLAN, [], rendering=TEXT))
    desk.wait(desk.ledger.begin_run(a_turn(make, 3), make.PLAN, []))
    desk.wait(desk.ledger.begin_run(a_turn(make, 4), make.PLAN, [], rendering=TEXT))
    assert [run.rendering for run in desk.wait(desk.ledger.runs("ses_1"))] == [None] + [DIGEST] * 3
    assert desk.wait(desk.ledger.rendering(DIGEST)) == TEXT


def test_a_rendering_that_is_not_what_the_run_names_is_refused(desk: Any, make: ModuleType) -> None:
    told = [Event("session.planned")]
    begin = desk.ledger.begin_run
    refused(desk, begin(a_turn(make, 2), make.PLAN, told, rendering=TEXT + " "))
    refused(desk, begin(a_turn(make, 2, None), make.PLAN, told, rendering=TEXT))
    refused(desk, begin(a_turn(make, 2), make.PLAN, told))
    assert desk.wait(desk.ledger.rendering(DIGEST)) is None
    assert desk.wait(desk.ledger.run("run_2")) is None


def test_an_unknown_rendering_is_none(desk: Any) -> None:
    assert desk.wait(desk.ledger.rendering("0" * 64)) is None


def test_the_turns_of_a_session_come_in_their_order(desk: Any, make: ModuleType) -> None:
    make.begin(desk.ledger, "ses_2", "run_of_2")
    for turn in (3, 2):
        desk.wait(desk.ledger.begin_run(a_turn(make, turn, None), make.PLAN, []))
    assert [run.turn for run in desk.wait(desk.ledger.runs("ses_1"))] == [1, 2, 3]
    assert [run.run_id for run in desk.wait(desk.ledger.runs("ses_2"))] == ["run_of_2"]
    assert desk.wait(desk.ledger.runs("ses_9")) == []


@pytest.mark.parametrize("override", [None, [], ["notes.add"], {"enabled": False}])
def test_a_turns_own_toggle_reads_back_equal(desk: Any, make: ModuleType, override: Any) -> None:
    run = a_turn(make, 2, None, override=override)
    desk.wait(desk.ledger.begin_run(run, make.PLAN, []))
    assert desk.wait(desk.ledger.run("run_2")) == run
    assert desk.wait(desk.ledger.session("ses_1")).intent is None


@pytest.mark.parametrize("granted", [None, {}, {"notes.add": "f" * 64, "a.b": "e" * 64}])
def test_what_a_session_comes_from_reads_back_equal(
    desk: Any, make: ModuleType, granted: Any
) -> None:
    session = make.a_session(
        "ses_2", model="m-4", endpoint="https://x.example/v1", parent="ses_1", granted=granted
    )
    desk.wait(desk.ledger.open_session(session, []))
    assert desk.wait(desk.ledger.session("ses_2")) == session


def test_a_rendering_outlives_its_process(store: str, clock: Any, make: ModuleType) -> None:
    first = open_ledger(store, clock=clock)
    make.begin(first)
    asyncio.run(first.begin_run(a_turn(make, 2), make.PLAN, [], rendering=TEXT))
    asyncio.run(first.close())
    second = open_ledger(store, clock=clock)
    assert asyncio.run(second.rendering(DIGEST)) == TEXT
    asyncio.run(second.close())


def test_a_rendering_that_somebody_changed_is_not_shown(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    ledger = open_ledger(store, clock=clock)
    make.begin(ledger)
    asyncio.run(ledger.begin_run(a_turn(make, 2), make.PLAN, [], rendering=TEXT))
    plain = sqlite3.connect(tmp_path / "ledger.db")
    plain.execute("UPDATE renderings SET body = replace(body, 'brief', 'rude')")
    plain.commit()
    plain.close()
    with pytest.raises(RunError, match="a rendering was changed after it was stored") as failure:
        asyncio.run(ledger.rendering(DIGEST))
    assert failure.value.code is Code.LEDGER_UNAVAILABLE
    asyncio.run(ledger.close())
