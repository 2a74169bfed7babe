"""What does one governed call look like in a trace?"""

import asyncio
import time
from collections import OrderedDict
from types import TracebackType
from typing import Self

from opentelemetry import trace
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode, Tracer

from toolkeeper_contract import Invocation, ToolkeeperError
from toolkeeper_telemetry.attribute import (
    CANCELLED,
    ERROR_TYPE,
    EXECUTE_TOOL,
    OPERATION,
    OTHER,
    OUTCOME,
    TOOL_NAME,
    error_type,
    of_row,
)
from toolkeeper_telemetry.instruments import Instruments

_REMEMBERED = 1_024


class ParkedSpans:
    """The spans of calls that were parked in this process, the newest ones."""

    def __init__(self) -> None:
        self._contexts: OrderedDict[str, SpanContext] = OrderedDict()

    def remember(self, invocation_id: str, context: SpanContext) -> None:
        self._contexts[invocation_id] = context
        while len(self._contexts) > _REMEMBERED:
            self._contexts.popitem(last=False)

    def links(self, invocation_id: str | None) -> list[Link]:
        """A link to the span that parked the call, where this process knows it.

        In another process the two are joined by `toolkeeper.invocation.id`, which both bear.
        """
        context = self._contexts.get(invocation_id) if invocation_id else None
        return [Link(context)] if context is not None else []


class CallSpan:
    """A span around one call, current while it runs: what a source traces stands below it.

    Whoever opens it says by `ended` how the call came out; a call that raises is told by the
    error's code. Never a recorded exception: its words may quote what a tool was given.
    """

    def __init__(
        self,
        tracer: Tracer,
        instruments: Instruments,
        parked: ParkedSpans,
        *,
        name: str | None,
        said: dict[str, str | bool],
        resumed: Invocation | None,
    ) -> None:
        self._instruments = instruments
        self._parked = parked
        self._resumed = resumed
        said = {OPERATION: EXECUTE_TOOL, **said}
        if name is not None:
            said[TOOL_NAME] = name
        self._span: Span = tracer.start_span(
            EXECUTE_TOOL if name is None else f"{EXECUTE_TOOL} {name}",
            kind=SpanKind.INTERNAL,
            attributes=said,
            links=parked.links(resumed.invocation_id if resumed else None),
        )
        self._use = trace.use_span(
            self._span,
            end_on_exit=False,
            record_exception=False,
            set_status_on_exception=False,
        )
        self._began = time.perf_counter()
        self._row: Invocation | None = None
        self._tool = name or OTHER

    def ended(self, row: Invocation, *, known: bool) -> None:
        """How the call came out; `known`: its tool is one that a plan of the session has."""
        self._row = row
        self._tool = row.tool if known else OTHER

    def __enter__(self) -> Self:
        self._use.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._use.__exit__(None, None, None)
            if self._row is not None:
                self._tell(self._row)
            elif exc is not None:
                self._fail(exc)
        finally:
            self._span.end()

    def _tell(self, row: Invocation) -> None:
        span = self._span
        span.update_name(f"{EXECUTE_TOOL} {self._tool}")
        span.set_attribute(TOOL_NAME, self._tool)
        span.set_attributes(of_row(row))
        fault = error_type(row)
        if fault is not None:
            span.set_attribute(ERROR_TYPE, fault)
            span.set_status(Status(StatusCode.ERROR))
        context = span.get_span_context()
        if row.outcome is not None and row.outcome.value == "suspended" and context.is_valid:
            self._parked.remember(row.invocation_id, context)
        self._count(row)

    def _count(self, row: Invocation) -> None:
        self._instruments.ended(row, self._tool, time.perf_counter() - self._began)
        decision = row.decision
        # A call that is taken up again keeps the decision that asked, which was counted then.
        before = self._resumed.decision if self._resumed else None
        if decision is not None and decision != before:
            self._instruments.decided(decision.effect.value)

    def _fail(self, exc: BaseException) -> None:
        if isinstance(exc, ToolkeeperError):
            fault = exc.code.value
        elif isinstance(exc, asyncio.CancelledError):
            fault = CANCELLED
        else:
            fault = OTHER
        self._span.set_attribute(ERROR_TYPE, fault)
        self._span.set_attribute(OUTCOME, "cancelled" if fault == CANCELLED else "failed")
        self._span.set_status(Status(StatusCode.ERROR))
