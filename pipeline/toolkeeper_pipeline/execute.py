"""Stage 12: what came of running it?

Accepts nothing but a claimed call. After dispatch there are three kinds of ending: not started,
failed, unknown. What leaves the world as it was, or may be done twice, is tried again when trying
can mend it, under the same lease and within the same time; a write whose outcome is unknown never.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import (
    Blob,
    Code,
    Event,
    LostAfterDispatch,
    NotAResult,
    NotDispatched,
    RunError,
    SourceKind,
    Text,
    ToolError,
    ToolResult,
    ToolSource,
    canonical_value,
)
from toolkeeper_contract.draft import drafted, replace
from toolkeeper_pipeline import message
from toolkeeper_pipeline.attempt import Dropped, Ends, OutOfTime, attempt
from toolkeeper_pipeline.bounds import ResultTooLarge, bounded
from toolkeeper_pipeline.claim import Claimed, may_run_again
from toolkeeper_pipeline.halt import Halted
from toolkeeper_pipeline.renewal import Renewal
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Executed

SHORTEST, LONGEST = 0.1, 5.0
"""Seconds between two attempts."""


@drafted
@dataclass(frozen=True, slots=True)
class _Tried:
    """How one attempt ended, and whether another one may mend it."""

    executed: Executed
    again: bool = False


async def execute(claimed: Claimed, run: Run, rim: Rim) -> Executed:
    """Runs the tool within its time. Every failure comes back as a value."""
    # INVARIANT: what runs was decided, and is written down as running.
    if not isinstance(claimed, Claimed):
        raise TypeError("only a claimed call is executed")
    tool = claimed.tool
    source = run.controls if tool.identity.kind is SourceKind.CONTROL else rim.source(tool)
    if source is None or not tool.callable:
        return _ended(claimed, Code.UNAVAILABLE, message.UNAVAILABLE)
    renewal = Renewal(claimed.lease, run, rim)
    loop = asyncio.get_running_loop()
    limits = run.limits
    deadline = loop.time() + limits.call_timeout.total_seconds()
    pauses = rim.pace.pauses(SHORTEST, LONGEST)
    try:
        for left in range(limits.retries, -1, -1):
            within = deadline - loop.time()
            if limits.attempt_timeout is not None:
                within = min(within, limits.attempt_timeout.total_seconds())
            tried = await _try(claimed, source, within, run, rim)
            if not (tried.again and left and renewal.held):
                break
            pause = next(pauses)
            if loop.time() + pause >= deadline:
                break
            again = replace(claimed.row, attempts=claimed.row.attempts + 1)
            if not await _told_again(tried.executed, again.attempts, pause, run, rim):
                break
            claimed = replace(claimed, row=again)
        return tried.executed
    finally:
        renewal.stop()


async def _told_again(executed: Executed, number: int, pause: float, run: Run, rim: Rim) -> bool:
    """Writes down that attempt `number` follows, and waits for it; False when there is to be none.

    It is not made when it cannot be written down.
    """
    row, code = executed.row, executed.code
    data = {"tool": row.tool, "code": code.value if code else None, "attempt": number}
    try:
        event = Event("call.retried", data, run.run_id, row.invocation_id)
        await rim.ledger.append(run.session_id, (event,))
        await run.halt.wait_for(rim.pace.sleep(pause))
    except (RunError, Halted):
        return False
    return True


async def _try(claimed: Claimed, source: ToolSource, within: float, run: Run, rim: Rim) -> _Tried:
    if run.halt.asked:
        return _Tried(_ended(claimed, Code.UNAVAILABLE, message.CANCELLED))
    repeatable = may_run_again(claimed.classification)
    # One approval is for one execution; a call that never left had none.
    lost_is_repeatable = repeatable and claimed.row.approval_id is None
    # The executor reads the frozen bytes, so what runs is what was decided and approved.
    arguments = canonical_value(claimed.data)
    name = claimed.tool.identity.raw_name
    try:
        result = await attempt(lambda: source.call(name, arguments), within, run, rim)
    except NotDispatched:
        return _Tried(_ended(claimed, Code.UNAVAILABLE, message.UNAVAILABLE), repeatable)
    except LostAfterDispatch:
        return _Tried(_unclear(claimed, Code.FAILED, message.FAILED), lost_is_repeatable)
    except OutOfTime:
        return _Tried(_unclear(claimed, Code.FAILED_TIMEOUT, message.TIMEOUT), lost_is_repeatable)
    except Halted:
        return _Tried(_unclear(claimed, Code.FAILED, message.INTERRUPTED))
    except Dropped:
        # Nobody cancelled the turn: the source lost something of its own, and only this call ends.
        return _Tried(_unclear(claimed, Code.FAILED, message.FAILED))
    except ResultTooLarge:
        return _Tried(_ended(claimed, Code.FAILED_RESULT_INVALID, message.RESULT_TOO_LARGE))
    except NotAResult:
        return _Tried(_ended(claimed, Code.FAILED_RESULT_INVALID, message.NO_RESULT))
    except ToolError as error:
        # The tool's author wrote this for the model to read.
        said = error.message if isinstance(error.message, str) else message.FAILED
        return _Tried(_ended(claimed, Code.FAILED, said))
    except Ends as ends:
        failed = _unclear(claimed, Code.FAILED, message.FAILED)
        return _Tried(replace(failed, ends=ends.error))
    except Exception:
        return _Tried(_ended(claimed, Code.FAILED, message.FAILED))
    return _Tried(_checked(claimed, result, run, rim))


def _checked(claimed: Claimed, result: Any, run: Run, rim: Rim) -> Executed:
    if not _is_result(result):
        return _ended(claimed, Code.FAILED_RESULT_INVALID, message.NO_RESULT)
    # Before a schema is held against it, and before anything of it is copied.
    within = bounded(result, run.limits)
    schema = rim.schemas.output(claimed.tool)
    if schema is not None and not result.is_error:
        if not within.whole:
            return _ended(claimed, Code.FAILED_RESULT_INVALID, message.RESULT_TOO_LARGE)
        structured = result.structured
        try:
            fits = isinstance(structured, dict) and schema.is_valid(structured)
        except Exception:
            # A source of somebody's own may give back what is no JSON at all.
            fits = False
        if not fits:
            return _ended(claimed, Code.FAILED_RESULT_INVALID, message.RESULT_INVALID)
    return Executed(
        claimed.row,
        claimed.tool,
        claimed.classification,
        within.result,
        data=claimed.data,
        notes=within.notes,
    )


def _is_result(result: Any) -> bool:
    return (
        isinstance(result, ToolResult)
        and isinstance(result.parts, tuple)
        and all(
            (isinstance(part, Text) and isinstance(part.text, str))
            or (isinstance(part, Blob) and isinstance(part.data, bytes))
            for part in result.parts
        )
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
