"""Stage 3: under which name and number does this call go down?

The row is opened in memory and written with whatever ends the deciding (claim, park or refusal):
deciding is pure and quick, so one commit before dispatch is enough, and nothing runs without it
(adr/0004).
"""

from typing import Any

from toolkeeper_contract import MALFORMED, TOOL_CALL, AdvertisedAs, Event, digest
from toolkeeper_pipeline.call import Call
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Recorded, Unwrapped


def record(unwrapped: Unwrapped, run: Run, rim: Rim) -> Recorded:
    """The call under the real tool's name, or under the reserved one when it names none."""
    call = unwrapped.call
    if call.parked is not None:
        advertised_as = call.parked.advertised_as
    elif unwrapped.wrapped:
        advertised_as = AdvertisedAs.TOOL_CALL
    elif unwrapped.name in run.plan.defined:
        advertised_as = AdvertisedAs.DEFINITION
    elif unwrapped.name in run.found:
        advertised_as = AdvertisedAs.SEARCH
    else:
        advertised_as = AdvertisedAs.DIRECT
    return Recorded(
        call=call,
        invocation_id=call.parked.invocation_id if call.parked else rim.ids.new("inv"),
        opened_at=call.parked.opened_at if call.parked else rim.clock.now(),
        tool_name=unwrapped.name or MALFORMED,
        named=unwrapped.name is not None,
        advertised_as=advertised_as,
        arguments=unwrapped.arguments,
        decoded=call.parked.arguments_decoded if call.parked else unwrapped.decoded,
        key=idempotency_key(call, run),
    )


def idempotency_key(call: Call, run: Run, number: int = 0) -> str:
    """The caller's key for this user and agent; else run, step, position in the step and call id.

    Never tool plus arguments. `number` counts the calls that gave the key up, because they did
    not run.
    """
    if call.parked is not None:
        return call.parked.idempotency_key
    place: list[Any] = [run.run_id, call.step, call.position, call.call_id]
    if call.idempotency_key is not None:
        place = ["caller", run.principal.user, run.agent, call.idempotency_key]
    return digest([*place, number] if number else place)


def opening_events(recorded: Recorded, run: Run) -> tuple[Event, ...]:
    """What happened up to here; a call that is taken up again was unwrapped before."""
    if recorded.advertised_as is not AdvertisedAs.TOOL_CALL or recorded.call.parked is not None:
        return ()
    data = {"wrapper": TOOL_CALL, "tool": recorded.tool_name, "call_id": recorded.call.call_id}
    return (Event("call.unwrapped", data, run.run_id, recorded.invocation_id),)
