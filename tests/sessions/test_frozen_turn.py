"""For every request of a turn the same bytes, whatever happens in the middle of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import Code, Ending

FORMS = ["generic", "openai", "openai-responses", "anthropic", "gemini"]

WORKER = Path(__file__).parent / "turn_worker.py"


def shown(turn: Any) -> str:
    return json.dumps(turn.request)


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_whatever_happens_in_a_turn_its_request_stays(searching: Any, kit: Any, form: str) -> None:
    listing = searching.shelf("dust", "polish")

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        turn, talk = await kit.searched(session, "weather forecast", provider=form)
        first = shown(turn)
        await kit.rearrange(talk, turn, kit.shelved("dust", "sweep"), listing)
        await session.preview()
        assert shown(turn) == first
        await session.set_intent({"disabled": ["notes.add"]})
        assert shown(turn) == first
        (gone,) = await talk.step(turn, ("c1", "notes_add", {"title": "tea"}))
        assert gone.row.code is Code.WITHDRAWN
        await session.clear()
        await session.fork()
        again = await session.reopen_turn()
        assert (shown(again), again.rendering, again.run_id) == (first, turn.rendering, turn.run_id)
        # What the server lists no more is gone, what it added comes with the next turn.
        (lost,) = await talk.step(turn, ("c2", "mcp__shelf__polish", {}))
        (new,) = await talk.step(turn, ("c3", "mcp__shelf__sweep", {}))
        assert (lost.row.code, new.row.code) == (Code.WITHDRAWN, Code.NOT_OFFERED)
        assert lost.row.result == new.row.result == gone.row.result
        assert shown(turn) == first
        later = await session.begin_turn("go on", transcript=talk.messages)
        assert "mcp.shelf.sweep" in later.plan.pins
        assert "mcp.shelf.polish" not in later.plan.pins

    searching.play(act)


def test_a_restart_in_the_middle_shows_the_same_and_goes_on(
    searching: Any, kit: Any, form: str
) -> None:
    listing = searching.shelf("dust", "polish")

    async def begin(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        turn, talk = await kit.searched(session, "weather forecast", provider=form)
        return session.session_id, turn.run_id, shown(turn), talk

    session_id, run_id, first, talk = searching.play(begin)
    # While it was down the server's list, the caps and the order of the tools changed.
    listing.write_text(json.dumps(kit.shelved("sweep", "polish")))
    searching.agent["caps"] = {"definitions": 20}
    searching.agent["always_defined"] = ["notes.list", "notes.read"]

    async def go_on(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        turn = await session.reopen_turn()
        assert (turn.run_id, shown(turn)) == (run_id, first)
        (found, polished, dusted, swept) = await talk.step(
            turn,
            ("c1", "weather_today", {"city": "Ulm"}),
            ("c2", "mcp__shelf__polish", {}),
            ("c3", "mcp__shelf__dust", {}),
            ("c4", "mcp__shelf__sweep", {}),
        )
        assert found.row.outcome is Ending.COMPLETED
        assert found.row.advertised_as == "search"
        assert polished.row.outcome is Ending.COMPLETED
        assert dusted.row.code is Code.WITHDRAWN
        assert swept.row.code is Code.NOT_OFFERED
        assert [row.row.step for row in (found, polished)] == [2, 2]
        later = await session.begin_turn("go on", transcript=talk.messages)
        assert later.number == 2
        assert kit.names(later.tools)[-1] == "weather_today"
        # And the turn before can still be opened, as it was.
        assert shown(await session.reopen_turn(run_id)) == first

    searching.play(go_on)


def test_another_process_shows_the_same_bytes(searching: Any, kit: Any) -> None:
    searching.settings["functions"] = ["frozen_tools:TOOLS"]
    (searching.folder / "frozen_tools.py").write_text(
        "from toolkeeper import tool\n\n\n"
        "@tool(name='notes.list', side_effect='workspace_read')\n"
        "def list_notes() -> str:\n"
        '    """List the notes."""\n'
        "    return 'none'\n\n\n"
        "@tool(name='weather.today', side_effect='network_read')\n"
        "def weather(city: str) -> str:\n"
        '    """Tell the weather forecast of a city."""\n'
        "    return 'rain'\n\n\n"
        "TOOLS = [list_notes, weather]\n"
    )
    searching.settings["agents"] = {
        "chat": {**searching.agent, "tools": ["notes.list", "weather.today"]}
    }
    searching.tools = list
    file = searching.write()

    def work(*args: str) -> Any:
        done = subprocess.run(
            [sys.executable, str(WORKER), str(file), *args],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return json.loads(done.stdout)

    # The first process dies without a word as soon as it has searched.
    began = work("begin")
    reopened = work("reopen", began["session"])
    assert reopened["request"] == began["request"]
    assert reopened["outcome"] == ["completed", "search"]
    following = work("next", began["session"])
    assert kit.names(following["tools"])[-1] == "weather_today"


def test_resolution_is_against_the_pins_never_the_array(office: Any, kit: Any) -> None:
    office.agent |= {"deferred_tools": ["*"], "caps": {"index_entries": 1}}

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("go on")
        assert kit.names(turn.tools) == ["tool_call", "tool_search", "tool_result"]
        talk = kit.Talk("generic")
        for name in ("notes.list", "weather.today"):
            arguments = {} if name == "notes.list" else {"city": "Ulm"}
            (direct,) = await talk.step(turn, ("c1", name.replace(".", "_"), arguments))
            wrapped = ("c2", "tool_call", {"name": name, "arguments": arguments})
            (called,) = await talk.step(turn, wrapped)
            assert (direct.row.outcome, called.row.outcome) == ("completed", "completed")
            assert (direct.row.tool, called.row.tool) == (name, name)

    office.play(act)


def test_no_such_turn_and_no_turn_yet_are_told(office: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        with pytest.raises(Exception, match="the session has no turn yet"):
            await session.reopen_turn()
        turn = await session.begin_turn("go on")
        with pytest.raises(Exception, match="the session has no turn `run_gone`"):
            await session.reopen_turn("run_gone")
        fork = await session.fork()
        with pytest.raises(Exception, match="the session has no turn"):
            await fork.reopen_turn(turn.run_id)

    office.play(act)


def test_two_processes_cannot_begin_the_same_turn(office: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        twin = await keeper.resumed_session(session.session_id)
        await session.begin_turn("one")
        assert (await twin.begin_turn("two")).number == 2
        assert (await session.begin_turn("three")).number == 3

    office.play(act)
