"""Rows, plans and clocks that the ledger's tests and their worker processes share."""

import asyncio
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from toolkeeper_contract import (
    AdvertisedAs,
    Answer,
    Approval,
    ApprovalState,
    Binding,
    Caps,
    Costs,
    Decision,
    Disclosure,
    Effect,
    Ending,
    Event,
    Invocation,
    Lease,
    Plan,
    RunRecord,
    SessionRecord,
    State,
)
from toolkeeper_ledger import MemoryLedger, SqlLedger, verify

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)

AnyLedger = SqlLedger | MemoryLedger


@dataclass
class HandClock:
    """A clock that goes on only when a test moves it."""

    time: datetime = START

    def now(self) -> datetime:
        return self.time

    def forward(self, **step: float) -> datetime:
        self.time += timedelta(**step)
        return self.time


def a_plan(*names: str) -> Plan:
    tools = names or ("notes.add",)
    return Plan(
        builder="1",
        agent="chat",
        agent_revision="r1",
        provider="generic",
        disclosure=Disclosure(),
        caps=Caps(),
        defined=tools,
        deferred=(),
        searchable=(),
        skipped=(),
        filtered=(),
        refused=(),
        pins={name: "f" * 64 for name in tools},
        costs=Costs(10, 0, 0, dict.fromkeys(tools, 10)),
    )


PLAN = a_plan()


def a_session(session_id: str = "ses_1", **changes: Any) -> SessionRecord:
    return replace(SessionRecord(session_id, "chat", "ana", "generic", START), **changes)


def a_run(run_id: str = "run_1", session_id: str = "ses_1", turn: int = 1) -> RunRecord:
    return RunRecord(run_id, session_id, turn, PLAN.digest, START)


def a_row(name: str = "inv_1", **changes: Any) -> Invocation:
    """A write of session `ses_1`, about to run; its key is its own unless given."""
    row = Invocation(
        invocation_id=name,
        session_id="ses_1",
        run_id="run_1",
        call_id=f"call of {name}",
        step=0,
        position=0,
        tool="notes.add",
        advertised_as=AdvertisedAs.DEFINITION,
        idempotency_key=f"key of {name}",
        opened_at=START,
        state=State.RUNNING,
        decision=Decision(Effect.ALLOW, ("r1",), ("rule r1 allows it",), "p" * 64),
        fingerprint="f" * 64,
        side_effect="workspace_write",
        arguments={"title": "[redacted]"},
        masked=("/title",),
        arguments_digest="d" * 64,
    )
    return replace(row, **changes)


def parked_row(name: str = "inv_1", approval_id: str = "apr_1", **changes: Any) -> Invocation:
    return a_row(
        name,
        approval_id=approval_id,
        state=State.PARKED,
        outcome=Ending.SUSPENDED,
        decision=Decision(Effect.ASK, (), ("a write asks",), "p" * 64),
        **changes,
    )


BINDING = Binding("notes.add", "f" * 64, "d" * 64, "ana", "chat", "ses_1")


def an_approval(approval_id: str = "apr_1", name: str = "inv_1", **changes: Any) -> Approval:
    approval = Approval(
        approval_id=approval_id,
        invocation_id=name,
        run_id="run_1",
        binding=BINDING,
        arguments={"title": "[redacted]"},
        decision=Decision(Effect.ASK, (), ("a write asks",), "p" * 64),
        approvers=("ana",),
        input_schema={"type": "object"},
        asked_at=START,
        expires_at=START + timedelta(hours=24),
    )
    return replace(approval, **changes)


def yes(at: datetime = START, by: str = "ana") -> Answer:
    return Answer(ApprovalState.APPROVED, by, at)


def ended(row: Invocation, fence: int, **changes: Any) -> Invocation:
    return replace(
        row, state=State.SETTLED, outcome=Ending.COMPLETED, result="noted", fence=fence, **changes
    )


LEASE = START + timedelta(minutes=5)


@dataclass
class Desk:
    """A ledger with a session and a run in it, and a way to wait for its answers."""

    ledger: AnyLedger
    clock: HandClock

    def wait(self, answer: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(answer)

    def park(self, name: str = "inv_1", approval_id: str = "apr_1", **changes: Any) -> Invocation:
        row = parked_row(name, approval_id, **changes)
        self.wait(
            self.ledger.park(
                row,
                an_approval(approval_id, name),
                b"sealed " + name.encode(),
                [Event("approval.asked", {"approval_id": approval_id}, "run_1", name)],
            )
        )
        return row

    def approve(self, approval_id: str = "apr_1") -> Approval | None:
        event = Event("approval.answered", {"approval_id": approval_id})
        answer: Approval | None = self.wait(
            self.ledger.answer(approval_id, yes(self.clock.now()), [event])
        )
        return answer

    def row(self, name: str = "inv_1") -> Invocation:
        row = self.wait(self.ledger.invocation(name))
        assert row is not None
        return row

    def state_of(self, approval_id: str = "apr_1") -> ApprovalState:
        approval = self.wait(self.ledger.approval(approval_id))
        assert approval is not None
        return approval.state

    def names(self, session_id: str = "ses_1") -> list[str]:
        return [r.event.name for r in self.wait(self.ledger.events(session_id))]


def begin(ledger: AnyLedger, session_id: str = "ses_1", run_id: str = "run_1") -> None:
    async def both() -> None:
        await ledger.open_session(a_session(session_id), [Event("session.opened", {})])
        await ledger.begin_run(
            a_run(run_id, session_id), PLAN, [Event("session.planned", {}, run_id)]
        )

    asyncio.run(both())


def claim(ledger: AnyLedger, row: Invocation) -> Awaitable[Lease | None]:
    return ledger.claim(row, LEASE, [Event("call.claimed")])


def settle(ledger: AnyLedger, row: Invocation) -> Awaitable[bool]:
    return ledger.settle(ended(row, 1), [Event("call.settled")])


def told(ledger: SqlLedger, session_id: str = "ses_1") -> list[str]:
    """The names of a begun session's events since, after its chain was verified."""
    head = next(h for h in asyncio.run(ledger.heads()) if h.session_id == session_id)
    events = asyncio.run(ledger.events(session_id))
    assert verify(events, head) is None
    return [record.event.name for record in events][2:]
