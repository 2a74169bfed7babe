"""How does one call get from the model's mouth to a sealed row?

One funnel; parallel calls, retries and resumed calls all enter at the top. Each stage is a small
function from one typed state to the next, `execute` accepts nothing but what `claim` makes, and
whatever ends a call early ends on a row all the same.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from toolkeeper_contract import Outcome, Suspended
from toolkeeper_contract.draft import replace
from toolkeeper_pipeline.admission import Admission
from toolkeeper_pipeline.approve import approve
from toolkeeper_pipeline.call import Call
from toolkeeper_pipeline.claim import Claimed, Lost, claim
from toolkeeper_pipeline.classify import classify
from toolkeeper_pipeline.decide import decide
from toolkeeper_pipeline.ending import end
from toolkeeper_pipeline.execute import execute
from toolkeeper_pipeline.facts import Facts
from toolkeeper_pipeline.freeze import freeze
from toolkeeper_pipeline.observe import observed
from toolkeeper_pipeline.recall import Known, recall, repeat
from toolkeeper_pipeline.receive import receive
from toolkeeper_pipeline.record import record
from toolkeeper_pipeline.resolve import resolve
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.settle import elsewhere, give_up, refuse
from toolkeeper_pipeline.states import Decided, Parked, Recorded, Stop
from toolkeeper_pipeline.unwrap import unwrap
from toolkeeper_pipeline.validate import validate
from toolkeeper_pipeline.work import Step
from toolkeeper_policy import source_name


async def govern(
    calls: Sequence[Call], run: Run, rim: Rim, *, facts: Facts | None = None
) -> list[Outcome]:
    """Runs the calls of one model step, governed; the outcomes stand in their order.

    `facts` are what was known when the step began, where the run's own may grow meanwhile.
    When this is cancelled, what waits does not begin, what runs is given up, each on its row, and
    only then does the cancellation go on. Raises RunError when the ledger cannot be written; then
    nothing has run that was not written down before.
    """
    step = Step(run.session_id, run.run_id)
    if run.halt.asked:
        step.halt.ask()
    run = replace(run, halt=step.halt, facts=facts or run.facts)
    return await rim.work.step(step, [partial(observed, call, run, rim, _govern) for call in calls])


async def _govern(call: Call, run: Run, rim: Rim) -> Outcome:
    received = receive(call, run.limits)
    unwrapped = unwrap(received, run.plan.controls, run.limits)
    recorded = record(unwrapped, run, rim)
    try:
        async with Admission(recorded, run, rim):
            return await _admitted(recorded, run, rim)
    except Stop as stop:
        return await refuse(recorded, stop, run, rim)


async def _admitted(recorded: Recorded, run: Run, rim: Rim) -> Outcome:
    try:
        claimed = await _claimed(recorded, run, rim)
    except asyncio.CancelledError:
        # The loop shuts down; it waits for us.
        return await give_up(recorded, run, rim)
    if isinstance(claimed, Claimed):
        return await _dispatch(claimed, run, rim)
    return claimed


async def _claimed(recorded: Recorded, run: Run, rim: Rim) -> Claimed | Outcome:
    resolved = resolve(recorded, run, rim)
    validated = validate(resolved, run, rim)
    frozen = await recall(freeze(validated, rim), run, rim)
    if isinstance(frozen, Known):
        return await repeat(recorded, frozen.twin, run, rim)
    classified = classify(frozen)
    decided = decide(classified, run, rim)
    claimed = await _approve_and_claim(decided, run, rim)
    if isinstance(claimed, Parked):
        return Suspended(claimed.row)
    if isinstance(claimed, Lost):
        return await repeat(recorded, elsewhere(claimed), run, rim)
    return claimed


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
    executed = await execute(claimed, run, rim)
    outcome = await end(executed, run, rim)
    if executed.ends is not None:
        raise executed.ends
    return outcome
