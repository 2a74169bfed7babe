"""Stage 3: under which name and number does this call go down?

The row is opened in memory and written with whatever ends the deciding (claim, park or refusal):
deciding is pure and quick, so one commit before dispatch is enough, and nothing runs without it
(adr/0004).
"""

from toolkeeper_contract import MALFORMED, TOOL_CALL, AdvertisedAs, Event
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
    )


def opening_events(recorded: Recorded, run: Run) -> tuple[Event, ...]:
    """What happened up to here; a call that is taken up again was unwrapped before."""
    if recorded.advertised_as is not AdvertisedAs.TOOL_CALL or recorded.call.parked is not None:
        return ()
    data = {"wrapper": TOOL_CALL, "tool": recorded.tool_name, "call_id": recorded.call.call_id}
    return (Event("call.unwrapped", data, run.run_id, recorded.invocation_id),)
