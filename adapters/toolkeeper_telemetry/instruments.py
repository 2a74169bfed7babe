"""What do operators count?"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from toolkeeper_contract import Backlog, Event, Invocation
from toolkeeper_telemetry.attribute import (
    CODE,
    EFFECT,
    ERROR_TYPE,
    EXECUTE_TOOL,
    OPERATION,
    OUTCOME,
    STATE,
    TOOL_NAME,
    error_type,
)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Instruments:
    """The counters of calls, decisions and leases, and what is read from the ledger when asked.

    Every attribute is one of a closed set: outcomes, codes, effects, and names of tools that a plan
    has.
    """

    def __init__(self, meter: Meter) -> None:
        self._backlog: tuple[Backlog, Callable[[], datetime]] | None = None
        self._queue: Callable[[], int] | None = None
        self._calls = meter.create_counter(
            "toolkeeper.calls", "{call}", "Calls that ended or were parked"
        )
        self._duration = meter.create_histogram(
            "gen_ai.execute_tool.duration",
            "s",
            "Duration of a tool execution, from the model's call to its end",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._decisions = meter.create_counter(
            "toolkeeper.decisions", "{decision}", "Decisions of policy"
        )
        self._reaped = meter.create_counter(
            "toolkeeper.leases.reaped", "{lease}", "Calls whose process was lost"
        )
        gauge = meter.create_observable_gauge
        gauge("toolkeeper.calls.open", [self._open], "{call}", "Calls that have not ended")
        gauge(
            "toolkeeper.approvals.pending", [self._pending], "{approval}", "Approvals not answered"
        )
        gauge(
            "toolkeeper.approvals.oldest_age",
            [self._oldest],
            "s",
            "How long the oldest approval has been waiting",
        )
        gauge(
            "toolkeeper.deliveries.undelivered",
            [self._undelivered],
            "{event}",
            "Events that a sink has not taken",
        )
        gauge("toolkeeper.writer.queue", [self._waiting], "{write}", "Writes that wait their turn")

    # counted as it happens

    def ended(self, row: Invocation, tool: str, seconds: float) -> None:
        """A call has ended, or was parked; `tool` is its name as a metric bears it."""
        said = {TOOL_NAME: tool, OUTCOME: row.outcome.value if row.outcome else row.state.value}
        if row.code is not None:
            said[CODE] = row.code.value
        self._calls.add(1, said)
        measured = {OPERATION: EXECUTE_TOOL, TOOL_NAME: tool}
        fault = error_type(row)
        if fault is not None:
            measured[ERROR_TYPE] = fault
        self._duration.record(seconds, measured)

    def decided(self, effect: str) -> None:
        """Policy has decided about a call."""
        self._decisions.add(1, {EFFECT: effect})

    def reaped(self, events: Sequence[Event]) -> None:
        """What a reaper has written."""
        for event in events:
            if event.name == "lease.reaped":
                retryable = bool(event.data.get("retryable"))
                self._reaped.add(1, {STATE: "retryable" if retryable else "unknown_outcome"})

    # read when somebody collects

    def show_backlog(self, backlog: Backlog, now: Callable[[], datetime]) -> None:
        """What was waiting when the ledger was last asked; ages are told by the clock `now`."""
        self._backlog = (backlog, now)

    def watch_queue(self, queue: Callable[[], int] | None) -> None:
        """How many writes wait in this process; None: its writer has no queue."""
        self._queue = queue

    def _open(self, options: CallbackOptions) -> Iterable[Observation]:
        if self._backlog is None:
            return []
        backlog, _ = self._backlog
        counts = {
            "parked": backlog.parked,
            "running": backlog.running,
            "overdue": backlog.overdue,
            "retryable": backlog.retryable,
        }
        return [Observation(count, {STATE: state}) for state, count in counts.items()]

    def _pending(self, options: CallbackOptions) -> Iterable[Observation]:
        return [Observation(self._backlog[0].pending_approvals)] if self._backlog else []

    def _oldest(self, options: CallbackOptions) -> Iterable[Observation]:
        if self._backlog is None:
            return []
        backlog, now = self._backlog
        oldest = backlog.oldest_pending
        return [Observation((now() - oldest).total_seconds() if oldest else 0.0)]

    def _undelivered(self, options: CallbackOptions) -> Iterable[Observation]:
        return [Observation(self._backlog[0].undelivered)] if self._backlog else []

    def _waiting(self, options: CallbackOptions) -> Iterable[Observation]:
        return [Observation(self._queue())] if self._queue is not None else []
