"""What the user toggled is all that is stored, and it is expanded anew at every turn."""

import json
from typing import Any

import pytest

from toolkeeper import ConfigError, resume_one
from toolkeeper_contract import ApprovalState, Code

INTENTS: list[Any] = [
    None,
    {},
    {"enabled": None},
    {"enabled": True},
    {"enabled": False, "overlays": {"web": True}},
    {"toolset": "writing"},
    {"toolset": None, "allowed": None, "disabled": None, "overlays": None},
    {"allowed": ["notes.list", "notes.read"], "disabled": ["notes.read"]},
    {"allowed": [], "overlays": {"web": True}},
    {"overlays": {"web": True, "gone": False}},
    {"disabled": []},
    [],
    ["notes.read", "notes.list", "notes.read"],
]


@pytest.fixture
def toggled(office: Any) -> Any:
    """`weather.today` comes by an overlay only, `notes.add` by a toolset too."""
    office.agent |= {
        "tools": ["notes.list", "notes.read", "mail.send"],
        "toolsets": ["writing"],
        "overlays": ["web"],
    }
    office.settings |= {
        "toolsets": {"writing": ["notes.add", "notes.list"], "secret": ["mail.send"]},
        "overlays": {"web": ["weather.today"], "hidden": ["notes.add"]},
    }
    return office


def stored(office: Any) -> list[Any]:
    """The intent column, as it stands in the store."""
    return [row[0] for row in office.sql("select intent from sessions order by opened_at")]


