"""An audit finds what was changed by hand, in events and in rows, on each kind of database."""

import asyncio
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import ApprovalState, Event
from toolkeeper_ledger import AuditReport, Head, SqlLedger, open_ledger


@pytest.fixture
def told(any_sql: SqlLedger, make: ModuleType, telling: ModuleType) -> Any:
    """A teller whose session has a call that ended in every way, and some that are open."""
    return tell_all(telling.Teller(any_sql, make))


@pytest.fixture
def told_in_file(sql: SqlLedger, make: ModuleType, telling: ModuleType) -> Any:
    """The same in a file: what is checked of a row does not hang on the database."""
    return tell_all(telling.Teller(sql, make))


def tell_all(teller: Any) -> Any:
    ledger = teller.ledger

    async def tell() -> None:
        await teller.everything()
        granted = await teller.asked("granted")
        grant = teller.grant("grt_1", granted)
        await teller.answered(granted, ApprovalState.APPROVED, grant)
        revoked = teller.grant("grt_2", await teller.asked("revoked"))
        approval = await ledger.approval(revoked.approval_id)
        assert approval is not None
        await teller.answered(approval, ApprovalState.APPROVED, revoked)
        event = Event("grant.revoked", {"grant_id": "grt_2", "by": "ana"})
        await ledger.revoke("grt_2", by="ana", at=teller.now, events=[event])
        await teller.asked("pending")
        await teller.running("running")

    asyncio.run(tell())
    return teller


def audited(teller: Any, *kept: Head, session: str | None = None) -> AuditReport:
    report: AuditReport = asyncio.run(teller.ledger.audit(session_id=session, kept=kept))
    return report


def test_a_store_that_nobody_touched_is_as_it_was_written(told: Any) -> None:
    report = audited(told)
    assert report.findings == []
    assert (report.sessions, report.calls, report.approvals, report.grants) == (1, 10, 5, 2)
    (head,) = asyncio.run(told.ledger.heads())
    assert report.events == head.seq
    assert audited(told, head, session="ses_1").heads == 1


def test_what_expires_and_what_is_reaped_is_as_it_was_written(told: Any, clock: Any) -> None:
    clock.forward(hours=25)
    assert asyncio.run(told.ledger.reap(clock.now()))
    assert audited(told).findings == []


CALL = "invocation_id = '{} of ses_1'"
APPROVAL = "approval_id = 'apr {} of ses_1'"


