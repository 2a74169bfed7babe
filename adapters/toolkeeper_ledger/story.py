"""What do a session's events say about its rows?

Pure. An audit tells a story its events, in their order, and then asks it about each row. It knows
what the events said last of each run, call, approval and grant; it does not keep the events.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolkeeper_contract import ApprovalState, RecordedEvent, State
from toolkeeper_ledger.chain import PRUNED
from toolkeeper_ledger.finding import Subject
from toolkeeper_ledger.vouching import SETTLED, VOUCHER

OPENED = "session.opened"


@dataclass(slots=True)
class CallTold:
    """A call as its events tell it: `phase` since event `seq`, whose data are `data`."""

    first: int
    phase: State | None = None
    seq: int = 0
    name: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    tool: str | None = None
    arguments_digest: str | None = None

    def turn(self, phase: State, record: RecordedEvent) -> None:
        self.phase, self.seq = phase, record.seq
        self.name, self.data = record.event.name, record.event.data


@dataclass(slots=True)
class ApprovalTold:
    """An approval as its events tell it: `asked` is what the event says that began it.

    `arguments_digest` is of the arguments that it was asked for.
    """

    seq: int
    call: str | None
    asked: Mapping[str, Any]
    arguments_digest: str | None
    state: ApprovalState = ApprovalState.PENDING
    by: str | None = None
    spent_by: str | None = None


@dataclass(slots=True)
class GrantTold:
    """A grant as its events tell it."""

    seq: int
    data: Mapping[str, Any]
    revoked: bool = False


class Story:
    """What the events of one session have said so far."""

    def __init__(self) -> None:
        self.opened: Mapping[str, Any] | None = None
        self.pruned = False
        self.heard = 0
        self.tainted = 0
        """The event by which the session has read what nobody trusts; 0: it has not."""
        self.runs: dict[str, tuple[int, Mapping[str, Any] | None]] = {}
        """By run: the first event that names it, and what `run.began` says of it."""
        self.calls: dict[str, CallTold] = {}
        self.approvals: dict[str, ApprovalTold] = {}
        self.grants: dict[str, GrantTold] = {}

    def hear(self, record: RecordedEvent) -> None:
        """The next event. What is not as our own code writes it is passed over."""
        self.heard += 1
        event = record.event
        if event.run_id is not None:
            began = event.data if event.name == "run.began" else None
            if event.run_id not in self.runs or began is not None:
                self.runs[event.run_id] = (record.seq, began)
        call = None
        # A repeated call may be told its twin's result, and the twin be of another session.
        if event.invocation_id is not None and event.name != "call.repeated":
            call = self.calls.setdefault(event.invocation_id, CallTold(record.seq))
        if event.name == OPENED and record.seq == 1:
            self.opened = event.data
        elif event.name == PRUNED:
            self.pruned = True
        elif event.name.startswith("approval."):
            self._hear_approval(record, call)
        elif event.name.startswith("grant."):
            self._hear_grant(record)
        elif call is not None:
            self._hear_call(record, call)

    def unmet(self, seen: Mapping[Subject, set[str]]) -> Iterator[tuple[Subject, str, int]]:
        """The rows that events tell of and that are not among `seen`, each with its first event."""
        told: tuple[tuple[Subject, dict[str, int]], ...] = (
            (Subject.RUN, {name: seq for name, (seq, _) in self.runs.items()}),
            (Subject.CALL, {name: call.first for name, call in self.calls.items()}),
            (Subject.APPROVAL, {name: asked.seq for name, asked in self.approvals.items()}),
            (Subject.GRANT, {name: grant.seq for name, grant in self.grants.items()}),
        )
        for subject, names in told:
            for name, seq in names.items():
                if name not in seen[subject]:
                    yield subject, name, seq

    def _hear_call(self, record: RecordedEvent, call: CallTold) -> None:
        event = record.event
        if event.name == "call.decided":
            call.tool = event.data.get("tool")
            call.arguments_digest = event.data.get("arguments_digest")
        elif event.name == "call.claimed":
            call.turn(State.RUNNING, record)
            spent = self.approvals.get(str(event.data.get("approval_id")))
            if spent is not None:
                spent.state, spent.spent_by = ApprovalState.SPENT, event.invocation_id
        elif event.name in (SETTLED, "call.superseded", "lease.reaped"):
            call.turn(State.SETTLED, record)
            if event.data.get("result_trusted") is False:
                self.tainted = self.tainted or record.seq

    def _hear_approval(self, record: RecordedEvent, call: CallTold | None) -> None:
        event = record.event
        name = event.data.get("approval_id")
        if not isinstance(name, str):
            return
        known = self.approvals.get(name)
        if event.name == "approval.asked":
            digest = call.arguments_digest if call else None
            self.approvals[name] = ApprovalTold(record.seq, event.invocation_id, event.data, digest)
            if call is not None:
                call.turn(State.PARKED, record)
        elif known is None:
            return
        elif event.name == "approval.answered":
            if event.data.get("state") in set(ApprovalState):
                known.state = ApprovalState(event.data["state"])
                known.by = event.data.get("by")
        elif event.name == "approval.edited":
            self._hear_edit(record, call, known)
        elif event.name == "approval.expired":
            known.state = ApprovalState.EXPIRED
            if event.data.get("reason") == "time" and call and call.phase is State.PARKED:
                call.turn(State.SETTLED, record)

    def _hear_edit(self, record: RecordedEvent, call: CallTold | None, known: ApprovalTold) -> None:
        data = record.event.data
        known.state, known.by = ApprovalState.DENIED, data.get("by")
        replaced_by, digest = data.get("replaced_by"), data.get("arguments_digest")
        if isinstance(replaced_by, str):
            voucher = {VOUCHER: data[VOUCHER]} if VOUCHER in data else {}
            self.approvals[replaced_by] = ApprovalTold(
                record.seq,
                record.event.invocation_id,
                voucher,
                digest,
                ApprovalState.APPROVED,
                data.get("by"),
            )
        if call is not None:
            call.arguments_digest = digest

    def _hear_grant(self, record: RecordedEvent) -> None:
        name = record.event.data.get("grant_id")
        if not isinstance(name, str):
            return
        known = self.grants.get(name)
        if record.event.name == "grant.revoked":
            if known is not None:
                known.revoked = True
        elif known is None:
            self.grants[name] = GrantTold(record.seq, record.event.data)