@pytest.mark.parametrize("intent", INTENTS)
def test_an_intent_reads_back_as_it_was_stored(toggled: Any, intent: Any) -> None:
    async def store(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana", intent=intent)
        turn = await session.begin_turn("hello")
        again = await keeper.open_session(agent="chat", user="ana")
        await again.set_intent(intent)
        assert (await again.begin_turn("hello")).plan.digest == turn.plan.digest
        return session.session_id, turn.plan.digest, turn.plan.intent

    session_id, digest, planned = toggled.play(store)
    assert planned == intent
    text = None if intent is None else json.dumps(intent)
    assert [None if column is None else json.loads(column) for column in stored(toggled)] == [
        None if text is None else json.loads(text)
    ] * 2

    async def read(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        assert session.record.intent == intent
        turn = await session.begin_turn("hello again")
        assert turn.plan.digest == digest
        # Whatever was planned, the row holds what it held.
        assert (await keeper.ledger.session(session_id)).intent == intent

    toggled.play(read)


@pytest.mark.parametrize(
    ("intent", "tools"),
    [
        (None, ["notes.list", "notes.read", "mail.send"]),
        ({"disabled": ["notes.read"]}, ["notes.list", "mail.send"]),
        ({"toolset": "writing"}, ["notes.list", "notes.add"]),
        ({"overlays": {"web": True}}, ["notes.list", "notes.read", "mail.send", "weather.today"]),
        (
            {"toolset": "writing", "overlays": {"web": True}, "disabled": ["weather.today"]},
            ["notes.list", "notes.add"],
        ),
        ({"allowed": ["notes.list"], "overlays": {"web": True}}, ["notes.list", "weather.today"]),
        ({"enabled": False, "overlays": {"web": True}}, []),
        ({"allowed": [], "overlays": {"web": True}}, []),
        ([], []),
        (["notes.read", "notes.list", "notes.read"], ["notes.list", "notes.read"]),
        ({"toolset": "secret"}, []),
        ({"overlays": {"hidden": True}}, ["notes.list", "notes.read", "mail.send"]),
        (["notes.add", "weather.today", "tool.call"], ["notes.add", "weather.today"]),
    ],
)
def test_what_an_intent_selects(toggled: Any, intent: Any, tools: list[str]) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", intent=intent)
        turn = await session.begin_turn("hello")
        assert list(turn.plan.pins) == tools
        if not tools:
            assert turn.tools == []
        same = await session.begin_turn("hello", override=intent)
        if intent is not None:
            assert same.plan.digest == turn.plan.digest

    toggled.play(act)


def test_an_override_beats_the_intent_and_is_never_stored(toggled: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        intent = {"disabled": ["notes.read"]}
        session = await keeper.open_session(agent="chat", user="ana", intent=intent)
        first = await session.begin_turn("hello")
        turn = await session.begin_turn("hello", override={"disabled": ["mail.send"]})
        assert list(turn.plan.pins) == ["notes.list", "notes.read"]
        talk = kit.Talk("generic")
        (read, send) = await talk.step(
            turn, ("c1", "notes_read", {"title": "a"}), ("c2", "mail_send", {"to": "bo"})
        )
        assert (read.row.outcome, send.row.code) == ("completed", Code.NOT_OFFERED)
        assert (await keeper.ledger.session(session.session_id)).intent == intent
        assert (await session.begin_turn("go on")).plan.digest == first.plan.digest
        # A toggle during a turn that has an override takes nothing away from it.
        turn = await session.begin_turn("hello", override=["notes.read"])
        await session.set_intent({"enabled": False})
        (read,) = await talk.step(turn, ("c3", "notes_read", {"title": "a"}))
        assert read.row.outcome == "completed"

    toggled.play(act)


@pytest.mark.parametrize("way", ["intent", "override"])
def test_a_parked_call_resumes_under_what_is_in_force(toggled: Any, kit: Any, way: str) -> None:
    async def park(keeper: Any) -> Any:
        session = await keeper.open_session(
            agent="chat", user="ana", intent={"disabled": ["mail.send"]}
        )
        turn = await session.begin_turn("hello", override={"enabled": True})
        (sent,) = await kit.Talk("generic").step(turn, ("c1", "mail_send", {"to": "bo"}))
        assert sent.row.outcome == "suspended", sent.row.result
        return session.session_id, sent.row

    session_id, row = toggled.play(park)

    async def resume(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        if way == "intent":
            # The turn has a toggle of its own; the session's is none of its business.
            await session.set_intent({"enabled": False})
        await keeper.desk().answer(row.approval_id, ApprovalState.APPROVED, by="ana")
        (done,) = (await resume_one(keeper, row.invocation_id)).outcomes
        assert done.row.outcome == "completed"
        assert toggled.effects == [("send", "bo")]

    toggled.play(resume)


def test_what_was_switched_off_meanwhile_does_not_resume(toggled: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        (sent,) = await kit.Talk("generic").step(turn, ("c1", "mail_send", {"to": "bo"}))
        await keeper.desk().answer(sent.row.approval_id, ApprovalState.APPROVED, by="ana")
        await session.set_intent({"disabled": ["mail.send"]})
        (done,) = (await resume_one(keeper, sent.row.invocation_id)).outcomes
        assert (done.row.outcome, done.row.code) == ("refused", Code.WITHDRAWN)
        assert toggled.effects == []

    toggled.play(act)


def test_a_toggle_by_another_process_counts_at_once(toggled: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        talk = kit.Talk("generic")
        async with toggled.keeper() as other:
            twin = await other.resumed_session(session.session_id)
            await twin.set_intent({"disabled": ["notes.read"]})
        (read,) = await talk.step(turn, ("c1", "notes_read", {"title": "a"}))
        assert read.row.code is Code.WITHDRAWN
        assert "notes.read" not in (await session.begin_turn("go on")).plan.pins

    toggled.play(act)


def test_what_the_caller_does_with_its_own_object_afterwards_changes_nothing(
    toggled: Any,
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        mine: dict[str, Any] = {"disabled": ["notes.read"]}
        await session.set_intent(mine)
        mine["disabled"].append("notes.list")
        mine["enabled"] = False
        turn = await session.begin_turn("go on")
        assert list(turn.plan.pins) == ["notes.list", "mail.send"]
        assert session.record.intent == {"disabled": ["notes.read"]}

    toggled.play(act)


def test_a_tool_added_to_the_registry_reaches_a_session_stored_a_year_ago(
    office: Any, kit: Any
) -> None:
    listing = office.shelf("dust")
    ids: list[str] = []

    async def store(keeper: Any) -> None:
        for intent in (None, {"disabled": ["notes.add"]}, ["notes.list", "mcp.shelf.dust"]):
            session = await keeper.open_session(agent="chat", user="ana", intent=intent)
            await session.begin_turn("hello")
            ids.append(session.session_id)

    office.play(store)
    office.sql("update sessions set opened_at = :at", at="2025-01-01T00:00:00.000000+00:00")
    # As an older version left its rows: without what it did not know.
    office.sql("update sessions set model = null, endpoint = null, parent = null")
    listing.write_text(json.dumps(kit.shelved("dust", "polish")))

    async def later(keeper: Any) -> None:
        everything, some, picked = [await keeper.resumed_session(each) for each in ids]
        assert "mcp.shelf.polish" in (await everything.begin_turn("hello")).plan.pins
        plan = (await some.begin_turn("hello")).plan
        assert "mcp.shelf.polish" in plan.pins
        assert "notes.add" not in plan.pins
        # A hand-picked list is what it is.
        plan = (await picked.begin_turn("hello")).plan
        assert list(plan.pins) == ["notes.list", "mcp.shelf.dust"]

    office.play(later)
    assert [None if each is None else json.loads(each) for each in stored(office)] == [
        None,
        {"disabled": ["notes.add"]},
        ["notes.list", "mcp.shelf.dust"],
    ]


@pytest.mark.parametrize(
    ("intent", "key"),
    [
        ({"enable": True}, "enable"),
        ({"enabled": "false"}, "intent.enabled"),
        ({"enabled": 1}, "intent.enabled"),
        ({"overlays": {"web": "yes"}}, "intent.overlays"),
        ({"overlays": ["web"]}, "intent.overlays"),
        ({"allowed": "notes.list"}, "intent.allowed"),
        ({"toolset": ["writing"]}, "intent.toolset"),
        ("everything", "intent"),
        (True, "intent"),
        ([1], "intent[0]"),
        ([None], "intent[0]"),
        ({"disabled": ["\u202e"]}, "intent.disabled[0]"),
        ({"allowed": ["x" * 200_000]}, "intent.allowed[0]"),
    ],
)
def test_a_malformed_intent_is_told_by_its_key_whoever_hands_it_in(
    toggled: Any, intent: Any, key: str
) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        before = await session.begin_turn("hello")
        for attempt in (
            keeper.open_session(agent="chat", user="ana", intent=intent),
            session.set_intent(intent),
            session.begin_turn("hello", override=intent),
        ):
            with pytest.raises(ConfigError) as told:
                await attempt
            assert key in f"{told.value.key} {told.value.message}"
        after = await session.begin_turn("go on")
        assert (after.number, after.plan.digest) == (2, before.plan.digest)
        assert len(await keeper.ledger.invocations()) == 0

    toggled.play(act)
    assert stored(toggled) == [None]


def test_a_stored_intent_that_cannot_be_read_ends_the_turn_and_never_means_everything(
    toggled: Any, kit: Any
) -> None:
    async def store(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        return session.session_id

    session_id = toggled.play(store)
    toggled.sql("update sessions set intent = :it", it='{"disbled": ["mail.send"]}')

    async def go_on(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        with pytest.raises(ConfigError, match="disbled"):
            await session.begin_turn("hello")
        # A new toggle mends it.
        await session.set_intent({"disabled": ["mail.send"]})
        assert "mail.send" not in (await session.begin_turn("hello")).plan.pins

    toggled.play(go_on)


def test_an_unknown_preset_is_filtered_and_leaves_nothing(toggled: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", intent={"toolset": "writin"})
        turn = await session.begin_turn("hello")
        assert turn.plan.pins == {}
        assert ("writin", "not_permitted") in {
            (each.name, each.reason.value) for each in turn.plan.filtered
        }

    toggled.play(act)