@pytest.mark.parametrize(
    ("statement", "of", "says"),
    [
        ("UPDATE invocations SET result = 'x' WHERE " + CALL.format("read"), "call", "not as"),
        ("UPDATE invocations SET arguments = '{}' WHERE " + CALL.format("read"), "call", "not as"),
        (
            "UPDATE invocations SET outcome = 'refused' WHERE " + CALL.format("spent"),
            "call",
            "its outcome",
        ),
        ("UPDATE invocations SET decision = NULL WHERE " + CALL.format("read"), "call", "not as"),
        ("UPDATE invocations SET state = 'running' WHERE " + CALL.format("read"), "call", "is run"),
        (
            "UPDATE invocations SET state = 'settled' WHERE " + CALL.format("pending"),
            "call",
            "is settled, and parked",
        ),
        (
            "UPDATE invocations SET state = 'parked' WHERE " + CALL.format("running"),
            "call",
            "is parked, and running",
        ),
        (
            "UPDATE invocations SET arguments_digest = 'x' WHERE " + CALL.format("pending"),
            "call",
            "its arguments_digest",
        ),
        ("UPDATE invocations SET tool = 'x' WHERE " + CALL.format("running"), "call", "its tool"),
        ("DELETE FROM invocations WHERE " + CALL.format("read"), "call", "is gone"),
        (
            "UPDATE approvals SET state = 'approved' WHERE " + APPROVAL.format("pending"),
            "approval",
            "is approved, and pending",
        ),
        (
            "UPDATE approvals SET state = 'approved' WHERE " + APPROVAL.format("spent"),
            "approval",
            "is approved, and spent",
        ),
        (
            "UPDATE approvals SET decided_by = 'eve' WHERE " + APPROVAL.format("denied"),
            "approval",
            "by somebody else",
        ),
        (
            "UPDATE approvals SET spent_by = 'x' WHERE " + APPROVAL.format("spent"),
            "approval",
            "by another call",
        ),
        (
            "UPDATE approvals SET expires_at = '2030-01-01T00:00:00.000000+00:00' WHERE "
            + APPROVAL.format("pending"),
            "approval",
            "its expiry",
        ),
        (
            "UPDATE approvals SET approvers = '[\"eve\"]' WHERE " + APPROVAL.format("pending"),
            "approval",
            "its list of approvers",
        ),
        (
            "UPDATE approvals SET approvers = '[' WHERE " + APPROVAL.format("pending"),
            "approval",
            "cannot be read",
        ),
        (
            "UPDATE approvals SET arguments_digest = 'x' WHERE " + APPROVAL.format("pending"),
            "approval",
            "other arguments",
        ),
        (
            "UPDATE approvals SET user_name = 'eve' WHERE " + APPROVAL.format("pending"),
            "approval",
            "bound to",
        ),
        (
            "UPDATE approvals SET arguments = '{}' WHERE " + APPROVAL.format("pending"),
            "approval",
            "not as event",
        ),
        ("DELETE FROM approvals WHERE " + APPROVAL.format("denied"), "approval", "is gone"),
        ("UPDATE grants SET revoked_at = NULL WHERE grant_id = 'grt_2'", "grant", "is not revoked"),
        ("UPDATE grants SET tool = 'mail.send' WHERE grant_id = 'grt_1'", "grant", "its tool"),
        ("UPDATE grants SET scope = 'session' WHERE grant_id = 'grt_1'", "grant", "its scope"),
        ("UPDATE grants SET rules = '[]' WHERE grant_id = 'grt_1'", "grant", "its rules"),
        (
            "UPDATE grants SET expires_at = '2030-01-01T00:00:00.000000+00:00'"
            " WHERE grant_id = 'grt_1'",
            "grant",
            "its expiry",
        ),
        ("DELETE FROM grants WHERE grant_id = 'grt_1'", "grant", "is gone"),
        ("UPDATE sessions SET tainted = false", "session", "not marked as tainted"),
        ("UPDATE sessions SET user_name = 'eve'", "session", "its user"),
        ("UPDATE sessions SET parent = 'ses_9'", "session", "its parent"),
        ("UPDATE runs SET turn = 7", "run", "its turn"),
        ("DELETE FROM runs", "run", "is gone"),
        ("DELETE FROM sessions", "session", "is gone, and its events are there"),
        ("UPDATE plans SET body = '{}'", "content", "not what its digest says"),
        ("UPDATE results SET invocation_id = 'x'", "result", "a call that is not there"),
    ],
)
def test_a_row_that_was_changed_by_hand_is_found(
    told_in_file: Any, telling: ModuleType, store: str, statement: str, of: str, says: str
) -> None:
    telling.tamper(store, statement)
    finding = audited(told_in_file).findings[0]
    assert finding.of == of
    assert says in finding.says


def test_rows_that_no_event_tells_of_are_found(
    told: Any, telling: ModuleType, any_store: str
) -> None:
    copied = "tool, advertised_as, opened_at, state, outcome, flags, arguments, masked"
    counted = "step, position, arguments_decoded, is_error, truncated, bytes, fence, retryable"
    telling.tamper(
        any_store,
        f"INSERT INTO invocations (ordinal, invocation_id, session_id, run_id, call_id,"
        f" idempotency_key, {copied}, {counted})"
        f" SELECT 999, 'inv_new', session_id, run_id, call_id, 'new', {copied}, {counted}"
        f" FROM invocations WHERE {CALL.format('read')}",
    )
    (finding,) = audited(told).findings
    assert (finding.kind, finding.of, finding.id) == ("inserted", "call", "inv_new")
    assert finding.seq is None


@pytest.mark.parametrize("planted", ["run of ses_2", "run of nobody"])
def test_a_call_that_stands_in_no_run_of_its_session_is_found_there(
    told: Any, telling: ModuleType, any_store: str, make: ModuleType, planted: str
) -> None:
    asyncio.run(telling.Teller(told.ledger, make, "ses_2").everything())
    telling.tamper(
        any_store, f"UPDATE invocations SET run_id = '{planted}' WHERE {CALL.format('read')}"
    )
    for session in (None, "ses_1"):
        (finding,) = audited(told, session=session).findings
        assert (finding.session_id, finding.of) == ("ses_1", "call")
        assert "is not as event" in finding.says
    assert audited(told, session="ses_2").findings == []


