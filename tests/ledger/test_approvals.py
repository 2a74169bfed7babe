"""An approval is asked, answered and spent exactly once, on every store."""

from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import (
    Answer,
    ApprovalState,
    Code,
    Ending,
    Event,
    RunError,
    State,
)


def test_a_parked_call_waits_with_its_question_and_its_arguments(
    desk: Any, make: ModuleType
) -> None:
    row = desk.park()
    assert desk.row() == row
    assert desk.wait(desk.ledger.approval("apr_1")) == make.an_approval()
    assert desk.wait(desk.ledger.approval_of("inv_1")) == make.an_approval()
    assert desk.wait(desk.ledger.sealed("inv_1")) == b"sealed inv_1"
    assert desk.wait(desk.ledger.parked()) == [row]
    assert desk.wait(desk.ledger.parked("ses_1")) == [row]
    assert desk.wait(desk.ledger.parked("ses_9")) == []


def test_a_call_is_parked_once(desk: Any, make: ModuleType) -> None:
    desk.park()
    before = desk.names()
    for approval_id, name in (("apr_2", "inv_1"), ("apr_1", "inv_2")):
        with pytest.raises(RunError) as failure:
            desk.park(name, approval_id)
        assert failure.value.code is Code.LEDGER_CONFLICT
    assert desk.wait(desk.ledger.invocation("inv_2")) is None
    assert desk.wait(desk.ledger.approval("apr_2")) is None
    assert desk.names() == before


def test_identical_parked_calls_are_two_rows(desk: Any) -> None:
    desk.park("inv_1", "apr_1")
    desk.park("inv_2", "apr_2")
    assert [row.invocation_id for row in desk.wait(desk.ledger.parked())] == ["inv_1", "inv_2"]


def test_an_answer_is_kept_with_who_and_why(desk: Any, make: ModuleType) -> None:
    desk.park()
    at = desk.clock.forward(minutes=1)
    answer = Answer(ApprovalState.DENIED, "ops", at, "too late today")
    denied = desk.wait(desk.ledger.answer("apr_1", answer, [Event("approval.answered")]))
    assert denied == make.an_approval(
        state=ApprovalState.DENIED, decided_at=at, decided_by="ops", reason="too late today"
    )
    assert desk.wait(desk.ledger.approval("apr_1")) == denied
    assert desk.row().state is State.PARKED
    assert desk.names()[-1] == "approval.answered"


def test_the_loser_of_two_answers_gets_nothing(desk: Any) -> None:
    desk.park()
    assert desk.approve() is not None
    before = desk.names()
    no = Answer(ApprovalState.DENIED, "ops", desk.clock.now())
    assert desk.wait(desk.ledger.answer("apr_1", no, [Event("approval.answered")])) is None
    assert desk.state_of() is ApprovalState.APPROVED
    assert desk.names() == before


def test_an_unknown_or_expired_approval_is_not_answered(desk: Any) -> None:
    desk.park()
    assert desk.approve("apr_9") is None
    desk.clock.forward(hours=24)
    assert desk.approve() is None
    assert desk.state_of() is ApprovalState.PENDING


@pytest.mark.parametrize("state", ["pending", "expired", "spent"])
def test_an_answer_approves_or_denies(desk: Any, state: str) -> None:
    desk.park()
    odd = Answer(ApprovalState(state), "ana", desk.clock.now())
    with pytest.raises(ValueError, match="approves or denies"):
        desk.wait(desk.ledger.answer("apr_1", odd, []))


def test_an_approved_call_is_claimed_and_its_approval_spent(desk: Any, make: ModuleType) -> None:
    row = desk.park()
    desk.approve()
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, [Event("call.claimed")]))
    assert lease is not None
    assert desk.row().state is State.RUNNING
    assert desk.row().outcome is None
    assert desk.state_of() is ApprovalState.SPENT
    assert desk.wait(desk.ledger.approval("apr_1")).spent_by == "inv_1"
    assert desk.wait(desk.ledger.parked()) == []
    assert desk.wait(desk.ledger.sealed("inv_1")) == b"sealed inv_1"
    end = make.ended(row, lease.fence, settled_at=desk.clock.now())
    assert desk.wait(desk.ledger.settle(end, [])) is True
    assert desk.wait(desk.ledger.sealed("inv_1")) is None


