"""A tool that the caller forces: defined from the first request of a turn to the end of it."""

from typing import Any

import pytest

from toolkeeper import ConfigError

FORMS = ["generic", "openai", "openai-responses", "anthropic", "gemini"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("disclosure", ["index", "search"])
def test_it_is_defined_and_forced_in_its_turn_and_gone_in_the_next(
    office: Any, kit: Any, form: str, disclosure: str
) -> None:
    office.agent |= {
        "disclosure": disclosure,
        "always_defined": ["notes.list"],
        "deferred_tools": ["*"],
    }

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        before = await session.begin_turn("hello")
        assert before.request.keys() == {"tools", "system"}
        turn = await session.begin_turn("the weather", tool_choice="weather.today")
        assert kit.names(turn.tools) == [*kit.names(before.tools), "weather_today"]
        assert "weather_today" in str(
            {key: value for key, value in turn.request.items() if key not in ("tools", "system")}
        )
        shown = turn.rendering
        talk = kit.Talk(form)
        (called,) = await talk.step(turn, ("c1", "weather_today", {"city": "Ulm"}))
        assert called.row.advertised_as == "definition"
        await talk.search(turn, "send an email")
        assert turn.rendering == shown == (await session.reopen_turn()).rendering
        after = await session.begin_turn("go on", transcript=[])
        assert after.rendering == before.rendering
        events = await keeper.ledger.events(session_id=session.session_id)
        changed = [each.event.data for each in events if each.event.name == "tools.changed"]
        assert [(each["added"], each["removed"]) for each in changed] == [
            (["weather.today"], []),
            ([], ["weather.today"]),
        ]
        assert [each["reasons"] for each in changed] == [{"weather.today": "forced"}] * 2

    office.play(act)


def test_a_tool_that_is_defined_anyway_is_only_forced(office: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        before = await session.begin_turn("hello")
        turn = await session.begin_turn("mail", tool_choice="mail.send")
        assert turn.tools == before.tools
        assert turn.plan.digest == before.plan.digest
        assert turn.request["tool_choice"]["function"]["name"] == "mail_send"

    office.play(act)


def test_a_loaded_tool_can_be_forced_and_stays_loaded(searching: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn, talk = await kit.searched(session, "weather forecast", provider="openai")
        await talk.search(turn, "send an email", "s2")
        forced = await session.begin_turn(
            "x", tool_choice="weather.today", transcript=talk.messages
        )
        free = await session.begin_turn("x", transcript=talk.messages)
        assert forced.tools == free.tools
        assert free.plan.loaded == ("weather.today", "mail.send")

    searching.play(act)


@pytest.mark.parametrize("name", ["weather.tomorrow", "", "tool.call", "\u202e", "x" * 100_000])
def test_what_cannot_be_forced_is_told_and_begins_no_turn(office: Any, name: str) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        with pytest.raises(ConfigError) as told:
            await session.begin_turn("hello", tool_choice=name)
        assert told.value.key == "tool_choice"
        assert len(str(told.value)) < 1_000
        assert (await session.begin_turn("hello")).number == 1

    office.play(act)


def test_what_is_switched_off_cannot_be_forced(office: Any) -> None:
    async def act(keeper: Any) -> None:
        intent = {"disabled": ["mail.send"]}
        session = await keeper.open_session(agent="chat", user="ana", intent=intent)
        with pytest.raises(ConfigError, match="cannot be forced"):
            await session.begin_turn("hello", tool_choice="mail.send")

    office.play(act)
