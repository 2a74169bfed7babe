"""A tool that a search found: called at once, defined at the next turn, gone from the listing."""

import json
from typing import Any

import pytest

from toolkeeper_contract import AdvertisedAs, Code, Ending


@pytest.mark.parametrize("listing", ["index", "names", "none"])
def test_a_found_tool_is_called_at_once_and_defined_at_the_next_turn(
    searching: Any, kit: Any, listing: str
) -> None:
    searching.agent["listing"] = listing

    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn, talk = await kit.searched(session, "weather forecast")
            shown = turn.rendering
            assert "weather_today" not in kit.names(turn.tools)
            direct, wrapped = await talk.step(
                turn,
                ("c1", "weather_today", {"city": "Ulm"}),
                ("c2", "tool_call", {"name": "weather.today", "arguments": {"city": "Bern"}}),
            )
            assert [row.row.outcome for row in (direct, wrapped)] == [Ending.COMPLETED] * 2
            assert direct.row.advertised_as is AdvertisedAs.SEARCH
            assert wrapped.row.advertised_as is AdvertisedAs.TOOL_CALL
            assert turn.rendering == shown
            later = await session.begin_turn("and now", transcript=talk.messages)
            assert kit.names(later.tools) == [*kit.names(turn.tools), "weather_today"]
            assert "weather.today" not in later.system
            assert ("weather.today" in turn.system) == (listing != "none")
            assert later.plan.loaded == ("weather.today",)
            (again,) = await talk.step(later, ("c3", "weather_today", {"city": "Rom"}))
            assert again.row.advertised_as is AdvertisedAs.DEFINITION

    searching.play(act)


def test_loaded_tools_stand_in_load_order_behind_everything_else(searching: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn, talk = await kit.searched(session, "weather forecast")
            await talk.search(turn, "send an email", "s2")
            await talk.search(turn, "weather forecast", "s3")
            later = await session.begin_turn("go on", transcript=talk.messages)
            assert later.plan.loaded == ("weather.today", "mail.send")
            before = kit.names(turn.tools)
            assert kit.names(later.tools) == [*before, "weather_today", "mail_send"]
            await talk.search(later, "read a note aloud", "s4")
            last = await session.begin_turn("go on", transcript=talk.messages)
            assert kit.names(last.tools)[: len(before) + 2] == kit.names(later.tools)
            assert last.plan.loaded[2:][0] == "notes.read"

    searching.play(act)


def test_a_loaded_tool_that_does_not_fit_stays_callable_with_a_reason(
    searching: Any, kit: Any
) -> None:
    searching.agent["caps"] = {"definitions": 5}

    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn, talk = await kit.searched(session, "weather forecast")
            await talk.search(turn, "send an email", "s2")
            later = await session.begin_turn("go on", transcript=talk.messages)
            assert later.plan.loaded == ("weather.today",)
            (over,) = later.plan.overflow
            assert (over.name, over.reason) == ("mail.send", "definition_cap")
            assert "mail_send" not in kit.names(later.tools)
            (sent,) = await talk.step(later, ("c1", "mail_send", {"to": "bo"}))
            assert (sent.row.tool, sent.row.outcome) == ("mail.send", Ending.SUSPENDED)
            assert sent.row.advertised_as is AdvertisedAs.SEARCH
            events = await keeper.ledger.events(session_id=session.session_id)
            planned = [e.event for e in events if e.event.name == "session.planned"][-1]
            assert planned.data["loaded_overflow"] == [
                {"name": "mail.send", "reason": "definition_cap"}
            ]

    searching.play(act)


def test_with_the_index_a_search_promotes_nothing(office: Any, kit: Any) -> None:
    office.agent |= {"deferred_tools": ["*"], "caps": {"index_entries": 2}}

    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn, talk = await kit.searched(session, "weather forecast")
            (called,) = await talk.step(turn, ("c1", "weather_today", {"city": "Ulm"}))
            assert called.row.advertised_as is AdvertisedAs.SEARCH
            for transcript in (talk.messages, None):
                later = await session.begin_turn("go on", transcript=transcript)
                assert later.rendering == turn.rendering
                assert later.plan.digest == turn.plan.digest

    office.play(act)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": ""},
        {"query": " \n"},
        {"query": 7},
        {"query": None},
        {"query": ["weather"]},
        {"query": "weather", "limit": 0},
        {"query": "weather", "limit": "5"},
        {"query": "weather", "lang": "de"},
        {"select": ["weather.tomorrow"]},
        {"select": "weather.today"},
        {"query": "quantum chromodynamics lattice"},
    ],
)
def test_a_search_that_fails_is_an_error_result_and_loads_nothing(
    searching: Any, kit: Any, arguments: dict[str, Any]
) -> None:
    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn("find it")
            talk = kit.Talk("generic")
            talk.user("find it")
            (failed,) = await talk.step(turn, ("s1", "tool_search", arguments))
            row = failed.row
            assert (row.outcome, row.is_error, row.code) == (
                Ending.COMPLETED,
                True,
                Code.SEARCH_INVALID,
            )
            later = await session.begin_turn("go on", transcript=talk.messages)
            assert later.plan.digest == turn.plan.digest

    searching.play(act)


