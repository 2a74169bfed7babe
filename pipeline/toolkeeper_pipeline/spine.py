"""How does one call get from the model's mouth to a sealed row?

One funnel; parallel calls, retries and resumed calls all enter at the top. Each stage is a small
function from one typed state to the next, `execute` accepts nothing but what `claim` makes, and
whatever ends a call early ends on a row all the same.
"""

import asyncio

from toolkeeper_contract import Outcome, Suspended
from toolkeeper_pipeline.approve import approve
from toolkeeper_pipeline.call import Call
from toolkeeper_pipeline.claim import Claimed, Lost, claim
from toolkeeper_pipeline.classify import classify
from toolkeeper_pipeline.decide import decide
from toolkeeper_pipeline.execute import execute, interrupted
from toolkeeper_pipeline.freeze import freeze
from toolkeeper_pipeline.receive import receive
from toolkeeper_pipeline.record import record
from toolkeeper_pipeline.resolve import resolve
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.seal import seal
from toolkeeper_pipeline.settle import elsewhere, refuse
from toolkeeper_pipeline.states import Decided, Parked, Stop
from toolkeeper_pipeline.unwrap import unwrap
from toolkeeper_pipeline.validate import validate
from toolkeeper_policy import source_name


async def govern(call: Call, run: Run, rim: Rim) -> Outcome:
    """Runs one call, governed.

    Raises RunError when the ledger cannot be written; then nothing has run that was not written
    down before.
    """
    received = receive(call, run.limits)
    unwrapped = unwrap(received, run.plan.controls, run.limits)
    recorded = record(unwrapped, run, rim)
    try:
        resolved = resolve(recorded, run, rim)
        validated = validate(resolved, run, rim)
        frozen = freeze(validated, rim)
        classified = classify(frozen)
        decided = decide(classified, run, rim)
        claimed = await _approve_and_claim(decided, run, rim)
    except Stop as stop:
        return await refuse(recorded, stop, run, rim)
    if isinstance(claimed, Parked):
        return Suspended(claimed.row)
    if isinstance(claimed, Lost):
        return elsewhere(claimed)
    return await _dispatch(claimed, run, rim)


async def _approve_and_claim(decided: Decided, run: Run, rim: Rim) -> Claimed | Lost | Parked:
    tried: set[str] = set()
    while True:
        approved = await approve(decided, run, rim)
        if isinstance(approved, Parked):
            return approved
        claimed = await claim(approved, run, rim)
        used = approved.approval_id or approved.grant_id
        if isinstance(claimed, Claimed) or claimed.twin or not used or used in tried:
            return claimed
        # An equal call was quicker to spend this approval, or the grant was just revoked: the call
        # needs an answer of its own.
        tried.add(used)


async def _dispatch(claimed: Claimed, run: Run, rim: Rim) -> Outcome:
    if not claimed.classification.side_effect.reads:
        # Before it runs: a read beside it may show what it writes.
        run.facts.wrote(source_name(claimed.tool.identity))
    try:
        executed = await execute(claimed, run, rim)
    except asyncio.CancelledError:
        # The turn is over, but what was dispatched is written down before it goes.
        await asyncio.shield(asyncio.ensure_future(seal(interrupted(claimed), run, rim)))
        raise
    return await asyncio.shield(asyncio.ensure_future(seal(executed, run, rim)))
