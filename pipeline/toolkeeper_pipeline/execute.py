"""Stage 11: what came of running it?

Accepts nothing but a claimed call. After dispatch there are three kinds of ending: not started,
failed, unknown; a write whose outcome is unknown is never repeated by itself.
"""

import asyncio
import json
from contextlib import suppress

from toolkeeper_contract import (
    Code,
    Lease,
    LostAfterDispatch,
    NotDispatched,
    RunError,
    SourceKind,
    ToolError,
    ToolResult,
)
from toolkeeper_pipeline import message
from toolkeeper_pipeline.bounds import ResultTooLarge, bounded
from toolkeeper_pipeline.claim import Claimed, may_run_again
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Executed


async def execute(claimed: Claimed, run: Run, rim: Rim) -> Executed:
    """Runs the tool once, within its time. Every failure comes back as a value."""
    tool = claimed.tool
    source = run.controls if tool.identity.kind is SourceKind.CONTROL else rim.source(tool)
    if source is None or not tool.callable:
        return _ended(claimed, Code.UNAVAILABLE, message.UNAVAILABLE)
    # The executor reads the frozen bytes, so what runs is what was decided and approved.
    arguments = json.loads(claimed.data)
    renewal = _Renewal(claimed.lease, run, rim)
    deadline = asyncio.timeout(run.limits.call_timeout.total_seconds())
    try:
        async with deadline:
            result = await source.call(tool.identity.raw_name, arguments)
    except NotDispatched:
        return _ended(claimed, Code.UNAVAILABLE, message.UNAVAILABLE)
    except LostAfterDispatch:
        return _unclear(claimed, Code.FAILED, message.FAILED)
    except ResultTooLarge:
        return _ended(claimed, Code.FAILED_RESULT_INVALID, message.RESULT_TOO_LARGE)
    except ToolError as error:
        # The tool's author wrote this for the model to read.
        return _ended(claimed, Code.FAILED, error.message)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled the turn: the source lost something of its own, and only this call ends.
        return _unclear(claimed, Code.FAILED, message.FAILED)
    except Exception:
        if deadline.expired():
            return _unclear(claimed, Code.FAILED_TIMEOUT, message.TIMEOUT)
        return _ended(claimed, Code.FAILED, message.FAILED)
    finally:
        renewal.stop()
    return _checked(claimed, result, run, rim)


def interrupted(claimed: Claimed) -> Executed:
    """What is known of a call whose turn was cancelled while it ran."""
    return _unclear(claimed, Code.FAILED, message.FAILED)


def _checked(claimed: Claimed, result: ToolResult, run: Run, rim: Rim) -> Executed:
    within = bounded(result, run.limits)
    schema = rim.schemas.output(claimed.tool)
    if schema is not None and not result.is_error:
        if not within.whole:
            return _ended(claimed, Code.FAILED_RESULT_INVALID, message.RESULT_TOO_LARGE)
        structured = result.structured
        if not isinstance(structured, dict) or not schema.is_valid(structured):
            return _ended(claimed, Code.FAILED_RESULT_INVALID, message.RESULT_INVALID)
    return Executed(
        claimed.row,
        claimed.tool,
        claimed.classification,
        within.result,
        data=claimed.data,
        notes=within.notes,
    )


def _ended(claimed: Claimed, code: Code, text: str) -> Executed:
    return Executed(
        claimed.row, claimed.tool, claimed.classification, None, code, text, data=claimed.data
    )


def _unclear(claimed: Claimed, code: Code, text: str) -> Executed:
    """`code` for what may safely be asked again; a write may have taken effect, and says so."""
    if may_run_again(claimed.classification):
        return _ended(claimed, code, text)
    return _ended(claimed, Code.FAILED_UNKNOWN_OUTCOME, message.UNKNOWN_OUTCOME)


class _Renewal:
    """Renews a lease while its call runs; costs one timer for a call that is over soon."""

    def __init__(self, lease: Lease, run: Run, rim: Rim) -> None:
        self._lease = lease
        self._run = run
        self._rim = rim
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._period = run.limits.lease.total_seconds() / 3
        self._timer = self._loop.call_later(self._period, self._start)

    def stop(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._renew())

    async def _renew(self) -> None:
        held = True
        while held:
            # A store that is busy now may not be in a third of a lease; the call runs on anyway.
            with suppress(RunError):
                until = self._rim.clock.now() + self._run.limits.lease
                held = await self._rim.ledger.renew(self._lease, until)
            await asyncio.sleep(self._period)