def test_what_was_taken_away_is_neither_found_nor_loaded_nor_called(
    searching: Any, kit: Any
) -> None:
    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn, talk = await kit.searched(session, "weather forecast")
            shown = (turn.rendering, turn.tools, turn.system)
            await session.set_intent({"disabled": ["weather.today"]})
            (gone, unknown) = await talk.step(
                turn,
                ("c1", "weather_today", {"city": "Ulm"}),
                ("c2", "weather_tomorrow", {"city": "Ulm"}),
            )
            assert (gone.row.code, unknown.row.code) == (Code.WITHDRAWN, Code.NOT_OFFERED)
            assert gone.row.result == unknown.row.result
            again = await talk.search(turn, "weather forecast", "s2")
            assert again.row.is_error
            assert (turn.rendering, turn.tools, turn.system) == shown
            later = await session.begin_turn("go on", transcript=talk.messages)
            assert "weather.today" not in {*later.plan.pins, *later.plan.loaded}
            assert "weather" not in later.system
            await session.set_intent(None)
            back = await session.begin_turn("go on", transcript=talk.messages)
            assert back.plan.loaded == ("weather.today",)

    searching.play(act)


def test_a_renamed_search_loads_as_well_and_keeps_what_it_loaded_under_its_old_name(
    searching: Any, kit: Any
) -> None:
    searching.agent["search"] = {"name": "find_tools"}
    talk = kit.Talk("openai")

    async def find(keeper: Any) -> str:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("find it")
        talk.user("find it")
        await talk.step(turn, ("s1", "find_tools", {"query": "weather forecast"}))
        (other,) = await talk.step(turn, ("s2", "tool_search", {"query": "send an email"}))
        assert other.row.code is Code.NOT_OFFERED
        later = await session.begin_turn("go on", transcript=talk.messages)
        assert later.plan.loaded == ("weather.today",)
        return str(session.session_id)

    session_id = searching.play(find)
    searching.agent["search"] = {"name": "look_up"}

    async def go_on(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        turn = await session.begin_turn("go on", transcript=talk.messages)
        assert turn.plan.loaded == ("weather.today",)
        assert "look_up" in kit.names(turn.tools)

    searching.play(go_on)


def test_without_the_wrapper_a_found_tool_is_called_by_its_name(searching: Any, kit: Any) -> None:
    searching.agent["control_tools"] = ["tool.search"]

    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn, talk = await kit.searched(session, "weather forecast")
            assert "tool_call" not in kit.names(turn.tools)
            (called,) = await talk.step(turn, ("c1", "weather_today", {"city": "Ulm"}))
            assert (called.row.outcome, called.row.advertised_as) == ("completed", "search")
            later = await session.begin_turn("go on", transcript=talk.messages)
            assert kit.names(later.tools)[-1] == "weather_today"

    searching.play(act)


def test_a_hunt_for_what_is_not_there_is_told_to_stop(office: Any, kit: Any) -> None:
    office.agent |= {"deferred_tools": ["*"]}

    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn("find it")
            talk = kit.Talk("generic")
            rows = [
                (await talk.search(turn, f"quantum chromodynamics {number}", f"s{number}")).row
                for number in range(8)
            ]
            assert all(row.is_error and row.code is Code.SEARCH_INVALID for row in rows)
            assert all("weather.today" in row.result for row in rows[:5])
            assert all("stop searching" in row.result for row in rows[5:])
            assert not any("weather.today" in row.result for row in rows[5:])
            # What is there is found all the same, and the next turn begins anew.
            assert not (await talk.search(turn, "weather forecast", "s8")).row.is_error
            later = await session.begin_turn("go on")
            again = await talk.search(later, "quantum chromodynamics", "s9")
            assert "weather.today" in again.row.result

    office.play(act)


def test_an_answer_that_would_be_too_long_says_what_it_leaves_out(office: Any, kit: Any) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    properties = {f"field_{number}": {"type": "string"} for number in range(300)}
    tools = [
        {
            "name": name,
            "description": f"Sweeps the floor. {words}",
            "inputSchema": {"type": "object", "properties": shape},
        }
        for name, shape in (("sweep", {}), ("sweeper", {}), ("sweep_all", {}), ("comb", properties))
    ]
    (office.folder / "tools.json").write_text(json.dumps({"tools": tools}))
    office.settings["servers"] = {"broom": {"catalog": "tools.json"}}
    office.agent |= {
        "servers": ["broom"],
        "deferred_tools": ["mcp.broom.*"],
        "disclosure": "search",
        "limits": {"result_bytes": 6_000},
    }

    async def act(keeper: Any) -> None:
        async with keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn("find it")
            talk = kit.Talk("generic")
            row = (await talk.search(turn, "sweep the floor")).row
            assert len(row.result.encode()) <= 6_000
            assert "2 more matched and are left out" in row.result
            big = (await talk.search(turn, "comb", "s2")).row
            assert "`mcp.broom.comb`" in big.result
            assert len(big.result.encode()) <= 6_000
            later = await session.begin_turn("go on", transcript=talk.messages)
            loaded = [*later.plan.loaded, *(each.name for each in later.plan.overflow)]
            assert len(loaded) == 3

    office.play(act)
