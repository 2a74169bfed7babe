"""A caller's key, and a turn that is done once more: what was done is given back, never done."""

import asyncio
import re
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper.testing import FixedClock
from toolkeeper_contract import (
    AdvertisedAs,
    ApprovalState,
    Blob,
    Code,
    Completed,
    ConfigError,
    Ending,
    Failed,
    NotDispatched,
    Origin,
    RunError,
    State,
    Suspended,
    Text,
    ToolResult,
)


def counted() -> tuple[Any, list[Any]]:
    effects: list[Any] = []

    @tool(name="notes.add", side_effect="workspace_write")
    def add_note(title: str) -> str:
        """Add a note."""
        effects.append(title)
        return f"added {title} as {len(effects)}"

    return add_note, effects


def names(events: Any) -> list[str]:
    return [each.event.name for each in events]


def test_a_finished_twin_gives_its_stored_outcome_under_this_calls_id(played: Any) -> None:
    add, effects = counted()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        first = await turn.call(turn.read("c1", "notes.add", {"title": "t"}, idempotency_key="k"))
        wrapped = {"name": "notes.add", "arguments": {"title": "t"}}
        second = await turn.call(turn.read("c2", "tool.call", wrapped, idempotency_key="k"))
        rows = await keeper.ledger.invocations()
        return first, second, rows, turn.results([second]), await keeper.ledger.events()

    first, second, rows, results, events = played(act, add, deferred_tools=("notes.add",))
    assert isinstance(second, Completed)
    assert second.row.invocation_id == first.row.invocation_id
    assert (second.row.call_id, second.row.result) == ("c2", "added t as 1")
    assert second.row.advertised_as is AdvertisedAs.TOOL_CALL
    assert len(rows) == 1
    assert rows[0].call_id == "c1"
    assert effects == ["t"]
    assert "c2" in str(results)
    (told,) = [each.event for each in events if each.event.name == "call.repeated"]
    assert told.invocation_id == first.row.invocation_id
    assert told.data["call_id"] == "c2"


@pytest.mark.parametrize("other", [("notes.add", {"title": "u"}), ("notes.see", {"title": "t"})])
def test_a_key_of_another_call_is_a_conflict(played: Any, other: Any) -> None:
    add, effects = counted()

    @tool(name="notes.see", side_effect="workspace_read")
    def see(title: str) -> str:
        """See a note."""
        return title

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        await turn.call(turn.read("c1", "notes.add", {"title": "t"}, idempotency_key="k"))
        with pytest.raises(RunError) as caught:
            await turn.call(turn.read("c2", *other, idempotency_key="k"))
        return caught.value

    error = played(act, add, see)
    assert error.code is Code.LEDGER_CONFLICT
    assert effects == ["t"]


def test_a_key_is_one_users_and_one_agents_own(played: Any) -> None:
    add, effects = counted()

    async def act(keeper: Any, session: Any) -> Any:
        for user in ("ana", "bo"):
            other = await keeper.open_session(agent="chat", user=user)
            for _ in range(2):
                turn = await other.begin_turn()
                call = turn.read("c1", "notes.add", {"title": user}, idempotency_key="k")
                await turn.call(call)
        return await keeper.ledger.invocations()

    rows = played(act, add)
    assert effects == ["ana", "bo"]
    assert len(rows) == 2


def test_a_parked_twin_is_suspended_with_its_ids_and_its_answer_counts_for_both(
    played: Any,
) -> None:
    add, effects = counted()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        call = turn.read("c1", "notes.add", {"title": "t"}, idempotency_key="k")
        first = await turn.call(call)
        second = await turn.call(call)
        from toolkeeper import resume_one

        await keeper.desk().answer(first.row.approval_id, ApprovalState.APPROVED, by="ana")
        await resume_one(keeper, first.row.invocation_id)
        return first, second, await turn.call(call), await keeper.ledger.approvals(pending_only=0)

    first, second, third, approvals = played(act, add, policy=None)
    assert isinstance(second, Suspended)
    assert second.row.approval_id == first.row.approval_id
    assert third.row.result == "added t as 1"
    assert len(approvals) == 1
    assert effects == ["t"]


def test_an_operators_no_holds_for_the_key(played: Any) -> None:
    add, effects = counted()

    async def act(keeper: Any, session: Any) -> Any:
        from toolkeeper import resume_one

        turn = await session.begin_turn()
        call = turn.read("c1", "notes.add", {"title": "t"}, idempotency_key="k")
        first = await turn.call(call)
        await keeper.desk().answer(
            first.row.approval_id, ApprovalState.DENIED, by="ana", reason="not today"
        )
        await resume_one(keeper, first.row.invocation_id)
        return await turn.call(call)

    again = played(act, add, policy=None)
    assert again.row.code is Code.APPROVAL_REJECTED
    assert "not today" in again.row.result
    assert effects == []


