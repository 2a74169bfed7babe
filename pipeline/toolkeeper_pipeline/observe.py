"""Who watches a call from outside, and what are they told of it?

An observer sees names, ids and the row; what it makes of them (a span, a counter) is its own
business, and a call runs the same without one.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from toolkeeper_contract import CONTROL_TOOLS, MALFORMED, TOOL_CALL, Event, Invocation, Outcome
from toolkeeper_pipeline.call import Call

if TYPE_CHECKING:
    from toolkeeper_pipeline.run import Rim, Run


class Watch(Protocol):
    """One call, while it is watched."""

    def ended(self, row: Invocation, *, known: bool) -> None:
        """How it came out. `known`: the tool is one of ours, so its name is no model's text."""
        ...


class Observer(Protocol):
    """Whoever watches calls; the context it gives is entered around one."""

    def call(
        self,
        *,
        tool: str | None,
        call: str,
        agent: str,
        session_id: str,
        run_id: str,
        resumed: Invocation | None,
    ) -> AbstractContextManager[Watch]:
        """`tool` is None while the real tool's name is not known; `call` is the model's id."""
        ...

    def reaped(self, events: Sequence[Event]) -> None:
        """What a reaper has written."""
        ...


async def reap(rim: "Rim") -> None:
    """Ends what is over by now; whoever watches is told."""
    events = await rim.ledger.reap(rim.clock.now())
    if rim.observer is not None:
        rim.observer.reaped(events)


async def observed(
    call: Call,
    run: "Run",
    rim: "Rim",
    govern: Callable[[Call, "Run", "Rim"], Awaitable[Outcome]],
) -> Outcome:
    """Runs `govern`, watched where somebody does."""
    if rim.observer is None:
        return await govern(call, run, rim)
    named = isinstance(call.name, str) and call.name != TOOL_CALL and _is_known(call.name, run)
    with rim.observer.call(
        tool=call.name if named else None,
        call=call.call_id,
        agent=run.agent,
        session_id=run.session_id,
        run_id=run.run_id,
        resumed=call.parked,
    ) as watch:
        outcome = await govern(call, run, rim)
        watch.ended(outcome.row, known=_is_known(outcome.row.tool, run))
        return outcome


def _is_known(name: str, run: "Run") -> bool:
    plan = run.plan
    return (
        name in plan.pins
        or name in plan.controls
        or name in run.formerly
        or name in CONTROL_TOOLS
        or name == MALFORMED
    )
