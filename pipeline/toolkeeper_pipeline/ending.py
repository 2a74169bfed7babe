"""How does the end of a call that ran get onto its row, whatever happens meanwhile?

The tool ran, so its end must not be lost because the store is busy, full or gone for a moment. The
lease outlasts the attempts; when all of them fail, the operator is told that the call ran, and the
reaper ends the row later. Nothing is run again for it.
"""

import asyncio
from contextlib import suppress

from toolkeeper_contract import Code, Outcome, RunError, State
from toolkeeper_pipeline import message
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.seal import Sealed, seal, settle
from toolkeeper_pipeline.settle import outcome_of
from toolkeeper_pipeline.states import Executed

SHORTEST, LONGEST = 0.05, 5.0
PATIENCE = 30.0
"""Seconds for which a store that fails is tried again; half a lease, where that is less."""


async def end(executed: Executed, run: Run, rim: Rim) -> Outcome:
    """Settles the row. RunError(ledger.unavailable) when the store did not come back in time."""
    left = min(PATIENCE, run.limits.lease.total_seconds() / 2)
    until = asyncio.get_running_loop().time() + left
    sealed: Sealed | None = None
    for pause in rim.pace.pauses(SHORTEST, LONGEST):
        try:
            sealed = sealed or await seal(executed, run, rim)
            return await settle(sealed, run, rim)
        except RunError as error:
            if error.code is not Code.LEDGER_UNAVAILABLE:
                raise
        except asyncio.CancelledError:
            # The loop shuts down; it waits for us. What was under way may have been written.
            stored = await rim.ledger.invocation(executed.row.invocation_id)
            if stored is not None and stored.state is State.SETTLED:
                return outcome_of(stored)
            continue
        except Exception:
            if executed.text == message.UNKEEPABLE:
                raise
            # Whatever a tool gives back, its call ends on its row.
            executed, sealed = _unread(executed), None
            continue
        left -= pause
        if left <= 0 or asyncio.get_running_loop().time() >= until:
            break
        with suppress(asyncio.CancelledError):
            await rim.pace.sleep(pause)
    row = executed.row
    raise RunError(
        Code.LEDGER_UNAVAILABLE,
        f"call `{row.invocation_id}` of `{row.tool}` was made, but its end could not be written",
        "mend the store; the call is then told as interrupted, and a write as of unknown outcome",
    )


def _unread(executed: Executed) -> Executed:
    return Executed(
        executed.row,
        executed.tool,
        executed.classification,
        None,
        Code.FAILED_RESULT_INVALID,
        message.UNKEEPABLE,
        data=executed.data,
        ends=executed.ends,
    )
