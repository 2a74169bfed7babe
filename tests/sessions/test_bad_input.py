"""Input that nobody should send: a clear error or a recorded refusal, and the session goes on."""

import json
from typing import Any

import pytest

from toolkeeper import ConfigError
from toolkeeper_contract import Code

FORMS = ["generic", "openai", "openai-responses", "anthropic", "gemini"]

NO_TRANSCRIPTS = [
    "a text",
    b"bytes",
    {"role": "user"},
    7,
    [None],
    ["a text"],
    [{"role": "user", "content": "one"}, 7],
    [{}],
    [{"content": "no role"}],
    [[{"role": "user", "content": "one"}]],
]

ODD_TRANSCRIPTS: list[list[Any]] = [
    [],
    [{"role": "user", "content": None}],
    [{"role": "nobody", "content": "unknown role"}],
    [{"role": "assistant", "content": [{"type": "hologram", "data": [1, 2]}]}],
    [{"role": "assistant", "content": [None, 7, "text", {"type": 9}, {}]}],
    [{"role": "assistant", "tool_calls": "none"}],
    [{"role": "assistant", "tool_calls": [{"id": None, "function": None}, 7, {}]}],
    [{"role": "assistant", "content": [{"type": "tool_use", "id": 7, "name": {}, "input": 1}]}],
    [{"role": "tool", "tool_call_id": "never called", "content": "a result"}],
    [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "never"}]}],
    [{"role": "model", "parts": [{"hologram": 1}, {"functionCall": None}, 7]}],
    [{"role": "user", "content": "\ud800 half a pair"}],
]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_is_no_transcript_is_told_and_begins_no_turn(searching: Any, form: str) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        told: list[ConfigError] = []
        for transcript in NO_TRANSCRIPTS:
            try:
                await session.begin_turn("hello", transcript=transcript)
            except ConfigError as error:
                told.append(error)
            else:
                # Only what some provider's form takes.
                assert isinstance(transcript, list)
        assert all("transcript" in each.message for each in told)
        assert len(told) >= len(NO_TRANSCRIPTS) - 3
        events = await keeper.ledger.events(session_id=session.session_id)
        began = [each for each in events if each.event.name == "run.began"]
        assert (await session.begin_turn("hello")).number == len(began) + 1

    searching.play(act)


def test_an_odd_transcript_changes_nothing(searching: Any, kit: Any, form: str) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        turn, talk = await kit.searched(session, "weather forecast", provider=form)
        loaded = await session.begin_turn("go on", transcript=talk.messages)
        told: list[ConfigError] = []
        for odd in ODD_TRANSCRIPTS:
            for transcript in (odd, [*odd, *talk.messages], [*talk.messages, *odd]):
                wanted = turn if transcript is odd else loaded
                try:
                    seen = await session.preview(kit.Wish(transcript=transcript))
                except ConfigError as error:
                    told.append(error)
                else:
                    assert seen.rendering.digest == wanted.rendering, transcript
        assert all("transcript" in each.message for each in told)

    searching.play(act)


def test_a_transcript_cut_anywhere_is_read_as_far_as_it_goes(
    searching: Any, kit: Any, form: str
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        turn, talk = await kit.searched(session, "weather forecast", provider=form)
        await talk.search(turn, "send an email", "s2")
        calls = talk.messages
        for first in range(len(calls) + 1):
            for last in range(first, len(calls) + 1):
                seen = await session.preview(kit.Wish(transcript=calls[first:last]))
                assert set(seen.plan.loaded) <= {"weather.today", "mail.send"}
        # Without any of its results.
        bare = [
            message
            for message in calls
            if message.get("role") != "tool"
            and message.get("type") != "function_call_output"
            and "tool_result" not in json.dumps(message)
            and "functionResponse" not in json.dumps(message)
        ]
        assert len(bare) == 3
        seen = await session.preview(kit.Wish(transcript=bare))
        assert seen.plan.loaded == ("weather.today", "mail.send")

    searching.play(act)


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ("anthropic", {"role": "assistant", "content": [{"type": "hologram", "data": 1}]}),
        ("anthropic", {"role": "assistant", "content": [7]}),
        ("anthropic", {"role": "assistant"}),
        ("openai-responses", {"output": [{"type": "hologram"}]}),
        ("openai-responses", {"output": 7}),
        ("openai", {"choices": []}),
        ("openai", {"choices": [{"message": {"tool_calls": [{"type": "hologram"}]}}]}),
        ("gemini", {"candidates": [{"content": {"parts": [{"hologram": 1}]}}]}),
        ("openai", "a text"),
        ("openai", None),
        ("generic", 7),
    ],
)
def test_a_reply_that_nobody_knows_is_a_clear_error_and_runs_nothing(
    office: Any, form: str, reply: Any
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider=form)
        turn = await session.begin_turn("hello")
        shown = turn.rendering
        told = None
        try:
            calls = turn.calls(reply)
        except ConfigError as error:
            told, calls = error, []
        if told is not None:
            assert told.message
            assert "Traceback" not in str(told)
            assert await keeper.ledger.invocations() == []
        else:
            # What names no tool is refused, on a row of its own.
            outcomes = await turn.call_all(calls)
            assert [each.row.outcome for each in outcomes] == ["refused"] * len(calls)
            assert len(await keeper.ledger.invocations()) == len(calls)
            assert office.effects == []
        assert turn.rendering == shown

    office.play(act)