def test_what_was_refused_or_never_left_gives_its_key_up(played: Any) -> None:
    effects: list[Any] = []
    reachable: list[Any] = []

    @tool(name="notes.add", side_effect="workspace_write")
    def add(title: str) -> str:
        """Add a note."""
        if not reachable:
            raise NotDispatched("away")
        effects.append(title)
        return "added"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()

        def call(title: Any) -> Any:
            return turn.read("c1", "notes.add", {"title": title}, idempotency_key="k")

        refused = await turn.call(call(7))
        away = await turn.call(call("t"))
        reachable.append(True)
        done = await turn.call(call("t"))
        again = await turn.call(call("t"))
        with pytest.raises(RunError):
            await turn.call(call("u"))
        return refused, away, done, again

    refused, away, done, again = played(act, add)
    assert refused.row.code is Code.ARGUMENTS_INVALID
    assert (type(away), away.row.code) == (Failed, Code.UNAVAILABLE)
    assert again.row.invocation_id == done.row.invocation_id
    assert again.row.result == "added"
    assert effects == ["t"]


@pytest.mark.parametrize("key", ["", "x" * 257, "a\nb", 7, "\ud800"])
def test_what_cannot_be_a_key_is_said_at_once(played: Any, key: Any) -> None:
    add, _ = counted()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        with pytest.raises(ConfigError):
            turn.read("c1", "notes.add", {"title": "t"}, idempotency_key=key)

    played(act, add)


def test_two_calls_of_one_step_under_one_key_are_one_call(played: Any) -> None:
    add, effects = counted()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        calls = [
            turn.read(f"c{n}", "notes.add", {"title": "t"}, idempotency_key="k") for n in range(4)
        ]
        return await turn.call_all(calls)

    outcomes = played(act, add)
    assert effects == ["t"]
    assert {each.row.result for each in outcomes} == {"added t as 1"}
    assert [each.row.call_id for each in outcomes] == ["c0", "c1", "c2", "c3"]


def test_a_running_twin_is_waited_for(played: Any, waits: Any) -> None:
    release = asyncio.Event()

    @tool(name="slow.write", side_effect="network_write")
    async def slow() -> str:
        """Write slowly."""
        await release.wait()
        return "written"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        other = await (await keeper.open_session(agent="chat", user="ana")).begin_turn()
        one = asyncio.ensure_future(
            turn.call(turn.read("a", "slow.write", {}, idempotency_key="k"))
        )
        while not await keeper.ledger.invocations():
            await asyncio.sleep(0)
        two = asyncio.ensure_future(
            other.call(other.read("b", "slow.write", {}, idempotency_key="k"))
        )
        while len(waits.waited) < 5:
            await asyncio.sleep(0)
        release.set()
        return await one, await two

    one, two = played(act, slow)
    assert one.row.invocation_id == two.row.invocation_id
    assert two.row.result == "written"
    assert waits.waited[:4] == [0.01, 0.02, 0.04, 0.08]


def test_a_twin_that_runs_longer_than_a_call_may_is_told_as_running(
    played: Any, waits: Any
) -> None:
    release = asyncio.Event()

    @tool(name="slow.write", side_effect="network_write")
    async def slow() -> str:
        """Write slowly."""
        await release.wait()
        return "written"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        call = turn.read("a", "slow.write", {}, idempotency_key="k")
        one = asyncio.ensure_future(turn.call(call))
        while not await keeper.ledger.invocations():
            await asyncio.sleep(0)
        two = await turn.call(call)
        release.set()
        return await one, two

    one, two = played(act, slow)
    assert isinstance(two, Suspended)
    assert two.row.invocation_id == one.row.invocation_id
    assert "being run already" in two.row.result
    assert sum(waits.waited) == pytest.approx(60, abs=2)


def test_a_twin_whose_worker_is_gone_is_reaped_and_not_run_again(played: Any) -> None:
    add, effects = counted()
    clock = FixedClock()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        call = turn.read("a", "notes.add", {"title": "t"}, idempotency_key="k")
        settle = keeper.ledger.settle

        async def died(*_: Any, **__: Any) -> bool:
            raise ConnectionResetError

        keeper.ledger.settle = died
        with pytest.raises(ConnectionResetError):
            await turn.call(call)
        keeper.ledger.settle = settle
        clock.advance(hours=1)
        return await turn.call(call)

    again = played(act, add, clock=clock)
    assert again.row.code is Code.FAILED_UNKNOWN_OUTCOME
    assert again.row.state is State.SETTLED
    assert effects == ["t"]


