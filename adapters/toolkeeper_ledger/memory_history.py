"""What does the ledger in memory keep of sessions, runs, plans, events and what was accepted?"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from toolkeeper_contract import (
    AcceptedTool,
    Clock,
    Delivery,
    Event,
    Invocation,
    KeptResult,
    Plan,
    PlannedTurn,
    RecordedEvent,
    RunRecord,
    SessionRecord,
    ToolDefinition,
)
from toolkeeper_ledger.accepted import prints
from toolkeeper_ledger.chain import Head, extend
from toolkeeper_ledger.fault import conflict
from toolkeeper_ledger.marking import Marks, Standing, is_delegation, lacking, read_in
from toolkeeper_ledger.memory_outbox import MemoryOutbox
from toolkeeper_ledger.renderings import is_new_rendering
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.sessions import missing_session


class MemoryHistory:
    """The half of the ledger that only grows; calls and approvals are `MemoryLedger`'s."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sessions: dict[str, SessionRecord] = {}
        self._heads: dict[str, Head] = {}
        self._plans: dict[str, Plan] = {}
        self._renderings: dict[str, str] = {}
        self._runs: dict[str, RunRecord] = {}
        self._events: list[RecordedEvent] = []
        self._results: dict[str, tuple[Invocation, KeptResult]] = {}
        self._accepted: dict[str, AcceptedTool] = {}
        self._definitions: dict[str, ToolDefinition] = {}
        self._outbox = MemoryOutbox()

    # sessions and runs

    async def open_session(self, session: SessionRecord, events: Sequence[Event]) -> None:
        if session.session_id in self._sessions:
            raise conflict(f"session `{session.session_id}` is already in the ledger")
        self._sessions[session.session_id] = session
        self._heads[session.session_id] = Head(session.session_id)
        self._append(session.session_id, events)

    async def session(self, session_id: str) -> SessionRecord | None:
        return self._sessions.get(session_id)

    async def set_intent(self, session_id: str, intent: Any) -> None:
        self._sessions[session_id] = replace(self._known(session_id), intent=intent)

    async def append(self, session_id: str, events: Sequence[Event]) -> None:
        self._known(session_id)
        self._append(session_id, events)
        self._mark(session_id, read_in(events))

    async def begin_run(
        self,
        run: RunRecord,
        plan: Plan,
        events: Sequence[Event],
        *,
        rendering: str | None = None,
    ) -> None:
        if run.plan_digest != plan.digest:
            raise conflict(f"run `{run.run_id}` names another plan than the one it brings")
        session = self._known(run.session_id)
        for other in self._runs.values():
            same_turn = (other.session_id, other.turn) == (run.session_id, run.turn)
            if other.run_id == run.run_id or same_turn:
                raise conflict(
                    f"turn {run.turn} of session `{run.session_id}` has already begun",
                    "another process is using this session",
                )
        new = is_new_rendering(run, rendering, known=run.rendering in self._renderings)
        if new and run.rendering is not None and rendering is not None:
            self._renderings[run.rendering] = rendering
        self._sessions[run.session_id] = replace(session, turn=run.turn)
        self._plans.setdefault(plan.digest, plan)
        self._runs[run.run_id] = run
        self._append(run.session_id, events)

    async def run(self, run_id: str) -> RunRecord | None:
        return self._runs.get(run_id)

    async def runs(self, session_id: str) -> Sequence[RunRecord]:
        own = [run for run in self._runs.values() if run.session_id == session_id]
        return sorted(own, key=lambda run: run.turn)

    async def plan(self, digest: str) -> Plan | None:
        return self._plans.get(digest)

    async def rendering(self, digest: str) -> str | None:
        return self._renderings.get(digest)

    # events and plans

    async def events(
        self, session_id: str | None = None, invocation_id: str | None = None
    ) -> Sequence[RecordedEvent]:
        return [
            record
            for record in self._events
            if session_id in (None, record.session_id)
            and invocation_id in (None, record.event.invocation_id)
        ]

    async def heads(self) -> Sequence[Head]:
        """The newest event of every session, by session id."""
        return [self._heads[session_id] for session_id in sorted(self._heads)]

    async def planned_turns(self) -> Sequence[PlannedTurn]:
        return [
            PlannedTurn(run.session_id, run.turn, self._plans[run.plan_digest])
            for run in self._runs.values()
        ]

    # sinks

    def subscribe(
        self, sinks: Mapping[str, Collection[str]], wake: Callable[[], None] | None = None
    ) -> None:
        self._outbox.subscribe(sinks, wake)

    async def take_deliveries(
        self, sinks: Sequence[str], now: datetime, until: datetime, limit: int
    ) -> Sequence[Delivery]:
        return self._outbox.take(sinks, now, until, limit)

    async def delivered(self, delivery_id: int) -> None:
        self._outbox.delivered(delivery_id)

    async def postpone(self, delivery_id: int, due_at: datetime, reason: str) -> None:
        self._outbox.postpone(delivery_id, due_at, reason)

    # results

    async def keep_results(self, invocation: Invocation, kept: Mapping[str, KeptResult]) -> None:
        self._check_kept(invocation, kept)
        self._keep(invocation, kept)

    async def kept_result(
        self, handle: str, *, session_id: str, user: str, agent: str
    ) -> KeptResult | None:
        there = self._results.get(handle)
        if there is None or there[0].session_id != session_id:
            return None
        owner = self._sessions[session_id]
        return there[1] if (owner.user, owner.agent) == (user, agent) else None

    async def kept_by(self, session_id: str, invocation_id: str) -> Mapping[str, KeptResult]:
        wanted = (session_id, invocation_id)
        return {
            handle: result
            for handle, (row, result) in sorted(self._results.items())
            if (row.session_id, row.invocation_id) == wanted
        }

    # accepted definitions

    async def accepted_tools(self) -> Sequence[AcceptedTool]:
        return [self._accepted[name] for name in sorted(self._accepted)]

    async def accepted_definition(self, fingerprint: str) -> ToolDefinition | None:
        return self._definitions.get(fingerprint)

    async def accept(
        self,
        tools: Sequence[AcceptedTool],
        *,
        definitions: Sequence[ToolDefinition] = (),
        first: bool = False,
    ) -> None:
        by_print = prints(tools, definitions)
        known = {tool.source for tool in self._accepted.values()} if first else set()
        for tool in tools:
            if tool.source not in known:
                self._accepted[tool.name] = tool
                if tool.fingerprint in by_print:
                    self._definitions[tool.fingerprint] = by_print[tool.fingerprint]

    # inside

    def _check_kept(self, invocation: Invocation, kept: Mapping[str, KeptResult]) -> None:
        for handle, result in kept.items():
            there, stands = self._results.get(handle, (invocation, result))
            if (there.invocation_id, stands) != (invocation.invocation_id, result):
                raise conflict(f"the result handle `{handle}` is already in use")
        if kept:
            self._known(invocation.session_id)

    def _keep(self, invocation: Invocation, kept: Mapping[str, KeptResult]) -> None:
        for handle, result in kept.items():
            self._results.setdefault(handle, (invocation, result))

    def _mark(self, session_id: str, marks: Marks) -> None:
        for name in list(lacking(session_id, marks, self._marks_of, self._is_delegated)):
            session = self._sessions[name]
            self._sessions[name] = replace(
                session,
                tainted=session.tainted or marks.tainted,
                private=session.private or marks.private,
            )
            if name != session_id:
                self._append(name, [marks.told_by(session_id)])

    def _marks_of(self, session_id: str) -> Standing | None:
        session = self._sessions.get(session_id)
        if session is None:
            return None
        marks = Marks(session.tainted, session.private)
        return Standing(marks, session.parent, session.granted is not None)

    def _is_delegated(self, session_id: str) -> bool:
        first = next((each for each in self._events if each.session_id == session_id), None)
        return first is None or is_delegation(first.event.name, first.event.data)

    def _known(self, session_id: str) -> SessionRecord:
        session = self._sessions.get(session_id)
        if session is None:
            raise missing_session(session_id)
        return session

    def _append(self, session_id: str, events: Sequence[Event]) -> None:
        if events:
            at = instant(self._clock.now())
            head, recorded = extend(self._heads[session_id], at, events)
            self._heads[session_id] = head
            self._events += recorded
            self._outbox.put(recorded)
