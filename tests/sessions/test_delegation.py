"""A child session: a subset of what its parent may call, as definitions, never more."""

from typing import Any

from toolkeeper import resume_one
from toolkeeper_contract import ApprovalState, Code


def test_a_child_gets_the_deferred_tools_of_its_parent_as_definitions(
    office: Any, kit: Any
) -> None:
    office.agent |= {"always_defined": ["notes.list"], "deferred_tools": ["*"]}

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(
            agent="chat", user="ana", intent={"disabled": ["notes.add"]}
        )
        turn = await session.begin_turn("hello")
        child = await turn.delegate(["weather.today", "notes.add", "mail.forward"])
        own = await child.begin_turn("the weather")
        assert kit.names(own.tools) == ["weather_today", "tool_result"]
        assert own.plan.pins == {"weather.today": turn.plan.pins["weather.today"]}
        filtered = {(each.name, each.reason.value) for each in own.plan.filtered}
        assert {("notes.add", "not_permitted"), ("mail.forward", "not_permitted")} <= filtered
        (called,) = await kit.Talk("generic").step(own, ("c1", "weather_today", {"city": "Ulm"}))
        assert called.row.outcome == "completed"
        assert called.row.session_id == child.session_id
        whole = await turn.delegate()
        everything = await whole.begin_turn("all")
        assert set(everything.plan.pins) == set(turn.plan.pins)
        assert everything.plan.deferred == ()
        nothing = await turn.delegate([])
        assert (await nothing.begin_turn("none")).tools == []

    office.play(act)


def test_its_own_caps_bound_it_and_the_rest_is_not_lost(office: Any, kit: Any) -> None:
    office.settings["agents"] = {
        "chat": {"tools": [each.name for each in office.tools()]},
        "small": {
            "tools": [each.name for each in office.tools()],
            "caps": {"definitions": 4},
        },
    }

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        child = await turn.delegate(agent="small")
        own = await child.begin_turn("go")
        assert len(own.tools) == 4
        assert set(own.plan.pins) == set(turn.plan.pins)
        assert own.plan.deferred_names

    office.play(act)


def test_a_childs_calls_are_decided_and_asked_about_like_any(office: Any, kit: Any) -> None:
    async def park(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        child = await turn.delegate(["mail.send"])
        own = await child.begin_turn("write to bo")
        (sent,) = await kit.Talk("generic").step(own, ("c1", "mail_send", {"to": "bo"}))
        assert (sent.row.outcome, sent.row.decision.effect) == ("suspended", "ask")
        await keeper.desk().answer(sent.row.approval_id, ApprovalState.APPROVED, by="ana")
        return sent.row

    row = office.play(park)

    async def resume(keeper: Any) -> None:
        (done,) = (await resume_one(keeper, row.invocation_id)).outcomes
        assert done.row.outcome == "completed"

    office.play(resume)
    assert office.effects == [("send", "bo")]


def test_what_the_parent_loses_the_child_loses(office: Any, kit: Any) -> None:
    async def act(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello", override={"disabled": ["notes.add"]})
        free = await session.begin_turn("hello")
        bound = await turn.delegate()
        child = await free.delegate(["notes.read", "mail.send"])
        grandchild = await (await child.begin_turn("go")).delegate()
        talk = kit.Talk("generic")
        own = await grandchild.begin_turn("go")
        (read,) = await talk.step(own, ("c1", "notes_read", {"title": "a"}))
        assert read.row.outcome == "completed"
        await session.set_intent({"disabled": ["notes.read"]})
        (read,) = await talk.step(own, ("c2", "notes_read", {"title": "a"}))
        assert read.row.code is Code.WITHDRAWN
        assert set((await grandchild.begin_turn("go")).plan.pins) == {"mail.send"}
        # The turn with a toggle of its own is bound by that one.
        assert set((await bound.begin_turn("go")).plan.pins) == set(turn.plan.pins)
        return grandchild.session_id

    child_id = office.play(act)

    async def elsewhere(keeper: Any) -> None:
        child = await keeper.resumed_session(child_id)
        turn = await child.reopen_turn()
        (read, sent) = await kit.Talk("generic").step(
            turn, ("c3", "notes_read", {"title": "a"}), ("c4", "mail_send", {"to": "bo"})
        )
        assert (read.row.code, sent.row.outcome) == (Code.NOT_OFFERED, "suspended")

    office.play(elsewhere)


def test_an_intent_of_the_child_never_widens_it(office: Any, kit: Any) -> None:
    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        child = await turn.delegate(["notes.read"])
        for intent in (None, {"enabled": True}, ["notes.read", "mail.send"]):
            narrow = await session.begin_turn("hello", override=["notes.read"])
            child = await narrow.delegate()
            await child.set_intent(intent)
            assert set((await child.begin_turn("go")).plan.pins) == {"notes.read"}
            fork = await child.fork()
            await fork.set_intent(None)
            assert set((await fork.begin_turn("go")).plan.pins) == {"notes.read"}

    office.play(act)


def test_a_child_begins_with_nothing_loaded_and_loads_for_itself(searching: Any, kit: Any) -> None:
    searching.agent["caps"] = {"definitions": 4}

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn, talk = await kit.searched(session, "weather forecast")
        child = await turn.delegate()
        own = await child.begin_turn("go")
        assert own.plan.loaded == ()
        told = kit.Talk("generic")
        told.user("go")
        await told.search(own, "send an email", "s1")
        later = await child.begin_turn("go on", transcript=told.messages)
        found = {*later.plan.loaded, *(each.name for each in later.plan.overflow)}
        assert found == {"mail.send"}
        # The child's searches are its own, under the same call id too.
        mine = (await session.begin_turn("go on", transcript=talk.messages)).plan
        assert [each.name for each in mine.overflow] == ["weather.today"]
        # A branch of the child goes on from the child.
        branch = await child.fork()
        again = await branch.begin_turn("go on", transcript=told.messages)
        assert again.plan.digest == later.plan.digest

    searching.play(act)