@pytest.mark.parametrize("answer", [None, "denied", "late"])
def test_a_call_without_a_valid_approval_is_not_claimed(
    desk: Any, make: ModuleType, answer: str | None
) -> None:
    row = desk.park()
    if answer == "denied":
        no = Answer(ApprovalState.DENIED, "ana", desk.clock.now())
        desk.wait(desk.ledger.answer("apr_1", no, []))
    if answer == "late":
        desk.approve()
        desk.clock.forward(hours=24)
    before = desk.names()
    assert desk.wait(desk.ledger.claim(row, make.LEASE, [Event("call.claimed")])) is None
    assert desk.row() == row
    assert desk.names() == before


def test_an_approval_of_another_session_does_not_exist(desk: Any, make: ModuleType) -> None:
    desk.park()
    desk.approve()
    make.begin(desk.ledger, "ses_2", "run_2")
    thief = make.a_row("inv_2", session_id="ses_2", run_id="run_2", approval_id="apr_1")
    assert desk.wait(desk.ledger.claim(thief, make.LEASE, [])) is None
    assert desk.wait(desk.ledger.invocation("inv_2")) is None
    assert desk.state_of() is ApprovalState.APPROVED


def test_an_equal_call_that_spends_the_approval_supersedes_the_parked_one(
    desk: Any, make: ModuleType
) -> None:
    desk.park("inv_1", "apr_1")
    desk.approve()
    equal = make.a_row("inv_2", approval_id="apr_1")
    assert desk.wait(desk.ledger.claim(equal, make.LEASE, [Event("call.claimed")])) is not None
    old = desk.row("inv_1")
    assert old.state is State.SETTLED
    assert (old.outcome, old.code) == (Ending.REFUSED, None)
    assert old.superseded_by == "inv_2"
    assert old.is_error
    assert old.settled_at == desk.clock.now()
    assert desk.wait(desk.ledger.sealed("inv_1")) is None
    assert desk.wait(desk.ledger.approval("apr_1")).spent_by == "inv_2"
    told = desk.wait(desk.ledger.events("ses_1"))[-1]
    assert (told.event.name, told.event.invocation_id) == ("call.superseded", "inv_1")
    data = dict(told.event.data)
    assert len(data.pop("row_digest")) == 64
    assert data == {"tool": "notes.add", "superseded_by": "inv_2"}
    assert desk.wait(desk.ledger.claim(replace(old, superseded_by=None), make.LEASE, [])) is None


def test_a_parked_call_that_uses_another_approval_closes_its_own_question(
    desk: Any, make: ModuleType
) -> None:
    desk.park("inv_1", "apr_1")
    desk.park("inv_2", "apr_2")
    desk.approve("apr_1")
    second = make.a_row("inv_2", approval_id="apr_1")
    assert desk.wait(desk.ledger.claim(second, make.LEASE, [])) is not None
    assert desk.state_of("apr_1") is ApprovalState.SPENT
    assert desk.state_of("apr_2") is ApprovalState.EXPIRED
    assert desk.wait(desk.ledger.approvals(pending_only=True)) == []
    assert desk.names()[-2:] == ["call.superseded", "approval.expired"]


def test_a_refused_parked_call_leaves_no_question_open(desk: Any, make: ModuleType) -> None:
    row = desk.park()
    end = replace(row, state=State.SETTLED, outcome=Ending.REFUSED, code=Code.PIN_MISMATCH)
    assert desk.wait(desk.ledger.settle(end, [Event("call.settled")])) is True
    assert desk.state_of() is ApprovalState.EXPIRED
    assert desk.approve() is None
    assert desk.wait(desk.ledger.sealed("inv_1")) is None
    told = desk.wait(desk.ledger.events("ses_1"))[-1].event
    assert told.name == "approval.expired"
    assert told.data["reason"] == "call_ended"


def test_the_oldest_usable_approval_of_a_binding_is_found(desk: Any, make: ModuleType) -> None:
    digest = make.BINDING.digest()
    now = desk.clock.now()
    assert desk.wait(desk.ledger.usable_approval(digest, now)) is None
    desk.park("inv_1", "apr_1")
    desk.park("inv_2", "apr_2")
    assert desk.wait(desk.ledger.usable_approval(digest, now)) is None
    desk.approve("apr_2")
    desk.approve("apr_1")
    assert desk.wait(desk.ledger.usable_approval(digest, now)).approval_id == "apr_1"
    assert desk.wait(desk.ledger.usable_approval("0" * 64, now)) is None
    over = now + timedelta(hours=24)
    assert desk.wait(desk.ledger.usable_approval(digest, over)) is None


