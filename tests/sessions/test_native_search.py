"""The provider searches on its side: what it is sent, what it found, and where it cannot."""

from typing import Any

import pytest

from toolkeeper_contract import Code

MODEL = {"provider": "anthropic", "model": "claude-sonnet-4-5-20250929"}
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}


@pytest.fixture
def native(office: Any) -> Any:
    office.agent |= {
        "disclosure": "native",
        "always_defined": ["notes.list"],
        "deferred_tools": ["*"],
    }
    return office


def found(*names: str, calls: tuple[Any, ...] = (), stop: str = "tool_use") -> dict[str, Any]:
    """A reply of Anthropic's in which its own search found these tools."""
    return {
        "role": "assistant",
        "stop_reason": stop,
        "content": [
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "tool_search_tool_bm25",
                "input": {"query": "weather"},
            },
            {
                "type": "tool_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {
                    "type": "tool_search_tool_search_result",
                    "tool_references": [
                        {"type": "tool_reference", "tool_name": name} for name in names
                    ],
                },
            },
            *({"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls),
        ],
    }


def said(reply: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": reply["content"]}


def test_every_visible_tool_is_sent_the_deferred_ones_with_the_flag(native: Any) -> None:
    native.settings["policy"] = ["policy.yaml"]
    (native.folder / "policy.yaml").write_text(
        "version: 1\nrules: [{id: no-mail, tools: [mail.send], effect: deny}]\n"
    )

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        turn = await session.begin_turn("hello")
        tools = {tool["name"]: tool for tool in turn.tools}
        assert {"name": SEARCH["name"], "type": SEARCH["type"]}.items() <= tools[
            SEARCH["name"]
        ].items()
        deferred = {name for name, tool in tools.items() if tool.get("defer_loading")}
        assert deferred == {"notes_read", "notes_add", "weather_today"}
        assert "notes_list" in tools
        assert "mail_send" not in tools
        assert "tool_search" not in tools
        assert turn.system == ""
        assert (turn.plan.disclosure.used, turn.plan.costs.index_tokens) == ("native", 0)

    native.play(act)


def test_what_it_found_is_called_through_the_same_pipeline_and_stays_deferred(
    native: Any, kit: Any
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        turn = await session.begin_turn("the weather?")
        talk = kit.Talk("anthropic")
        talk.user("the weather?")
        calls = (
            ("toolu_1", "weather_today", {"city": "Ulm"}),
            ("toolu_2", "mail_send", {"to": "bo"}),
        )
        reply = found("weather_today", "mail_send", "nonsense", calls=calls)
        assert await turn.observe(reply) == ("weather.today", "mail.send")
        weather, mail = await turn.call_all(turn.calls(reply))
        assert (weather.row.tool, weather.row.outcome) == ("weather.today", "completed")
        assert (weather.row.advertised_as, mail.row.advertised_as) == ("search", "search")
        assert (mail.row.outcome, mail.row.decision.effect) == ("suspended", "ask")
        talk.messages += [said(reply), *turn.results([weather, mail])]
        later = await session.begin_turn("and now", transcript=talk.messages)
        assert later.rendering == turn.rendering
        events = await keeper.ledger.events(session_id=session.session_id)
        (told,) = [each.event for each in events if each.event.name == "tools.found"]
        assert list(told.data["tools"]) == ["weather.today", "mail.send"]

    native.play(act)


def test_a_switch_of_the_model_knows_what_was_found(native: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        turn = await session.begin_turn("the weather?")
        reply = found("weather_today", stop="end_turn")
        await turn.observe(reply)
        talk = kit.Talk("anthropic")
        talk.user("the weather?")
        talk.messages.append(said(reply))
        talk.user("and now?")
        # An agent that searches with us, at another provider: the form cannot show the finds.
        moved = await session.fork(agent="searcher", provider="openai")
        other = kit.Talk("openai")
        other.user("the weather?")
        other.messages.append({"role": "assistant", "content": "one moment"})
        other.user("and now?")
        for transcript in (None, other.messages):
            seen = await moved.begin_turn("and now?", transcript=transcript)
            assert seen.plan.loaded == ("weather.today",)
        assert (await moved.begin_turn("anew", transcript=[])).plan.loaded == ()
        early = other.messages[:1]
        assert (await moved.begin_turn("other", transcript=early)).plan.loaded == ()
        # The same provider with a model that cannot: the transcript itself mentions them.
        old = await session.fork(agent="searcher", model="claude-3-haiku-20240307")
        # Found after the forks: another branch.
        await turn.observe(found("mail_send"))
        for branch, transcript in ((moved, None), (moved, other.messages), (old, talk.messages)):
            seen = await branch.begin_turn("go on", transcript=transcript)
            assert seen.plan.loaded == ("weather.today",)

    searcher = {**native.agent, "disclosure": "search"}
    names = [each.name for each in native.tools()]
    native.settings["agents"] = {
        "chat": {"tools": names, **native.agent},
        "searcher": {"tools": names, **searcher},
    }
    native.play(act)


def test_a_mention_that_was_never_recorded_loads_nothing(native: Any, kit: Any) -> None:
    names = [each.name for each in native.tools()]
    native.settings["agents"] = {
        "chat": {"tools": names, **native.agent},
        "searcher": {"tools": names, **native.agent, "disclosure": "search"},
    }

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        await session.begin_turn("the weather?")
        talk = kit.Talk("anthropic")
        talk.user("the weather?")
        talk.messages.append(said(found("weather_today")))
        talk.user("and now?")
        old = await session.fork(agent="searcher", model="claude-3-haiku-20240307")
        assert (await old.begin_turn("go on", transcript=talk.messages)).plan.loaded == ()

    native.play(act)


@pytest.mark.parametrize("handed_over", [True, False])
def test_a_vanished_tool_that_the_conversation_mentions_stays_as_a_tombstone(
    native: Any, kit: Any, handed_over: bool
) -> None:
    listing = native.shelf("dust", "polish")

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        turn = await session.begin_turn("dust")
        talk = kit.Talk("anthropic")
        talk.user("dust")
        reply = found("mcp__shelf__dust")
        assert await turn.observe(reply) == ("mcp.shelf.dust",)
        talk.messages.append(said(reply))
        await kit.rearrange(talk, turn, kit.shelved("polish"), listing)
        later = await session.begin_turn("go on", transcript=talk.messages if handed_over else None)
        assert "mcp.shelf.dust" not in later.plan.pins
        tools = {tool["name"]: tool for tool in later.tools}
        assert "not available" in tools["mcp__shelf__dust"]["description"]
        (called,) = await talk.step(later, ("c1", "mcp__shelf__dust", {}))
        assert called.row.code is Code.NOT_OFFERED
        # In a conversation that does not mention it, it is simply gone.
        anew = await session.begin_turn("anew", transcript=[])
        assert "mcp__shelf__dust" not in {tool["name"] for tool in anew.tools}

    native.play(act)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"provider": "anthropic"}, "no model"),
        ({"provider": "anthropic", "model": "claude-3-haiku-20240307"}, "claude-3-haiku"),
        ({**MODEL, "endpoint": "https://proxy.example/v1"}, "endpoint"),
        ({"provider": "openai", "model": "gpt-4o"}, "`openai`"),
        ({"provider": "generic"}, "`generic`"),
    ],
)
def test_elsewhere_it_falls_back_to_the_index_and_says_why(
    native: Any, where: dict[str, str], why: str
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **where)
        turn = await session.begin_turn("hello")
        disclosure = turn.plan.disclosure
        assert (disclosure.asked, disclosure.used) == ("native", "index")
        assert why in (disclosure.reason or "")
        assert "weather.today(city)" in turn.system
        events = await keeper.ledger.events(session_id=session.session_id)
        (planned,) = [each.event for each in events if each.event.name == "session.planned"]
        assert planned.data["disclosure"]["used"] == "index"
        assert why in planned.data["disclosure"]["reason"]

    native.play(act)


