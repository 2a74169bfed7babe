"""B45: an approval that is remembered under the tool's name lets a later, different call through.

Right: an approval is for one call: tool, definition, arguments, user, agent, session; used once.
What stands longer is a grant, given by name, with an end, and said in plain words.
"""

import asyncio
from typing import Any

import pytest

from toolkeeper import Toolkeeper
from toolkeeper_contract import ApprovalState, Scope

pytestmark = pytest.mark.in_this_process

A = {"to": "a@example.com"}


@pytest.mark.parametrize(
    "other", [{"to": "b@example.com"}, {**A, "text": ""}, {"to": "A@example.com"}]
)
def test_another_call_of_the_same_tool_is_asked_about(home: Any, other: Any) -> None:
    (asked,) = home.run({"id": "c1", "tool": "mail.send", "arguments": A})
    home.toolkeeper("approvals", "approve", asked["approval_id"], expect=0)
    (line,) = home.run(
        {"id": "c2", "tool": "mail.send", "arguments": other}, session=asked["session_id"]
    )
    assert line["outcome"] == "suspended"
    assert home.effects() == []
    home.toolkeeper("resume", "--all")
    assert home.effects() == [["send", "a@example.com"]]


def test_the_same_call_twice_is_asked_about_twice(home: Any) -> None:
    call = {"tool": "mail.send", "arguments": A}
    lines = home.run({"id": "c1", **call}, {"id": "c2", **call})
    assert len({line["approval_id"] for line in lines}) == 2
    home.toolkeeper("approvals", "approve", lines[0]["approval_id"], expect=0)
    home.toolkeeper("resume", "--all")
    assert home.effects() == [["send", "a@example.com"]]
    (left,) = home.here("approvals", "list")
    assert left["approval_id"] == lines[1]["approval_id"]


def test_what_stands_longer_is_a_row_of_its_own_that_can_be_ended(home: Any) -> None:
    (asked,) = home.run({"id": "c1", "tool": "mail.send", "arguments": A})
    told = home.toolkeeper("approvals", "approve", asked["approval_id"], "--scope", "always")
    assert "lets through calls of mail.send with any arguments, for ana" in told.out
    (grant,) = home.here("grants", "list")
    (line,) = home.run({"id": "c1", "tool": "mail.send", "arguments": {"to": "b@example.com"}})
    assert (line["outcome"], line["grant_id"]) == ("completed", grant["grant_id"])
    assert line["approval_id"] is None
    home.here("grants", "revoke", grant["grant_id"])
    assert home.here("grants", "list") == []
    (line,) = home.run({"id": "c1", "tool": "mail.send", "arguments": {"to": "b@example.com"}})
    assert line["outcome"] == "suspended"


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.ALWAYS])
def test_through_the_bridge_the_real_tool_is_meant(shop: Any, scope: Scope) -> None:
    async def act(turn: Any, keeper: Toolkeeper) -> list[Any]:
        def wrapped(name: str, arguments: Any) -> Any:
            return turn.read("c", "tool.call", {"name": name, "arguments": arguments})

        asked = await turn.call(wrapped("notes.add", {"title": "tea"}))
        await keeper.desk().grant(asked.row.approval_id, scope)
        # The very same call has its answer already; a like one has the grant.
        await turn.call(wrapped("notes.add", {"title": "tea"}))
        outcomes = [
            await turn.call(wrapped("notes.add", {"title": "rye"})),
            await turn.call(turn.read("c", "notes.add", {"title": "oat"})),
            await turn.call(wrapped("mail.send", {"to": "a"})),
        ]
        return [outcome.row.outcome for outcome in outcomes]

    assert shop.turn(act) == ["completed", "completed", "suspended"]


def test_the_revision_at_asking_is_kept(shop: Any) -> None:
    async def act(turn: Any, keeper: Toolkeeper) -> Any:
        asked = await turn.call(turn.read("c", "mail.send", A))
        approval = await keeper.ledger.approval(asked.row.approval_id)
        assert approval is not None
        assert approval.state is ApprovalState.PENDING
        return approval.decision.revision, keeper.policy.revision, approval.binding

    kept, revision, binding = shop.turn(act)
    assert kept == revision
    assert (binding.tool, binding.user, binding.agent) == ("mail.send", "ana", "chat")
    assert len(binding.fingerprint) == len(binding.arguments_digest) == 64


def test_two_grants_do_not_add_up(shop: Any) -> None:
    async def play() -> list[str]:
        keeper: Toolkeeper = shop.keeper()
        async with keeper:
            for user in ("ana", "bo"):
                session = await keeper.open_session(agent="chat", user=user)
                turn = await session.begin_turn()
                name = {"ana": "notes.add", "bo": "mail.send"}[user]
                arguments = {"ana": {"title": "t"}, "bo": {"to": "t"}}[user]
                asked = await turn.call(turn.read("c", name, arguments))
                await keeper.desk().grant(asked.row.approval_id or "", Scope.ALWAYS)
            session = await keeper.open_session(agent="chat", user="ana")
            turn = await session.begin_turn()
            outcome = await turn.call(turn.read("c", "mail.send", {"to": "x"}))
            return [outcome.row.outcome or ""]

    assert asyncio.run(play()) == ["suspended"]
