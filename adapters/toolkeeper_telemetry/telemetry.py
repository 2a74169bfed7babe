"""How are a keeper's calls traced and counted?"""

from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.metadata import version

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from toolkeeper_contract import Backlog, Event, Invocation
from toolkeeper_telemetry.attribute import (
    AGENT_NAME,
    CONVERSATION,
    FUNCTION,
    INVOCATION,
    RESUMED,
    TOOL_CALL_ID,
    TOOL_TYPE,
    call_id,
)
from toolkeeper_telemetry.call_span import CallSpan, ParkedSpans
from toolkeeper_telemetry.instruments import Instruments

SCOPE = "toolkeeper"


class Telemetry:
    """Spans and metrics on the providers of the program, or on those that it is given.

    A provider that is given stays its giver's to shut down; `shut_down` is called at `close`.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        *,
        shut_down: Callable[[], None] | None = None,
    ) -> None:
        number = version("toolkeeper")
        # None: the global providers, whenever they are set; ours until then do nothing.
        self._tracer = trace.get_tracer(SCOPE, number, tracer_provider)
        self._instruments = Instruments(metrics.get_meter(SCOPE, number, meter_provider))
        self._parked = ParkedSpans()
        self._shut_down = shut_down

    def call(
        self,
        *,
        tool: str | None,
        call: str,
        agent: str,
        session_id: str,
        run_id: str,
        resumed: Invocation | None,
    ) -> CallSpan:
        """A span to be entered around one call.

        `tool` is the real tool's name where it is known before the call is looked at, `call` the
        model's call id, `resumed` the row of a call that is taken up again.
        """
        said: dict[str, str | bool] = {
            TOOL_TYPE: FUNCTION,
            TOOL_CALL_ID: call_id(call),
            AGENT_NAME: agent,
            CONVERSATION: session_id,
            "toolkeeper.run.id": run_id,
        }
        if resumed is not None:
            said[RESUMED] = True
            said[INVOCATION] = resumed.invocation_id
        return CallSpan(
            self._tracer,
            self._instruments,
            self._parked,
            name=tool,
            said=said,
            resumed=resumed,
        )

    def reaped(self, events: Sequence[Event]) -> None:
        """What a reaper has written."""
        self._instruments.reaped(events)

    def show_backlog(self, backlog: Backlog, now: Callable[[], datetime]) -> None:
        """What is waiting in the ledger; metrics show it until they are shown another."""
        self._instruments.show_backlog(backlog, now)

    def watch_queue(self, queue: Callable[[], int] | None) -> None:
        """The length of this process's writer queue, asked whenever somebody collects."""
        self._instruments.watch_queue(queue)

    def close(self) -> None:
        """Sends what was measured, where a collector was opened with it. May take some seconds."""
        if self._shut_down is not None:
            self._shut_down()
