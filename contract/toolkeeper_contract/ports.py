"""What does deciding need from the world outside?"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from toolkeeper_contract.approval import Approval, ApprovalState, Grant
from toolkeeper_contract.backlog import Backlog
from toolkeeper_contract.delivery import Delivery
from toolkeeper_contract.draft import drafted
from toolkeeper_contract.event import Event, RecordedEvent
from toolkeeper_contract.invocation import Invocation
from toolkeeper_contract.plan import Plan
from toolkeeper_contract.result import KeptResult
from toolkeeper_contract.session import AcceptedTool, Loading, RunRecord, SessionRecord
from toolkeeper_contract.tool import ToolDefinition


class Clock(Protocol):
    """Tells the time, in UTC."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """Makes ids that never repeat; `prefix` says of what (`inv`, `apr`, `run`, `ses`)."""

    def new(self, prefix: str) -> str: ...


class Sealer(Protocol):
    """Keeps frozen arguments unreadable at rest; the key lives outside the database.

    `context` (the invocation id) is authenticated with the data, so that a sealed value cannot be
    moved to another row. `open` raises RunError when the value or the key is not right.
    """

    def seal(self, data: bytes, context: str) -> bytes: ...

    def open(self, sealed: bytes, context: str) -> bytes: ...


@drafted
@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run one invocation until `expires_at`; `fence` outranks every older lease."""

    invocation_id: str
    fence: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """An operator's answer to an approval; `state` is APPROVED or DENIED."""

    state: ApprovalState
    by: str
    at: datetime
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """A turn as `audit plans` shows it."""

    session_id: str
    turn: int
    plan: Plan