def test_a_call_of_a_session_that_is_not_there_is_found(
    told: Any, telling: ModuleType, any_store: str
) -> None:
    telling.tamper(
        any_store, f"UPDATE invocations SET session_id = 'ses_9' WHERE {CALL.format('read')}"
    )
    told_first, lost = audited(told).findings
    assert (told_first.session_id, told_first.kind, told_first.of) == ("ses_1", "removed", "call")
    assert (lost.session_id, lost.says) == (
        "ses_9",
        "session ses_9 is gone, and its invocations are there",
    )


def test_a_broken_chain_is_told_once_a_session(
    told: Any, telling: ModuleType, any_store: str, make: ModuleType
) -> None:
    asyncio.run(telling.Teller(told.ledger, make, "ses_2").everything())
    telling.tamper(
        any_store,
        "UPDATE events SET data = '{}' WHERE session_id = 'ses_1' AND seq = 5",
        "UPDATE invocations SET result = 'x' WHERE session_id = 'ses_1'",
        "DELETE FROM events WHERE session_id = 'ses_2' AND seq = 3",
    )
    assert [(each.session_id, each.seq, each.says) for each in audited(told).findings] == [
        ("ses_1", 5, "event 5 was changed"),
        ("ses_2", 3, "event 3 was removed"),
    ]
    assert len(audited(told, session="ses_2").findings) == 1


def test_a_kept_head_finds_what_was_cut_and_rewritten(
    told: Any, telling: ModuleType, any_store: str, make: ModuleType
) -> None:
    asyncio.run(telling.Teller(told.ledger, make, "ses_2").everything())
    one, two = asyncio.run(told.ledger.heads())
    gone = Head("ses_0", 3, "e" * 64)
    wrong = Head("ses_2", two.seq, "e" * 64)
    report = audited(told, one, gone, wrong)
    assert report.heads == 3
    assert [(each.session_id, each.seq, each.kind, each.of) for each in report.findings] == [
        ("ses_2", two.seq, "changed", "event"),
        ("ses_0", 3, "removed", "session"),
    ]
    longer = Head("ses_1", one.seq + 2, "e" * 64)
    (finding,) = audited(told, longer, one).findings
    assert (finding.session_id, finding.seq, finding.kind) == ("ses_1", one.seq + 1, "removed")


def test_an_audit_reads_in_pages(
    any_store: str, clock: Any, make: ModuleType, telling: ModuleType, monkeypatch: Any
) -> None:
    # More events than a page has, and a fault on the second.
    monkeypatch.setattr("toolkeeper_ledger.paging.PAGE", 4)
    ledger = open_ledger(any_store, clock=clock)
    teller = telling.Teller(ledger, make)

    async def tell() -> None:
        await teller.everything()
        for number in range(150):
            await ledger.append("ses_1", [Event("session.read", {"n": number})] * 4)

    asyncio.run(tell())
    assert audited(teller).events > 600
    telling.tamper(any_store, "UPDATE events SET data = '{}' WHERE seq = 590")
    (finding,) = audited(teller).findings
    assert finding.seq == 590
    asyncio.run(ledger.close())


def test_a_reader_alone_can_audit(told: Any, any_store: str, clock: Any) -> None:
    reader = open_ledger(any_store, clock=clock, read_only=True)
    assert asyncio.run(reader.audit()).findings == []
    asyncio.run(reader.close())


def test_a_call_repeated_from_another_session_is_no_finding(
    told: Any, telling: ModuleType, make: ModuleType
) -> None:
    other = telling.Teller(told.ledger, make, "ses_2")

    async def tell() -> None:
        await other.open()
        row = await other.ran("read")
        event = Event("call.repeated", {"tool": row.tool}, told.run, row.invocation_id)
        await told.ledger.append("ses_1", [event])

    asyncio.run(tell())
    assert audited(told).findings == []
