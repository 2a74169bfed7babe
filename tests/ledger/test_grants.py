"""Standing approvals on every store: given with an answer, found by identity, held at a claim."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from toolkeeper_contract import Answer, ApprovalState, Event, Grant, Invocation, RunError, Scope
from toolkeeper_ledger import open_ledger

F = "f" * 64


def a_grant(make: Any, **changes: Any) -> Grant:
    grant = Grant(
        grant_id="gra_1",
        scope=Scope.ALWAYS,
        tool="notes.add",
        fingerprint=F,
        user="ana",
        agent="chat",
        session_id=None,
        condition=None,
        rules=("r1", "@taint"),
        approval_id="apr_1",
        granted_by="ana",
        granted_at=make.START,
        expires_at=make.START + timedelta(days=1),
        reason="often",
    )
    return replace(grant, **changes)


def give(desk: Any, make: Any, **changes: Any) -> Grant:
    grant = a_grant(make, **changes)
    event = Event("grant.given", {"grant_id": grant.grant_id})
    answered = desk.wait(
        desk.ledger.answer(grant.approval_id, make.yes(desk.clock.now()), [event], grant=grant)
    )
    assert answered is not None
    return grant


def usable(desk: Any, **changes: Any) -> list[str]:
    wanted = {
        "tool": "notes.add",
        "fingerprint": F,
        "user": "ana",
        "agent": "chat",
        "session_id": "ses_1",
        "now": desk.clock.now(),
    }
    found = desk.wait(desk.ledger.usable_grants(**{**wanted, **changes}))
    return [grant.grant_id for grant in found]


def claim(desk: Any, make: Any, name: str = "inv_2", **changes: Any) -> Any:
    row: Invocation = make.a_row(name, grant_id="gra_1", **changes)
    return desk.wait(desk.ledger.claim(row, desk.clock.now() + timedelta(minutes=5), []))


def test_it_comes_with_the_answer_and_reads_back_equal(desk: Any, make: Any) -> None:
    desk.park()
    grant = give(desk, make)
    assert desk.wait(desk.ledger.grant("gra_1")) == grant
    assert desk.wait(desk.ledger.grants()) == [grant]
    assert desk.state_of() is ApprovalState.APPROVED
    assert "grant.given" in desk.names()


def test_an_answer_that_is_too_late_gives_none(desk: Any, make: Any) -> None:
    desk.park()
    desk.approve()
    grant = a_grant(make)
    late = desk.ledger.answer("apr_1", make.yes(desk.clock.now()), [], grant=grant)
    assert desk.wait(late) is None
    assert desk.wait(desk.ledger.grants()) == []
    assert desk.wait(desk.ledger.grant("gra_1")) is None


def test_an_id_is_given_once(desk: Any, make: Any) -> None:
    desk.park()
    give(desk, make)
    desk.park("inv_2", "apr_2")
    with pytest.raises(RunError, match="already in the ledger"):
        give(desk, make, approval_id="apr_2")
    assert desk.state_of("apr_2") is ApprovalState.PENDING


@pytest.mark.parametrize(
    "changes",
    [
        {"scope": Scope.ONCE},
        {"scope": Scope.SESSION},
        {"session_id": "ses_1"},
        {"approval_id": "apr_9"},
        {"granted_by": "bo"},
    ],
)
def test_what_is_no_grant_of_this_answer_is_a_mistake(desk: Any, make: Any, changes: Any) -> None:
    desk.park()
    grant = a_grant(make, **changes)
    with pytest.raises(ValueError, match="grant"):
        desk.wait(desk.ledger.answer("apr_1", make.yes(), [], grant=grant))
    no = Answer(ApprovalState.DENIED, "ana", make.START)
    with pytest.raises(ValueError, match="only an approval"):
        desk.wait(desk.ledger.answer("apr_1", no, [], grant=a_grant(make)))
    assert desk.state_of() is ApprovalState.PENDING


@pytest.mark.parametrize(
    "other",
    [
        {"tool": "add"},
        {"tool": "notes.add.more"},
        {"tool": "Notes.add"},
        {"fingerprint": "e" * 64},
        {"user": "bo"},
        {"agent": "desk"},
    ],
)
def test_it_is_found_by_its_whole_identity(desk: Any, make: Any, other: Any) -> None:
    desk.park()
    give(desk, make)
    assert usable(desk) == ["gra_1"]
    assert usable(desk, session_id="ses_9") == ["gra_1"]
    assert usable(desk, **other) == []


def test_one_for_a_session_is_found_in_it_alone(desk: Any, make: Any) -> None:
    desk.park()
    give(desk, make, scope=Scope.SESSION, session_id="ses_1")
    assert usable(desk) == ["gra_1"]
    assert usable(desk, session_id="ses_9") == []


def test_the_oldest_comes_first_and_what_is_over_not_at_all(desk: Any, make: Any) -> None:
    for number, hours in ((1, 3), (2, 1), (3, 2)):
        desk.park(f"inv_{number}", f"apr_{number}")
        give(
            desk,
            make,
            grant_id=f"gra_{number}",
            approval_id=f"apr_{number}",
            granted_at=desk.clock.now(),
            expires_at=make.START + timedelta(hours=hours),
        )
        desk.clock.forward(seconds=1)
    assert usable(desk) == ["gra_1", "gra_2", "gra_3"]
    desk.clock.forward(hours=1)
    assert usable(desk) == ["gra_1", "gra_3"]
    active = desk.wait(desk.ledger.grants(active_at=desk.clock.now()))
    assert [grant.grant_id for grant in active] == ["gra_1", "gra_3"]
    assert len(desk.wait(desk.ledger.grants())) == 3


def test_it_is_revoked_once_and_told_where_it_was_given(desk: Any, make: Any) -> None:
    desk.park()
    give(desk, make)
    at = desk.clock.forward(minutes=1)
    event = Event("grant.revoked", {"grant_id": "gra_1"})

    def revoke(name: str) -> Any:
        return desk.wait(desk.ledger.revoke("gra_1", by=name, at=at, events=[event]))

    ended = revoke("bo")
    assert (ended.revoked_by, ended.revoked_at) == ("bo", at)
    assert revoke("ana") is None
    assert desk.wait(desk.ledger.revoke("gra_9", by="bo", at=at, events=[event])) is None
    assert desk.names().count("grant.revoked") == 1
    assert usable(desk) == []


def test_a_call_is_claimed_under_it_again_and_again(desk: Any, make: Any) -> None:
    desk.park()
    give(desk, make)
    for name in ("inv_2", "inv_3"):
        assert claim(desk, make, name) is not None
        assert desk.row(name).grant_id == "gra_1"


@pytest.mark.parametrize("why", ["revoked", "expired", "tool", "fingerprint", "unknown"])
def test_a_call_is_not_claimed_under_one_that_does_not_hold(desk: Any, make: Any, why: str) -> None:
    desk.park()
    give(desk, make)
    changes: dict[str, Any] = {}
    if why == "revoked":
        desk.wait(desk.ledger.revoke("gra_1", by="ana", at=desk.clock.now(), events=[]))
    elif why == "expired":
        desk.clock.forward(days=1)
    elif why == "unknown":
        changes = {"grant_id": "gra_9"}
    else:
        changes = {why: "e" * 64}
    before = desk.names()
    row = replace(make.a_row("inv_2", grant_id="gra_1"), **changes)
    claimed = desk.ledger.claim(
        row, desk.clock.now() + timedelta(minutes=5), [Event("call.claimed", {})]
    )
    assert desk.wait(claimed) is None
    assert desk.wait(desk.ledger.invocation("inv_2")) is None
    assert desk.names() == before


def test_what_an_approval_was_asked_about_besides_its_arguments_reads_back(
    desk: Any, make: Any
) -> None:
    row = make.parked_row()
    approval = make.an_approval(operands={"/path": "sha256:00", "/other": "missing"})
    desk.wait(desk.ledger.park(row, approval, b"sealed", []))
    assert desk.wait(desk.ledger.approval("apr_1")) == approval


def test_of_claims_and_a_revocation_at_once_none_comes_after_it(
    any_store: str, clock: Any, make: Any
) -> None:
    """Two connections: whatever is claimed is claimed before the grant ends, or not at all."""

    async def race() -> None:
        one, two = open_ledger(any_store, clock=clock), open_ledger(any_store, clock=clock)
        try:
            names = [f"inv_{number}" for number in range(2, 26)]
            rows = [make.a_row(name, grant_id="gra_1") for name in names]
            until = clock.now() + timedelta(minutes=5)
            told = Event("grant.revoked", {"grant_id": "gra_1"})

            async def claim_all(ledger: Any, share: Any) -> list[bool]:
                return [await ledger.claim(row, until, [CLAIMED]) is not None for row in share]

            first, second, ended = await asyncio.gather(
                claim_all(one, rows[::2]),
                claim_all(two, rows[1::2]),
                two.revoke("gra_1", by="ana", at=clock.now(), events=[told]),
            )
            assert ended is not None
            kept = [name for name in names if await one.invocation(name) is not None]
            assert len(kept) == sum(first) + sum(second)
            names_told = [record.event.name for record in await one.events("ses_1")]
            after = names_told[names_told.index("grant.revoked") :]
            assert "call.claimed" not in after
            assert names_told.count("call.claimed") == len(kept)
        finally:
            await one.close()
            await two.close()

    ledger = open_ledger(any_store, clock=clock)
    make.begin(ledger)
    desk = make.Desk(ledger, clock)
    desk.park()
    give(desk, make)
    asyncio.run(ledger.close())
    asyncio.run(race())


CLAIMED = Event("call.claimed", {})
