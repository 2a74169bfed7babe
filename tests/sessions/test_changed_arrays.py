"""What a turn boundary tells about a changed array, what may be replayed, and what it costs."""

from typing import Any

import pytest


async def changes(keeper: Any, session: Any) -> list[dict[str, Any]]:
    events = await keeper.ledger.events(session_id=session.session_id)
    return [each.event.data for each in events if each.event.name == "tools.changed"]


def test_every_change_is_told_with_its_reason_and_nothing_else_is(searching: Any, kit: Any) -> None:
    listing = searching.shelf("dust")
    searching.agent["always_defined"] = ["notes.list", "mcp.shelf.dust", "notes.read"]

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn, talk = await kit.searched(session, "weather forecast")
        await session.begin_turn("go on", transcript=talk.messages)
        await session.begin_turn("go on", transcript=talk.messages)
        await session.begin_turn("go on", transcript=[])
        await session.set_intent({"disabled": ["notes.read"]})
        turn = await session.begin_turn("go on", transcript=[])
        other = kit.shelved("dust", description="{} otherwise")
        await kit.rearrange(talk, turn, other, listing)
        await session.begin_turn("go on", transcript=[])
        told = await changes(keeper, session)
        assert [(each["added"], each["removed"]) for each in told] == [
            (["weather.today"], []),
            ([], ["weather.today"]),
            ([], ["notes.read"]),
            ([], []),
        ]
        assert [each["reasons"] for each in told] == [
            {"weather.today": "loaded"},
            {"weather.today": "unloaded"},
            {"notes.read": "intent"},
            {"mcp.shelf.dust": "registry"},
        ]

    searching.play(act)


def test_a_handoff_tells_what_moved(office: Any) -> None:
    names = [each.name for each in office.tools()]
    office.settings["agents"] = {
        "chat": {"tools": names},
        "clerk": {"tools": names[:2]},
    }

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        await session.begin_turn("hello")
        clerk = await session.fork(agent="clerk")
        await clerk.begin_turn("go on")
        (told,) = await changes(keeper, clerk)
        assert set(told["removed"]) == set(names[2:])
        assert set(told["reasons"].values()) == {"configuration"}

    office.play(act)


def thought(text: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": text, "signature": "sig"},
            {"type": "text", "text": f"said {text}"},
        ],
    }


def thinking(messages: list[Any]) -> list[str]:
    return [
        block["thinking"]
        for message in messages
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if block.get("type") == "thinking"
    ]


def test_thinking_under_the_old_array_is_not_replayed_and_nothing_else_changes(
    searching: Any, kit: Any
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="anthropic")
        talk = kit.Talk("anthropic")
        talk.user("one")
        await session.begin_turn("one")
        talk.messages.append(thought("first"))
        talk.user("two")
        turn = await session.begin_turn("two", transcript=talk.messages)
        assert turn.replayable(talk.messages) == talk.messages
        talk.messages.append(thought("second"))
        await talk.search(turn, "weather forecast")
        assert turn.replayable(talk.messages) == talk.messages
        talk.user("three")
        turn = await session.begin_turn("three", transcript=talk.messages)
        replayed = turn.replayable(talk.messages)
        assert thinking(replayed) == []
        spoken = [m for m in talk.messages if m not in (thought("first"), thought("second"))]
        assert [m for m in replayed if m in spoken] == spoken
        assert len(replayed) == len(talk.messages)
        talk.messages.append(thought("third"))
        assert thinking(turn.replayable(talk.messages)) == ["third"]
        again = await session.reopen_turn()
        assert again.replayable(talk.messages) == turn.replayable(talk.messages)
        # A branch shows the same array, so it replays the same.
        fork = await session.fork()
        talk.user("four")
        forked = await fork.begin_turn("four", transcript=talk.messages)
        assert forked.rendering == turn.rendering
        assert thinking(forked.replayable(talk.messages)) == ["third"]

    searching.play(act)


def test_a_change_of_the_index_alone_costs_no_thinking(office: Any, kit: Any) -> None:
    office.agent["deferred_tools"] = ["mail.send", "weather.today"]

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="anthropic")
        talk = kit.Talk("anthropic")
        talk.user("one")
        turn = await session.begin_turn("one")
        talk.messages.append(thought("first"))
        talk.user("two")
        await session.set_intent({"disabled": ["mail.send"]})
        later = await session.begin_turn("two")
        assert later.tools == turn.tools
        assert later.system != turn.system
        assert later.replayable(talk.messages) == talk.messages

    office.play(act)


@pytest.mark.parametrize("form", ["generic", "openai", "openai-responses", "gemini"])
def test_other_providers_replay_everything(searching: Any, kit: Any, form: str) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        _, talk = await kit.searched(session, "weather forecast", provider=form)
        later = await session.begin_turn("go on", transcript=talk.messages)
        talk.user("go on")
        assert later.replayable(talk.messages) == talk.messages

    searching.play(act)


def test_the_cost_of_a_turn_is_that_of_its_request(office: Any) -> None:
    office.agent["deferred_tools"] = ["mail.send", "weather.today"]

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("hello")
        costs = turn.plan.costs
        assert turn.cost == (
            costs.definition_tokens + costs.index_tokens + costs.index_overhead_tokens
        )
        await session.set_intent({"disabled": ["weather.today"]})
        assert (await session.begin_turn("hello")).cost < turn.cost
        await session.set_intent([])
        assert (await session.begin_turn("hello")).cost == 0

    office.play(act)