def test_approvals_are_listed_by_the_time_they_were_asked(desk: Any, make: ModuleType) -> None:
    for number in (3, 1, 2):
        asked = make.START - timedelta(minutes=number)
        name = f"inv_{number}"
        desk.wait(
            desk.ledger.park(
                make.parked_row(name, f"apr_{number}"),
                make.an_approval(f"apr_{number}", name, asked_at=asked),
                b"",
                [],
            )
        )
    desk.approve("apr_2")

    def listed(pending_only: bool) -> list[str]:
        found = desk.wait(desk.ledger.approvals(pending_only=pending_only))
        return [approval.approval_id for approval in found]

    assert listed(False) == ["apr_3", "apr_2", "apr_1"]
    assert listed(True) == ["apr_3", "apr_1"]


def edited(make: ModuleType, at: Any, **changes: Any) -> Any:
    binding = replace(make.BINDING, arguments_digest="e" * 64)
    return make.an_approval(
        "apr_2",
        binding=binding,
        state=ApprovalState.APPROVED,
        decided_at=at,
        decided_by="ana",
        reason="shorter",
        **changes,
    )


def test_an_edit_replaces_the_question_and_keeps_both(desk: Any, make: ModuleType) -> None:
    desk.park()
    at = desk.clock.forward(minutes=1)
    row = make.parked_row(approval_id="apr_2", arguments={"title": "x"}, arguments_digest="e" * 64)
    new = edited(make, at)
    told = [Event("approval.edited")]
    assert desk.wait(desk.ledger.amend("apr_1", row, new, b"other", told)) is True
    old = desk.wait(desk.ledger.approval("apr_1"))
    assert (old.state, old.decided_by, old.decided_at) == (ApprovalState.DENIED, "ana", at)
    assert desk.wait(desk.ledger.approval("apr_2")) == new
    assert desk.wait(desk.ledger.approval_of("inv_1")) == new
    assert desk.row() == row
    assert desk.wait(desk.ledger.sealed("inv_1")) == b"other"
    assert desk.names()[-1] == "approval.edited"
    assert desk.wait(desk.ledger.claim(row, make.LEASE, [])) is not None
    assert desk.state_of("apr_2") is ApprovalState.SPENT
    assert desk.state_of("apr_1") is ApprovalState.DENIED


@pytest.mark.parametrize("way", ["answered", "expired", "unknown", "settled", "another call"])
def test_an_edit_that_comes_too_late_changes_nothing(desk: Any, make: ModuleType, way: str) -> None:
    desk.park()
    row = make.parked_row(approval_id="apr_2", arguments={"title": "x"})
    asked = "apr_9" if way == "unknown" else "apr_1"
    if way == "answered":
        desk.approve()
    if way == "expired":
        desk.clock.forward(hours=24)
    if way == "settled":
        desk.wait(desk.ledger.settle(make.ended(desk.row(), 0), []))
    if way == "another call":
        desk.park("inv_2", "apr_3")
        asked = "apr_3"
    before = (desk.row(), desk.names(), desk.wait(desk.ledger.approvals(pending_only=False)))
    told = [Event("approval.edited")]
    new = edited(make, desk.clock.now())
    assert desk.wait(desk.ledger.amend(asked, row, new, b"other", told)) is False
    assert before == (
        desk.row(),
        desk.names(),
        desk.wait(desk.ledger.approvals(pending_only=False)),
    )


def test_an_edit_is_an_approval(desk: Any, make: ModuleType) -> None:
    desk.park()
    with pytest.raises(ValueError, match="approved"):
        desk.wait(desk.ledger.amend("apr_1", desk.row(), make.an_approval("apr_2"), b"", []))
    assert desk.state_of() is ApprovalState.PENDING


def test_calls_that_wait_for_nobody_any_more_are_told_from_those_that_do(
    desk: Any, make: ModuleType
) -> None:
    for number, answer in enumerate(
        [None, ApprovalState.APPROVED, None, ApprovalState.DENIED], start=1
    ):
        approval = make.an_approval(f"apr_{number}", f"inv_{number}")
        row = make.parked_row(f"inv_{number}", approval.approval_id)
        desk.wait(desk.ledger.park(row, approval, b"sealed", []))
        if answer is not None:
            desk.wait(
                desk.ledger.answer(f"apr_{number}", Answer(answer, "ana", desk.clock.now()), [])
            )

    def parked(**more: Any) -> list[str]:
        return [row.invocation_id for row in desk.wait(desk.ledger.parked(**more))]

    assert parked() == ["inv_1", "inv_2", "inv_3", "inv_4"]
    assert parked(answered=True) == ["inv_2", "inv_4"]
    assert parked(session_id="ses_1", answered=True) == ["inv_2", "inv_4"]