def test_another_session_reads_the_result_as_its_own_and_is_marked_by_it(played: Any) -> None:
    @tool(name="web.get", side_effect="network_read", private=True)
    def get() -> str:
        """Get a page."""
        return "<b>" + "long " * 100 + "</b>"

    async def act(keeper: Any, session: Any) -> Any:
        outcomes = []
        second = await keeper.open_session(agent="chat", user="ana", attributes={"a": 1})
        await second.set_intent({"overlays": {}})
        for each in (session, second):
            turn = await each.begin_turn("go")
            call = turn.read("c1", "web.get", {}, idempotency_key="k")
            outcomes.append(await turn.call(call))
            handle = outcomes[-1].row.handle
            read = await turn.call(turn.read("c2", "tool.result", {"handle": handle}))
            assert read.row.is_error is False
            assert f"id={turn._run.token} " in outcomes[-1].row.result
        facts = await second.facts()
        from toolkeeper.runtime.session_facts import facts_of

        told = await facts_of(keeper.ledger, second.record)
        return outcomes, (facts.tainted, facts.private), (told.tainted, told.private)

    from toolkeeper.runtime.configuration import Limits

    (one, two), facts, told = played(act, get, limits=Limits(result_bytes=300))
    assert one.row.invocation_id == two.row.invocation_id
    assert one.row.handle != two.row.handle
    assert two.row.handle in two.row.result
    assert facts == told == (True, True)


def test_another_session_reads_every_part_of_the_result_under_handles_of_its_own(
    played: Any,
) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(200)

    @tool(name="web.get", side_effect="network_read")
    def get() -> ToolResult:
        """Get two pictures, a table and many words."""
        table = Blob(b"a,b\nword in a table,2\n", "text/csv")
        return ToolResult(
            (Blob(picture, "image/png"), table, Text("long " * 200), Blob(picture, "image/png"))
        )

    async def act(keeper: Any, session: Any) -> Any:
        second = await keeper.open_session(agent="chat", user="ana", attributes={"a": 1})
        rows, kept = [], []
        for each in (session, second, second):
            turn = await each.begin_turn("go")
            outcome = await turn.call(turn.read("c1", "web.get", {}, idempotency_key="k"))
            rows.append(outcome.row)
            whole = await each.kept(outcome.row.handle)
            places = re.findall(r"handle (res_\w+)\]", whole.text)
            kept.append([await each.kept(place) for place in places])
            assert places[0] in outcome.row.result
        marked = (await second.facts()).provenance.origin("word in a table")
        stored = await keeper.ledger.kept_by(second.session_id, rows[0].invocation_id)
        return rows, kept, marked, stored

    from toolkeeper.runtime.configuration import Limits

    rows, kept, marked, stored = played(act, get, limits=Limits(result_bytes=300))
    assert [[part.data for part in each] for each in kept] == [
        [picture, b"a,b\nword in a table,2\n", picture]
    ] * 3
    assert {part.source for each in kept for part in each} == {"functions"}
    handles = [set(re.findall(r"res_\w+", row.result)) for row in rows]
    assert not handles[0] & handles[1]
    # However often a session asks, it has it once.
    assert handles[1] == handles[2]
    assert len(stored) == 4
    assert marked is Origin.UNTRUSTED


def test_a_turn_that_is_done_once_more_starts_from_what_was_done(played: Any) -> None:
    add, effects = counted()

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        steps = [
            [turn.read("c1", "notes.add", {"title": "a"}), turn.read("c1", "notes.add", {})],
            [turn.read("c1", "notes.add", {"title": "b"})],
        ]
        first = [await turn.call_all(step) for step in steps]
        again = await session.reopen_turn(again=True)
        second = [await again.call_all(step) for step in steps]
        other = await again.call(again.read("c9", "notes.add", {"title": "c"}))
        third = await session.reopen_turn(again=True)
        # The model wrote something else this time: that is another call.
        changed = await third.call(third.read("c1", "notes.add", {"title": "z"}))
        return first, second, other, changed, await keeper.ledger.events()

    first, second, other, changed, events = played(act, add)
    assert [[each.row.result for each in step] for step in first] == [
        [each.row.result for each in step] for step in second
    ]
    assert first[0][0].row.invocation_id == second[0][0].row.invocation_id
    assert (other.row.outcome, changed.row.outcome) == (Ending.COMPLETED, Ending.COMPLETED)
    assert effects == ["a", "b", "c", "z"]
    assert names(events).count("call.repeated") == 2