def test_openai_gets_its_own_search(native: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(
            agent="chat", user="ana", provider="openai-responses", model="gpt-5.4"
        )
        turn = await session.begin_turn("hello")
        assert any(tool.get("type") == "tool_search" for tool in turn.tools)
        assert turn.plan.disclosure.used == "native"
        reply = {
            "output": [
                {
                    "type": "tool_search_output",
                    "execution": "server",
                    "tools": [{"type": "function", "name": "weather_today"}],
                },
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "weather_today",
                    "arguments": '{"city": "Ulm"}',
                },
            ]
        }
        assert await turn.observe(reply) == ("weather.today",)
        (called,) = await turn.call_all(turn.calls(reply))
        assert (called.row.outcome, called.row.advertised_as) == ("completed", "search")

    native.play(act)


def test_a_paused_search_is_continued_eight_times_and_then_ends_with_a_warning(
    native: Any,
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        turn = await session.begin_turn("hello")
        assert await turn.paused(found("weather_today", stop="end_turn")) is None
        reply = found("weather_today", stop="pause_turn")
        shown = turn.rendering
        for _ in range(8):
            then = await turn.paused(reply)
            assert then.messages[0]["role"] == "assistant"
            assert turn.rendering == shown
        assert "8" in (await turn.paused(reply)).warning
        events = await keeper.ledger.events(session_id=session.session_id)
        assert "turn.exhausted" in [each.event.name for each in events]

    native.play(act)


def test_a_tool_that_the_provider_ran_is_a_protocol_error(native: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", **MODEL)
        turn = await session.begin_turn("hello")
        reply = found("weather_today")
        reply["content"][0]["name"] = "web_search"
        for read in (turn.calls, turn._format.calls):
            with pytest.raises(Exception, match="web_search"):
                read(reply)
        with pytest.raises(Exception, match="web_search"):
            await turn.observe(reply)
        assert await keeper.ledger.invocations() == []

    native.play(act)
