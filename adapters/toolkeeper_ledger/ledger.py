"""What is the ledger on a SQL database?"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection

from toolkeeper_contract import (
    AcceptedTool,
    Answer,
    Approval,
    Backlog,
    Clock,
    Delivery,
    Event,
    Grant,
    Invocation,
    KeptResult,
    Lease,
    Loading,
    Plan,
    PlannedTurn,
    RecordedEvent,
    RunRecord,
    SessionRecord,
    ToolDefinition,
)
from toolkeeper_ledger import (
    accepted,
    approvals,
    call_rows,
    calls,
    grants,
    history,
    loadings,
    marking,
    outbox,
    reaping,
    renderings,
    sessions,
)
from toolkeeper_ledger.announcing import announce
from toolkeeper_ledger.backlog import read_backlog
from toolkeeper_ledger.changes import Changes
from toolkeeper_ledger.custody import Custody
from toolkeeper_ledger.endings import check_answer
from toolkeeper_ledger.subscribed_writer import SubscribedWriter
from toolkeeper_ledger.writer import Writer

T = TypeVar("T")


class SqlLedger(Custody):
    """`toolkeeper_contract.Ledger` on SQL: every method is one transaction, run by `writer`.

    Made by `open_ledger`.
    """

    def __init__(self, writer: Writer, clock: Clock, changes: Changes) -> None:
        self._writer = writer
        self._clock = clock
        self._changes = changes

    # sessions and runs

    async def open_session(self, session: SessionRecord, events: Sequence[Event]) -> None:
        at = self._clock.now()
        await self._writer.write(lambda c: sessions.open_session(c, session, at, events))

    async def session(self, session_id: str) -> SessionRecord | None:
        return await self._writer.read(sessions.session_look(session_id))

    async def set_intent(self, session_id: str, intent: Any) -> None:
        await self._writer.write(lambda c: sessions.set_intent(c, session_id, intent))

    async def append(self, session_id: str, events: Sequence[Event]) -> None:
        at = self._clock.now()
        await self._writer.write(lambda c: marking.append_marking(c, session_id, at, events))

    async def begin_run(
        self,
        run: RunRecord,
        plan: Plan,
        events: Sequence[Event],
        *,
        rendering: str | None = None,
    ) -> None:
        at = self._clock.now()
        await self._writer.write(lambda c: sessions.begin_run(c, run, plan, at, events, rendering))

    async def run(self, run_id: str) -> RunRecord | None:
        return await self._writer.read(lambda c: sessions.find_run(c, run_id))

    async def runs(self, session_id: str) -> Sequence[RunRecord]:
        return await self._writer.read(lambda c: sessions.read_runs(c, session_id))

    async def plan(self, digest: str) -> Plan | None:
        return await self._writer.read(lambda c: sessions.find_plan(c, digest))

    async def rendering(self, digest: str) -> str | None:
        return await self._writer.read(lambda c: renderings.find_rendering(c, digest))

    async def loadings(self, session_ids: Sequence[str]) -> Sequence[Loading]:
        return await self._writer.read(lambda c: loadings.read_loadings(c, session_ids))

    # calls

    async def claim(
        self,
        row: Invocation,
        expires_at: datetime,
        events: Sequence[Event],
        *,
        sealed: bytes | None = None,
    ) -> Lease | None:
        """As the port says. A reaped row that may run again also starts here, under a new fence.

        `sealed` keeps the frozen arguments of a call that was never parked, for a read whose
        redacted ones would not do to run it again.
        """
        at = self._clock.now()
        return await self._writer.write(calls.Claim(row, expires_at, at, events, sealed))

    async def park(
        self, row: Invocation, approval: Approval, sealed: bytes, events: Sequence[Event]
    ) -> None:
        at = self._clock.now()

        def work(connection: Connection) -> bool:
            calls.park(connection, row, approval, sealed, at, events)
            return True

        await self._tell(work)

    async def settle(
        self,
        row: Invocation,
        events: Sequence[Event],
        *,
        tainted: bool = False,
        private: bool = False,
        kept: Mapping[str, KeptResult] | None = None,
    ) -> bool:
        at = self._clock.now()
        return await self._writer.write(calls.Settle(row, at, events, tainted, private, kept or {}))

    async def renew(self, lease: Lease, expires_at: datetime) -> bool:
        at = self._clock.now()
        return await self._writer.write(lambda c: calls.renew(c, lease, expires_at, at))

    async def invocation(self, invocation_id: str) -> Invocation | None:
        return await self._writer.read(lambda c: call_rows.find_invocation(c, invocation_id))

    async def twin(self, idempotency_key: str) -> Invocation | None:
        return await self._writer.read(lambda c: call_rows.find_twin(c, idempotency_key))

    async def sealed(self, invocation_id: str) -> bytes | None:
        return await self._writer.read(lambda c: call_rows.find_sealed(c, invocation_id))

    # approvals

    async def usable_approval(self, binding: str, now: datetime) -> Approval | None:
        return await self._writer.read(lambda c: approvals.usable_approval(c, binding, now))

    async def approval(self, approval_id: str) -> Approval | None:
        return await self._writer.read(lambda c: approvals.find_approval(c, approval_id))

    async def approval_of(self, invocation_id: str) -> Approval | None:
        return await self._writer.read(lambda c: approvals.find_approval_of(c, invocation_id))

    async def approvals(self, *, pending_only: bool) -> Sequence[Approval]:
        return await self._writer.read(
            lambda c: approvals.read_approvals(c, pending_only=pending_only)
        )

    async def answer(
        self,
        approval_id: str,
        answer: Answer,
        events: Sequence[Event],
        *,
        grant: Grant | None = None,
    ) -> Approval | None:
        check_answer(approval_id, answer, grant)
        at = self._clock.now()

        def work(connection: Connection) -> Approval | None:
            answered = approvals.answer(connection, approval_id, answer, at, events)
            if answered is not None and grant is not None:
                grants.give(connection, grant)
            return answered

        return await self._tell(work)

    async def amend(
        self,
        approval_id: str,
        row: Invocation,
        approval: Approval,
        sealed: bytes,
        events: Sequence[Event],
    ) -> bool:
        at = self._clock.now()
        return await self._tell(
            lambda c: calls.amend(c, approval_id, row, approval, sealed, at, events)
        )

    # grants

    async def usable_grants(
        self,
        *,
        tool: str,
        fingerprint: str,
        user: str,
        agent: str,
        session_id: str,
        now: datetime,
    ) -> Sequence[Grant]:
        return await self._writer.read(
            lambda c: grants.usable_grants(
                c,
                tool=tool,
                fingerprint=fingerprint,
                user=user,
                agent=agent,
                session_id=session_id,
                now=now,
            )
        )

    async def grant(self, grant_id: str) -> Grant | None:
        return await self._writer.read(lambda c: grants.find_grant(c, grant_id))

    async def grants(self, *, active_at: datetime | None = None) -> Sequence[Grant]:
        return await self._writer.read(lambda c: grants.read_grants(c, active_at))

    async def revoke(
        self, grant_id: str, *, by: str, at: datetime, events: Sequence[Event]
    ) -> Grant | None:
        written_at = self._clock.now()
        return await self._tell(
            lambda c: grants.revoke(c, grant_id, by=by, at=at, written_at=written_at, events=events)
        )

    # sinks

    def subscribe(
        self, sinks: Mapping[str, Collection[str]], wake: Callable[[], None] | None = None
    ) -> None:
        plain = self._writer
        if isinstance(plain, SubscribedWriter):
            plain = plain.writer
        self._writer = SubscribedWriter(plain, sinks, wake) if sinks else plain

    async def take_deliveries(
        self, sinks: Sequence[str], now: datetime, until: datetime, limit: int
    ) -> Sequence[Delivery]:
        if not await self._writer.read(lambda c: outbox.anything_due(c, sinks, now)):
            return []
        return await self._writer.write(lambda c: outbox.take(c, sinks, now, until, limit))

    async def delivered(self, delivery_id: int) -> None:
        await self._writer.write(lambda c: outbox.delivered(c, delivery_id))

    async def postpone(self, delivery_id: int, due_at: datetime, reason: str) -> None:
        await self._writer.write(lambda c: outbox.postpone(c, delivery_id, due_at, reason))

    async def changed(self, timeout: timedelta) -> bool:
        """As the port says. The first wait in a process does not wait: nobody had looked before."""
        return await self._changes.wait(timeout)

    async def backlog(self, now: datetime) -> Backlog:
        return await self._writer.read(lambda c: read_backlog(c, now))

    async def reap(self, now: datetime) -> Sequence[Event]:
        if not await self._writer.read(lambda c: reaping.anything_due(c, now)):
            return []
        at = self._clock.now()
        return await self._tell(lambda c: reaping.reap(c, now, at))

    # reading back, each in a total order

    async def parked(
        self, session_id: str | None = None, *, answered: bool = False
    ) -> Sequence[Invocation]:
        return await self._writer.read(
            lambda c: call_rows.read_invocations(
                c, session_id=session_id, parked=True, answered=answered
            )
        )

    async def retryable(self, session_id: str | None = None) -> Sequence[Invocation]:
        """Reaped reads and idempotent calls, each of which `claim` would start once more."""
        return await self._writer.read(
            lambda c: call_rows.read_invocations(c, session_id=session_id, retryable=True)
        )

    async def invocations(
        self, session_id: str | None = None, run_id: str | None = None
    ) -> Sequence[Invocation]:
        return await self._writer.read(
            lambda c: call_rows.read_invocations(c, session_id=session_id, run_id=run_id)
        )

    async def events(
        self, session_id: str | None = None, invocation_id: str | None = None
    ) -> Sequence[RecordedEvent]:
        return await self._writer.read(lambda c: history.read_events(c, session_id, invocation_id))

    async def planned_turns(self) -> Sequence[PlannedTurn]:
        return await self._writer.read(sessions.planned_turns)

    # results

    async def keep_results(self, invocation: Invocation, kept: Mapping[str, KeptResult]) -> None:
        at = self._clock.now()
        await self._writer.write(lambda c: sessions.keep_results(c, invocation, kept, at))

    async def kept_result(
        self, handle: str, *, session_id: str, user: str, agent: str
    ) -> KeptResult | None:
        return await self._writer.read(
            lambda c: sessions.kept_result(c, handle, session_id, user, agent)
        )

    async def kept_by(self, session_id: str, invocation_id: str) -> Mapping[str, KeptResult]:
        return await self._writer.read(lambda c: sessions.kept_by(c, session_id, invocation_id))

    # accepted definitions

    async def accepted_tools(self) -> Sequence[AcceptedTool]:
        return await self._writer.read(accepted.read_accepted)

    async def accepted_definition(self, fingerprint: str) -> ToolDefinition | None:
        return await self._writer.read(lambda c: accepted.find_definition(c, fingerprint))

    async def accept(
        self,
        tools: Sequence[AcceptedTool],
        *,
        definitions: Sequence[ToolDefinition] = (),
        first: bool = False,
    ) -> None:
        if tools:
            await self._writer.write(
                lambda c: accepted.accept(c, tools, definitions=definitions, first=first)
            )

    def waiting_writes(self) -> int:
        """How many writes of this process wait their turn; none where each runs at once."""
        return getattr(self._writer, "queued", 0)

    async def close(self) -> None:
        self._changes.close()
        await self._writer.close()

    async def _tell(self, work: Callable[[Connection], T]) -> T:
        """Writes, and wakes who waits for changes, here and in other processes.

        Work that answers with nothing has changed nothing.
        """

        def told(connection: Connection) -> T:
            answer = work(connection)
            if answer:
                announce(connection)
            return answer

        answer = await self._writer.write(told)
        if answer:
            self._changes.note()
        return answer