def deep(levels: int) -> str:
    return '{"type":"object","properties":{"a":' * levels + "{}" + "}}" * levels


def test_giants_of_a_server_are_refused_with_a_reason_and_its_other_tools_live(
    searching: Any, kit: Any
) -> None:
    listing = searching.shelf("dust")
    good = json.loads(listing.read_text())
    giants = [
        {"name": "n" * 200_000, "description": "x", "inputSchema": {"type": "object"}},
        {"name": "long", "description": "word " * 1_000_000, "inputSchema": {"type": "object"}},
        {"name": "deep", "description": "deep", "inputSchema": "DEEP"},
    ]
    text = json.dumps([*good, *giants]).replace('"DEEP"', deep(90))
    listing.write_text(text)

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn, talk = await kit.searched(session, "dust", provider="openai")
        refused = {each.name[:8]: each.reason for each in turn.plan.refused}
        assert {"nnnnnnnn", "long", "deep"} <= set(refused)
        assert all(refused.values())
        assert all(len(each.name) < 1_000 for each in turn.plan.refused)
        later = await session.begin_turn("go on", transcript=talk.messages)
        assert "mcp.shelf.dust" in later.plan.loaded
        assert len(json.dumps(turn.request)) < 60_000

    searching.play(act)


def test_a_saved_listing_that_no_parser_takes_is_told_with_its_file(office: Any) -> None:
    text = json.dumps({"tools": [{"name": "deep", "inputSchema": "DEEP"}]})
    (office.folder / "saved.json").write_text(text.replace('"DEEP"', deep(5_000)))
    office.settings["servers"] = {"saved": {"catalog": "saved.json"}}
    office.agent["servers"] = ["saved"]

    async def act(keeper: Any) -> None:
        with pytest.raises(ConfigError, match="nested too deep"):
            await keeper.open_session(agent="chat", user="ana")
        assert await keeper.ledger.events() == []

    office.play(act)


@pytest.mark.slow
def test_ten_thousand_tools_are_planned_searched_and_called(searching: Any, kit: Any) -> None:
    tools = [
        {
            "name": f"tool_{number}",
            "description": f"Does thing {number} for user group {number % 97}.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
        }
        for number in range(10_000)
    ]
    (searching.folder / "many.json").write_text(json.dumps({"tools": tools}))
    searching.settings["servers"] = {"many": {"catalog": "many.json"}}
    searching.agent["servers"] = ["many"]

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn, talk = await kit.searched(session, "tool_7321", provider="openai")
        plan = turn.plan
        assert len(plan.pins) == 10_005
        assert len(plan.searchable) + len(plan.deferred) + len(plan.defined) >= 10_005
        assert plan.skipped == ()
        later = await session.begin_turn("go on", transcript=talk.messages)
        assert later.plan.loaded[0] == "mcp.many.tool_7321"
        # A saved listing cannot be called; its tools are planned all the same.
        (called,) = await talk.step(later, ("c1", "mcp__many__tool_7321", {}))
        assert called.row.code in (Code.UNAVAILABLE, None)

    searching.play(act)


def test_an_unknown_provider_agent_or_session_is_told(office: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        for attempt in (
            keeper.open_session(agent="chatt", user="ana"),
            keeper.open_session(agent="chat", user="ana", provider="antropic"),
            keeper.open_session(agent="chat", user=""),
            keeper.resumed_session("ses_gone"),
            session.fork(agent="chatt"),
            session.fork(provider="antropic"),
        ):
            with pytest.raises(ConfigError):
                await attempt
        rows = await keeper.ledger.events()
        assert {each.session_id for each in rows} == {session.session_id}

    office.play(act)
