"""When a session gets another plan, and when it keeps the one that it has."""

import json
from typing import Any

import pytest

from toolkeeper import ConfigError, RunError, resume_one
from toolkeeper_contract import ApprovalState, Code
from toolkeeper_planner import builder_version


def test_on_change_a_plan_follows_at_the_next_turn_and_is_the_same_while_nothing_changes(
    office: Any, kit: Any
) -> None:
    listing = office.shelf("dust")

    async def first(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        talk = kit.Talk("generic")
        same = await session.begin_turn("hello")
        assert (same.plan.digest, same.rendering) == (turn.plan.digest, turn.rendering)
        await kit.rearrange(talk, same, kit.shelved("dust", "polish"), listing)
        grown = await session.begin_turn("hello")
        assert "mcp.shelf.polish" in grown.plan.pins
        await session.set_intent({"disabled": ["mcp.shelf.polish"]})
        smaller = await session.begin_turn("hello")
        assert "mcp.shelf.polish" not in smaller.plan.pins
        await session.set_intent(None)
        assert (await session.begin_turn("hello")).plan.digest == grown.plan.digest
        return session.session_id, grown.plan.digest

    session_id, digest = office.play(first)

    async def unchanged(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        assert (await session.begin_turn("hello")).plan.digest == digest

    office.play(unchanged)
    office.agent["deferred_tools"] = ["mail.send"]

    async def reconfigured(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        turn = await session.begin_turn("hello")
        assert turn.plan.deferred_names == ("mail.send",)

    office.play(reconfigured)


def test_never_keeps_the_first_plan_and_its_bytes_for_good(office: Any, kit: Any) -> None:
    listing = office.shelf("dust", "polish")
    office.agent["replan"] = "never"

    async def first(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("hello")
        return session.session_id, turn.rendering, turn.plan.digest

    session_id, shown, digest = office.play(first)
    listing.write_text(json.dumps(kit.shelved("dust", "sweep")))
    office.agent |= {"deferred_tools": ["mail.send"], "caps": {"definitions": 12}}

    async def later(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        turn = await session.begin_turn("hello")
        assert (turn.rendering, turn.plan.digest) == (shown, digest)
        talk = kit.Talk("openai")
        (dust, polish, sweep, mail) = await talk.step(
            turn,
            ("c1", "mcp__shelf__dust", {}),
            ("c2", "mcp__shelf__polish", {}),
            ("c3", "mcp__shelf__sweep", {}),
            ("c4", "mail_send", {"to": "bo"}),
        )
        assert dust.row.outcome == "completed"
        assert (polish.row.code, sweep.row.code) == (Code.WITHDRAWN, Code.NOT_OFFERED)
        assert mail.row.outcome == "suspended"
        await session.set_intent({"disabled": ["mcp.shelf.dust"]})
        turn = await session.begin_turn("hello", override=None)
        assert turn.rendering == shown
        (dust,) = await talk.step(turn, ("c5", "mcp__shelf__dust", {}))
        assert dust.row.code is Code.WITHDRAWN
        # A branch under the same terms keeps it as well; a new session sees the new roster.
        branch = await session.fork()
        assert (await branch.begin_turn("hello")).rendering == shown
        fresh = await keeper.open_session(agent="chat", user="ana", provider="openai")
        assert "mcp.shelf.sweep" in (await fresh.begin_turn("hello")).plan.pins
        elsewhere = await session.fork(provider="anthropic")
        assert "mcp.shelf.sweep" in (await elsewhere.begin_turn("hello")).plan.pins

    office.play(later)


def test_never_and_a_forced_tool(office: Any, kit: Any) -> None:
    office.agent |= {"replan": "never", "deferred_tools": ["weather.today"]}

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        forced = await session.begin_turn("hello", tool_choice="weather.today")
        first = await session.begin_turn("hello")
        assert "tool_choice" not in first.request
        assert "weather_today" not in kit.names(first.tools)
        again = await session.begin_turn("hello", tool_choice="weather.today")
        assert again.request == forced.request
        assert (await session.begin_turn("hello")).rendering == first.rendering
        defined = await session.begin_turn("hello", tool_choice="mail.send")
        assert defined.tools == first.tools
        with pytest.raises(ConfigError):
            await session.begin_turn("hello", tool_choice="mail.forward")

    office.play(act)


def test_never_with_search_keeps_its_array_and_what_was_found_is_callable(
    searching: Any, kit: Any
) -> None:
    searching.agent["replan"] = "never"

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana")
        turn, talk = await kit.searched(session, "weather forecast")
        later = await session.begin_turn("go on", transcript=talk.messages)
        assert later.rendering == turn.rendering
        (called,) = await talk.step(later, ("c1", "weather_today", {"city": "Ulm"}))
        assert (called.row.outcome, called.row.advertised_as) == ("completed", "search")

    searching.play(act)


def test_a_parked_run_keeps_its_plan_and_resumes_after_the_registry_changed(
    office: Any, kit: Any
) -> None:
    listing = office.shelf("dust")

    async def park(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        calls = (("c1", "mail_send", {"to": "bo"}), ("c2", "notes_add", {"title": "tea"}))
        sent, added = await kit.Talk("generic").step(turn, *calls)
        for outcome in (sent, added):
            await keeper.desk().answer(outcome.row.approval_id, ApprovalState.APPROVED, by="ana")
        return session.session_id, turn.plan.digest, sent.row, added.row

    session_id, digest, sent, added = office.play(park)
    listing.write_text(json.dumps(kit.shelved("sweep")))
    office.agent["tools"] = ["notes.list", "mail.send"]

    async def resume(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        later = await session.begin_turn("meanwhile")
        assert later.plan.digest != digest
        (done,) = (await resume_one(keeper, sent.invocation_id)).outcomes
        assert (done.row.outcome, done.row.run_id) == ("completed", sent.run_id)
        assert (await keeper.ledger.run(sent.run_id)).plan_digest == digest
        # What the agent has no more was taken away, whatever was approved.
        (gone,) = (await resume_one(keeper, added.invocation_id)).outcomes
        assert (gone.row.outcome, gone.row.code) == ("refused", Code.WITHDRAWN)
        assert office.effects == [("send", "bo")]

    office.play(resume)


def _rewritten_builder(office: Any, builder: str) -> None:
    """As if another version had made the stored plans."""
    from toolkeeper_contract import Plan, canonical_text

    for digest, body in office.sql("select digest, body from plans"):
        plan = Plan.from_body({**json.loads(body), "builder": builder})
        office.sql(
            "insert into plans (digest, body) values (:new, :body)",
            new=plan.digest,
            body=canonical_text(plan.body()),
        )
        office.sql(
            "update runs set plan_digest = :new where plan_digest = :old",
            new=plan.digest,
            old=digest,
        )
        office.sql("delete from plans where digest = :old", old=digest)


@pytest.mark.parametrize("replan", ["on_change", "never"])
def test_a_plan_of_a_compatible_older_builder_counts_as_current(
    office: Any, monkeypatch: pytest.MonkeyPatch, replan: str
) -> None:
    office.agent["replan"] = replan

    async def begin(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        return session.session_id, (await session.begin_turn("hello")).rendering

    session_id, shown = office.play(begin)
    _rewritten_builder(office, "plan-builder@0")
    for function in ("is_current", "require_current", "kept_plan"):
        defaults = getattr(builder_version, function).__kwdefaults__
        monkeypatch.setitem(defaults, "compatible", frozenset({"plan-builder@0"}))

    async def go_on(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        assert (await session.reopen_turn()).rendering == shown
        turn = await session.begin_turn("hello")
        assert (turn.rendering, turn.plan.builder) == (shown, "plan-builder@0")
        events = await keeper.ledger.events(session_id=session_id)
        assert "tools.changed" not in [each.event.name for each in events]

    office.play(go_on)


@pytest.mark.parametrize("replan", ["on_change", "never"])
def test_a_plan_of_a_foreign_builder_is_not_current(office: Any, kit: Any, replan: str) -> None:
    office.agent["replan"] = replan

    async def begin(keeper: Any) -> Any:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("hello")
        (sent,) = await kit.Talk("generic").step(turn, ("c1", "mail_send", {"to": "bo"}))
        await keeper.desk().answer(sent.row.approval_id, ApprovalState.APPROVED, by="ana")
        return session.session_id, sent.row

    session_id, row = office.play(begin)
    _rewritten_builder(office, "plan-builder@9")

    async def go_on(keeper: Any) -> None:
        session = await keeper.resumed_session(session_id)
        with pytest.raises(RunError) as told:
            await session.reopen_turn()
        assert told.value.code is Code.BUILDER_NOT_CURRENT
        # A parked call of it stays parked for the version that can take it up.
        with pytest.raises(RunError) as told:
            await resume_one(keeper, row.invocation_id)
        assert told.value.code is Code.BUILDER_NOT_CURRENT
        assert (await keeper.ledger.invocation(row.invocation_id)).state == "parked"
        if replan == "never":
            with pytest.raises(RunError) as told:
                await session.begin_turn("hello")
            assert told.value.code is Code.BUILDER_NOT_CURRENT
        else:
            assert (await session.begin_turn("hello")).plan.builder == builder_version.BUILDER

    office.play(go_on)