class Ledger(Protocol):
    """Durable memory. Every method is one transaction; events are written with what they tell.

    A conditional update that finds another state than it expects changes nothing and says so by
    its return value. RunError(ledger.unavailable) when the store cannot be read or written;
    RunError(ledger.conflict) when a unique key is already there with other data.
    """

    # sessions and runs

    async def open_session(self, session: SessionRecord, events: Sequence[Event]) -> None: ...

    async def session(self, session_id: str) -> SessionRecord | None: ...

    async def set_intent(self, session_id: str, intent: Any) -> None: ...

    async def append(self, session_id: str, events: Sequence[Event]) -> None:
        """Writes events that no other method tells with its own change."""
        ...

    async def begin_run(
        self,
        run: RunRecord,
        plan: Plan,
        events: Sequence[Event],
        *,
        rendering: str | None = None,
    ) -> None:
        """Stores the plan and the rendering once per digest, the run, and the session's turn count.

        `rendering` is the text whose SHA-256 is `run.rendering`; None when it is stored already.
        """
        ...

    async def run(self, run_id: str) -> RunRecord | None: ...

    async def runs(self, session_id: str) -> Sequence[RunRecord]:
        """The session's turns in their order."""
        ...

    async def plan(self, digest: str) -> Plan | None: ...

    async def rendering(self, digest: str) -> str | None: ...

    async def loadings(self, session_ids: Sequence[str]) -> Sequence[Loading]:
        """What recorded searches of these sessions loaded, as their `tools.loaded` events tell.

        In the order of `session_ids`, then as they happened. A `conversation.cleared` event of a
        session ends what was loaded in it, and in the sessions before it, up to then.
        """
        ...

    # calls

    async def claim(
        self,
        row: Invocation,
        expires_at: datetime,
        events: Sequence[Event],
        *,
        sealed: bytes | None = None,
    ) -> Lease | None:
        """Opens `row` as running and takes its lease, in one commit.

        A row that is already there (parked, or reaped and retryable) goes to running. When
        `row.approval_id` is set, that approval goes from approved to spent by this invocation; when
        `row.grant_id` is set, that grant has to hold at this moment.
        `sealed` keeps the frozen arguments until the call ends, where the redacted ones would not
        do to run it again. None: somebody else was first, or the approval is no longer approved, or
        the grant holds no longer; nothing changed.
        """
        ...

    async def park(
        self, row: Invocation, approval: Approval, sealed: bytes, events: Sequence[Event]
    ) -> None:
        """Opens `row` as parked, with its approval and its sealed arguments."""
        ...

    async def settle(
        self,
        row: Invocation,
        events: Sequence[Event],
        *,
        tainted: bool = False,
        private: bool = False,
        kept: Mapping[str, KeptResult] | None = None,
    ) -> bool:
        """Writes the end of `row`: inserts it, or updates the parked or running row.

        `tainted` and `private` mark the session, and those that delegated it, in the same commit;
        nothing takes a mark off. Each of the latter is told so by an event `session.read`.
        `kept` is what the result does not show, by handle: it is there with the end, or not at all.

        A running row is updated only by the holder of its newest lease (`row.fence`); False and
        the event `call.fenced` when a newer one exists or it is settled already. An end that is
        there already, because nobody heard that it was written, is True. Sealed arguments are
        removed.
        """
        ...

    async def renew(self, lease: Lease, expires_at: datetime) -> bool: ...

    async def invocation(self, invocation_id: str) -> Invocation | None: ...

    async def twin(self, idempotency_key: str) -> Invocation | None: ...

    async def sealed(self, invocation_id: str) -> bytes | None: ...

    # approvals

    async def usable_approval(self, binding: str, now: datetime) -> Approval | None:
        """The oldest approved, unspent, unexpired approval with this binding digest."""
        ...

    async def approval(self, approval_id: str) -> Approval | None: ...

    async def approval_of(self, invocation_id: str) -> Approval | None: ...

    async def approvals(self, *, pending_only: bool) -> Sequence[Approval]: ...

    async def answer(
        self,
        approval_id: str,
        answer: Answer,
        events: Sequence[Event],
        *,
        grant: Grant | None = None,
    ) -> Approval | None:
        """From pending and unexpired to the answer's state; None when it was not pending.

        `grant` is opened in the same commit.
        """
        ...

    async def amend(
        self,
        approval_id: str,
        row: Invocation,
        approval: Approval,
        sealed: bytes,
        events: Sequence[Event],
    ) -> bool:
        """Replaces a pending approval by `approval`, which is answered, for other arguments.

        The replaced one goes from pending to denied, by the same approver; the parked `row` and
        its sealed arguments become the new ones. False when it was not pending or the row is not
        parked any more; nothing changed.
        """
        ...

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
        """Those that hold now and are for this tool, user and agent, and for any session or this.

        The oldest first. Their conditions are not looked at.
        """
        ...

    async def grant(self, grant_id: str) -> Grant | None: ...

    async def grants(self, *, active_at: datetime | None = None) -> Sequence[Grant]:
        """Every grant in the order of `granted_at`, or those that hold at `active_at`."""
        ...

    async def revoke(
        self, grant_id: str, *, by: str, at: datetime, events: Sequence[Event]
    ) -> Grant | None:
        """Ends a grant; the events go to the session in which it was given.

        None when there is no such grant or it was revoked before; nothing changed.
        """
        ...

    # sinks

    def subscribe(
        self, sinks: Mapping[str, Collection[str]], wake: Callable[[], None] | None = None
    ) -> None:
        """From now on, events that a sink wants (their names, by sink) are put into its outbox.

        `wake` is called when this process has written one, after the commit and in the event loop.
        Replaces what was subscribed before.
        """
        ...

    async def take_deliveries(
        self, sinks: Sequence[str], now: datetime, until: datetime, limit: int
    ) -> Sequence[Delivery]:
        """Deliveries of these sinks that are due, oldest first.

        Each counts as an attempt that was begun, and nobody else takes it before `until`. An event
        waits while an earlier one of its session is on the way, until that one was tried `PATIENCE`
        times. One that would be due later than after `LONGEST_PAUSE` has that from a clock that was
        set back since: it is due now.
        """
        ...

    async def delivered(self, delivery_id: int) -> None:
        """Takes a delivery out of the outbox."""
        ...

    async def postpone(self, delivery_id: int, due_at: datetime, reason: str) -> None:
        """Tries a delivery again, not before `due_at`."""
        ...

    async def reap(self, now: datetime) -> Sequence[Event]:
        """Expires approvals and leases that are over; returns the events written.

        A reaped read or idempotent call becomes retryable, a write `unknown_outcome`.
        """
        ...

    # reading back, each in a total order

    async def changed(self, timeout: timedelta) -> bool:
        """Waits until an approval was answered or asked for, by any process; False at the timeout.

        True may also come without a reason: look, and wait again.
        """
        ...

    async def backlog(self, now: datetime) -> Backlog: ...

    async def parked(
        self, session_id: str | None = None, *, answered: bool = False
    ) -> Sequence[Invocation]:
        """Calls that wait; with `answered` those alone whose question is pending no more."""
        ...

    async def retryable(self, session_id: str | None = None) -> Sequence[Invocation]:
        """Reaped rows of reads and idempotent calls that may run once more."""
        ...

    async def invocations(
        self, session_id: str | None = None, run_id: str | None = None
    ) -> Sequence[Invocation]: ...

    async def events(
        self, session_id: str | None = None, invocation_id: str | None = None
    ) -> Sequence[RecordedEvent]: ...

    async def planned_turns(self) -> Sequence[PlannedTurn]: ...

    # results

    async def keep_results(self, invocation: Invocation, kept: Mapping[str, KeptResult]) -> None:
        """Keeps, by handle, what the result of a call that has ended did not show."""
        ...

    async def kept_result(
        self, handle: str, *, session_id: str, user: str, agent: str
    ) -> KeptResult | None:
        """For its own principal, agent and session only; None for anybody else."""
        ...

    async def kept_by(self, session_id: str, invocation_id: str) -> Mapping[str, KeptResult]:
        """Everything that a session keeps of one call's result, by handle."""
        ...

    # accepted definitions

    async def accepted_tools(self) -> Sequence[AcceptedTool]:
        """Every accepted definition, by name."""
        ...

    async def accepted_definition(self, fingerprint: str) -> ToolDefinition | None:
        """The definition that was accepted under this fingerprint, if it was kept."""
        ...

    async def accept(
        self,
        tools: Sequence[AcceptedTool],
        *,
        definitions: Sequence[ToolDefinition] = (),
        first: bool = False,
    ) -> None:
        """Accepts these fingerprints; a name's earlier one is replaced.

        `definitions` are theirs, kept word for word so that a later change can be told.
        `first`: they are first listings. Of a source that has accepted definitions already nothing
        is written, so that of two processes that meet a new server at once only one is the first.
        """
        ...

    async def close(self) -> None: ...
