"""What is the ledger for a test that wants no file?

The same port and the same answers as on SQL (one test suite runs on both), in dictionaries that
end with the process. Each method looks first and writes afterwards, so it does all or nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from toolkeeper_contract import (
    Answer,
    Approval,
    ApprovalState,
    Backlog,
    Clock,
    Event,
    Grant,
    Invocation,
    KeptResult,
    Lease,
    Loading,
    State,
)
from toolkeeper_ledger.calls import ended_row, foreign, started_row
from toolkeeper_ledger.changes import Waiters
from toolkeeper_ledger.endings import (
    UNUSED,
    check_answer,
    expired,
    expired_event,
    fenced_event,
    is_same_end,
    is_twin,
    may_amend,
    may_end,
    may_start,
    reaped,
    reaped_event,
    superseded,
    superseded_event,
)
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.lease_term import Term
from toolkeeper_ledger.loadings import Search, loadings_of
from toolkeeper_ledger.marking import Marks
from toolkeeper_ledger.memory_grants import MemoryGrants
from toolkeeper_ledger.memory_history import MemoryHistory
from toolkeeper_ledger.vouching import asking, settling, vouched


@dataclass(slots=True)
class _Held:
    """A row with what only the ledger knows of it."""

    row: Invocation
    term: Term | None = None
    retryable: bool = False
    sealed: bytes | None = None


class MemoryLedger(MemoryHistory, MemoryGrants):
    """`toolkeeper_contract.Ledger` in memory; nothing survives it, and nothing is encrypted."""

    def __init__(self, clock: Clock) -> None:
        MemoryHistory.__init__(self, clock)
        MemoryGrants.__init__(self)
        self._calls: dict[str, _Held] = {}
        self._keys: dict[str, str] = {}
        self._approvals: dict[str, Approval] = {}
        self._waiters = Waiters()

    # calls

    async def claim(
        self,
        row: Invocation,
        expires_at: datetime,
        events: Sequence[Event],
        *,
        sealed: bytes | None = None,
    ) -> Lease | None:
        now = self._clock.now()
        twin = await self.twin(row.idempotency_key)
        if twin is not None and is_twin(twin, row):
            return None
        held = self._standing(row)
        if held is not None and not may_start(held.row.state, held.retryable):
            return None
        if row.grant_id and not self._grant_holds(row.grant_id, row, now):
            return None
        approval = None
        if row.approval_id is not None:
            approval = self._approvals.get(row.approval_id)
            if (
                approval is None
                or approval.state is not ApprovalState.APPROVED
                or approval.expires_at <= now
                or approval.binding.session_id != row.session_id
            ):
                return None
        fence = 1 if held is None else held.row.fence + 1
        running = started_row(row, fence)
        kept = sealed or (held.sealed if held else None)
        self._hold(_Held(running, term=Term(now, expires_at), sealed=kept))
        told = list(events)
        if approval is not None:
            self._approvals[approval.approval_id] = replace(
                approval, state=ApprovalState.SPENT, spent_by=row.invocation_id
            )
            other = self._calls.get(approval.invocation_id)
            if other is not None and other.row.state is State.PARKED:
                ended = superseded(other.row, row.invocation_id, now)
                told.append(vouched(superseded_event(other.row, row.invocation_id), ended))
                self._hold(_Held(ended))
        if held is not None:
            told += self._close_unused(row.invocation_id)
        self._append(row.session_id, told)
        return Lease(row.invocation_id, fence, expires_at)

    async def park(
        self, row: Invocation, approval: Approval, sealed: bytes, events: Sequence[Event]
    ) -> None:
        held = self._standing(row)
        if held is not None and not held.retryable:
            raise conflict(f"call `{row.invocation_id}` is already in the ledger")
        if approval.approval_id in self._approvals:
            raise conflict(f"approval `{approval.approval_id}` is already in the ledger")
        fence = row.fence if held is None else held.row.fence
        self._hold(_Held(replace(row, state=State.PARKED, fence=fence), sealed=sealed))
        self._approvals[approval.approval_id] = approval
        self._append(row.session_id, asking(events, approval))
        self._waiters.note()

    async def settle(
        self,
        row: Invocation,
        events: Sequence[Event],
        *,
        tainted: bool = False,
        private: bool = False,
        kept: Mapping[str, KeptResult] | None = None,
    ) -> bool:
        held = self._standing(row)
        old = held.row if held else None
        if old and held and not may_end(old.state, held.retryable, old.fence, row.fence):
            if is_same_end(old, row):
                return True
            self._append(row.session_id, [fenced_event(row, old.fence)])
            return False
        self._check_kept(row, kept or {})
        settled = ended_row(row, self._clock.now(), old.fence if old else row.fence)
        self._hold(_Held(settled))
        self._mark(row.session_id, Marks(tainted, private))
        told = settling(events, settled)
        if old and old.state is State.PARKED:
            told += self._close_unused(row.invocation_id)
        self._append(row.session_id, told)
        self._keep(row, kept or {})
        return True

    async def renew(self, lease: Lease, expires_at: datetime) -> bool:
        held = self._calls.get(lease.invocation_id)
        if held is None or held.row.state is not State.RUNNING or held.row.fence != lease.fence:
            return False
        held.term = Term(self._clock.now(), expires_at)
        return True

    async def invocation(self, invocation_id: str) -> Invocation | None:
        held = self._calls.get(invocation_id)
        return held.row if held else None

    async def twin(self, idempotency_key: str) -> Invocation | None:
        invocation_id = self._keys.get(idempotency_key)
        return None if invocation_id is None else self._calls[invocation_id].row

    async def sealed(self, invocation_id: str) -> bytes | None:
        held = self._calls.get(invocation_id)
        return held.sealed if held else None

    # approvals

    async def usable_approval(self, binding: str, now: datetime) -> Approval | None:
        usable = (
            approval
            for approval in self._approvals.values()
            if approval.state is ApprovalState.APPROVED
            and approval.expires_at > now
            and approval.binding.digest() == binding
        )
        return min(usable, key=lambda approval: approval.asked_at, default=None)

    async def approval(self, approval_id: str) -> Approval | None:
        return self._approvals.get(approval_id)

    async def approval_of(self, invocation_id: str) -> Approval | None:
        own = [a for a in self._approvals.values() if a.invocation_id == invocation_id]
        return own[-1] if own else None

    async def approvals(self, *, pending_only: bool) -> Sequence[Approval]:
        known = sorted(self._approvals.values(), key=lambda approval: approval.asked_at)
        return [a for a in known if a.state is ApprovalState.PENDING or not pending_only]

    async def answer(
        self,
        approval_id: str,
        answer: Answer,
        events: Sequence[Event],
        *,
        grant: Grant | None = None,
    ) -> Approval | None:
        check_answer(approval_id, answer, grant)
        asked = self._approvals.get(approval_id)
        if (
            asked is None
            or asked.state is not ApprovalState.PENDING
            or asked.expires_at <= answer.at
        ):
            return None
        self._check_new(grant)
        decided = replace(
            asked,
            state=answer.state,
            decided_at=answer.at,
            decided_by=answer.by,
            reason=answer.reason,
        )
        self._approvals[approval_id] = decided
        self._give(grant)
        self._append(asked.binding.session_id, events)
        self._waiters.note()
        return decided

    async def amend(
        self,
        approval_id: str,
        row: Invocation,
        approval: Approval,
        sealed: bytes,
        events: Sequence[Event],
    ) -> bool:
        held = self._standing(row)
        asked = self._approvals.get(approval_id)
        if not may_amend(approval, row, asked, held.row.state if held else None):
            return False
        assert asked is not None
        assert held is not None
        if approval.approval_id in self._approvals:
            raise conflict(f"approval `{approval.approval_id}` is already in the ledger")
        self._approvals[approval_id] = replace(
            asked,
            state=ApprovalState.DENIED,
            decided_at=approval.decided_at,
            decided_by=approval.decided_by,
            reason=approval.reason,
        )
        parked = replace(row, state=State.PARKED, fence=held.row.fence)
        self._hold(_Held(parked, sealed=sealed))
        self._approvals[approval.approval_id] = approval
        self._append(row.session_id, asking(events, approval))
        self._waiters.note()
        return True

    # grants

    async def revoke(
        self, grant_id: str, *, by: str, at: datetime, events: Sequence[Event]
    ) -> Grant | None:
        revoked = self._revoke(grant_id, by, at)
        if revoked is not None:
            given_with = self._approvals[revoked.approval_id]
            self._append(given_with.binding.session_id, events)
            self._waiters.note()
        return revoked

    async def changed(self, timeout: timedelta) -> bool:
        return await self._waiters.wait(timeout)

    async def backlog(self, now: datetime) -> Backlog:
        held = list(self._calls.values())
        asked = [
            approval.asked_at
            for approval in self._approvals.values()
            if approval.state is ApprovalState.PENDING and approval.expires_at > now
        ]
        ends = Counter(
            each.row.outcome.value
            for each in held
            if each.row.state is State.SETTLED and each.row.outcome
        )
        leases = [each.term.until for each in held if each.term is not None]
        return Backlog(
            calls=dict(sorted(ends.items())),
            pending_approvals=len(asked),
            oldest_pending=min(asked, default=None),
            parked=sum(each.row.state is State.PARKED for each in held),
            running=len(leases),
            overdue=sum(until <= now for until in leases),
            retryable=sum(each.retryable for each in held),
            undelivered=len(self._outbox),
        )

    async def reap(self, now: datetime) -> Sequence[Event]:
        at = self._clock.now()
        told: dict[str, list[Event]] = {}
        for approval in list(self._approvals.values()):
            if approval.state not in UNUSED or approval.expires_at > now:
                continue
            self._expire(approval)
            event = expired_event(approval, "time")
            held = self._calls.get(approval.invocation_id)
            if held is not None and held.row.state is State.PARKED:
                ended = expired(held.row, at)
                event = vouched(event, ended)
                self._hold(_Held(ended))
            told.setdefault(approval.binding.session_id, []).append(event)
        for held in self._calls.values():
            if held.term is not None:
                held.term = held.term.counted_anew(now) or held.term
        over = [
            (held.term.until, held)
            for held in self._calls.values()
            if held.term is not None and held.term.until <= now
        ]
        for _, held in sorted(over, key=lambda pair: pair[0]):
            outcome = reaped(held.row, at)
            own = told.setdefault(held.row.session_id, [])
            own.append(vouched(reaped_event(held.row, outcome), outcome.row))
            sealed = held.sealed if outcome.retryable else None
            self._hold(_Held(outcome.row, retryable=outcome.retryable, sealed=sealed))
        for session_id, events in told.items():
            self._append(session_id, events)
        self._waiters.note()
        return [event for events in told.values() for event in events]

    # reading back

    async def parked(
        self, session_id: str | None = None, *, answered: bool = False
    ) -> Sequence[Invocation]:
        rows = [row for row in await self.invocations(session_id) if row.state is State.PARKED]
        pending = {a.approval_id for a in await self.approvals(pending_only=True)}
        return [row for row in rows if not (answered and row.approval_id in pending)]

    async def retryable(self, session_id: str | None = None) -> Sequence[Invocation]:
        rows = await self.invocations(session_id)
        return [row for row in rows if self._calls[row.invocation_id].retryable]

    async def invocations(
        self, session_id: str | None = None, run_id: str | None = None
    ) -> Sequence[Invocation]:
        return [
            held.row
            for held in self._calls.values()
            if session_id in (None, held.row.session_id) and run_id in (None, held.row.run_id)
        ]

    async def loadings(self, session_ids: Sequence[str]) -> Sequence[Loading]:
        def search(name: str) -> Search | None:
            held = self._calls.get(name)
            return Search.of(held.row) if held else None

        parents = {session.session_id: session.parent for session in self._sessions.values()}
        return loadings_of(session_ids, self._events, search, parents)

    async def close(self) -> None:
        """Nothing to let go of; what was kept can still be read."""

    # inside

    def _standing(self, row: Invocation) -> _Held | None:
        owner = self._keys.get(row.idempotency_key)
        if owner is not None and owner != row.invocation_id:
            raise foreign(row, owner)
        held = self._calls.get(row.invocation_id)
        if held is not None and held.row.session_id != row.session_id:
            raise conflict(f"call `{row.invocation_id}` belongs to another session")
        run = self._runs.get(row.run_id)
        if held is None and (run is None or run.session_id != row.session_id):
            raise conflict(
                f"run `{row.run_id}` of session `{row.session_id}` is not in the ledger",
                "begin the run first",
            )
        return held

    def _hold(self, held: _Held) -> None:
        self._calls[held.row.invocation_id] = held
        self._keys[held.row.idempotency_key] = held.row.invocation_id

    def _expire(self, approval: Approval) -> None:
        self._approvals[approval.approval_id] = replace(approval, state=ApprovalState.EXPIRED)

    def _close_unused(self, invocation_id: str) -> list[Event]:
        told: list[Event] = []
        for approval in list(self._approvals.values()):
            if approval.invocation_id == invocation_id and approval.state in UNUSED:
                self._expire(approval)
                told.append(expired_event(approval, "call_ended"))
        return told
