"""Stage 7: was this very call made before?

Asked where a caller gave the call a key of their own, and where a turn is done once more. Whoever
asks again gets the stored end, and nothing runs; so nothing has to be decided either.
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from toolkeeper_contract import (
    Code,
    Ending,
    Event,
    Flag,
    Invocation,
    Outcome,
    RunError,
    State,
    digest,
)
from toolkeeper_contract.draft import replace
from toolkeeper_pipeline.facts import Lesson
from toolkeeper_pipeline.halt import Halted
from toolkeeper_pipeline.observe import reap
from toolkeeper_pipeline.reading import Kept, heard
from toolkeeper_pipeline.record import idempotency_key
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.settle import outcome_of
from toolkeeper_pipeline.states import Frozen, Recorded

SHORTEST, LONGEST = 0.01, 1.0
"""Seconds between two looks at a call that is still running."""

READ_ELSEWHERE = "session.read"
"""The event that a session has read what marks it, as a delegator reads its delegate's answer."""

_ENVELOPE = re.compile(r"^(</?EXTERNAL_UNTRUSTED id=)[0-9a-f]{16}", re.MULTILINE)
_ENVELOPED = "<EXTERNAL_UNTRUSTED "


@dataclass(frozen=True, slots=True)
class Known:
    """The call was made before: `twin` is its row, as it stands."""

    frozen: Frozen
    twin: Invocation


async def recall(frozen: Frozen, run: Run, rim: Rim) -> Frozen | Known:
    """The call with a key that nobody holds, or the one that holds its key.

    A key is held by what ran or may run, and by an operator's no; whoever ends without having run
    gives it up. Raises RunError(ledger.conflict) when a caller's key is another call's.
    """
    call = frozen.recorded.call
    if call.parked is not None or not (call.idempotency_key is not None or run.again):
        return frozen
    for number in itertools.count():
        key = idempotency_key(call, run, number)
        twin = await rim.ledger.twin(key)
        if twin is None:
            return replace(frozen, recorded=replace(frozen.recorded, key=key))
        same = (twin.tool, twin.arguments_digest) == (frozen.tool.name, frozen.digest)
        if same and not await _has_given_up(twin, rim):
            return Known(frozen, await _follow(twin, rim))
        if not same and call.idempotency_key is not None:
            raise RunError(
                Code.LEDGER_CONFLICT,
                f"this idempotency key belongs to another call, `{twin.invocation_id}`",
                "use a key for one tool and one set of arguments only",
            )
    raise AssertionError


async def repeat(recorded: Recorded, twin: Invocation, run: Run, rim: Rim) -> Outcome:
    """What came of the call's twin, under the id by which the model knows it here.

    One that still runs is waited for, as long as a call may take; then it is told as running.
    """
    if twin.state is State.RUNNING:
        twin = await _ended(twin, run, rim)
    if twin.invocation_id == recorded.invocation_id:
        return outcome_of(twin)
    if twin.session_id != run.session_id:
        twin = await _carried_over(twin, run, rim)
    data = {
        "tool": twin.tool,
        "call_id": recorded.call.call_id,
        "step": recorded.call.step,
        "position": recorded.call.position,
    }
    event = Event("call.repeated", data, run.run_id, twin.invocation_id)
    await rim.ledger.append(run.session_id, (event,))
    here = replace(twin, call_id=recorded.call.call_id, advertised_as=recorded.advertised_as)
    return replace(outcome_of(here), repeated=True)


async def _has_given_up(twin: Invocation, rim: Rim) -> bool:
    """Whether the key's holder did not run and will not, or may be run again by anybody."""
    if twin.outcome is Ending.REFUSED:
        return twin.superseded_by is None and twin.code is not Code.APPROVAL_REJECTED
    if twin.outcome is not Ending.FAILED:
        return False
    if twin.code in (Code.UNAVAILABLE, Code.FAILED_TIMEOUT):
        # Never left; or a read, which may be asked again.
        return True
    retryable = await rim.ledger.retryable(twin.session_id)
    return any(row.invocation_id == twin.invocation_id for row in retryable)


async def _follow(twin: Invocation, rim: Rim) -> Invocation:
    """The call that an equal one stands for, which spent its approval."""
    if twin.superseded_by is None:
        return twin
    return await rim.ledger.invocation(twin.superseded_by) or twin


async def _ended(twin: Invocation, run: Run, rim: Rim) -> Invocation:
    left = run.limits.call_timeout.total_seconds()
    for pause in rim.pace.pauses(SHORTEST, LONGEST):
        if twin.state is not State.RUNNING or left <= 0:
            break
        try:
            await run.halt.wait_for(rim.pace.sleep(min(pause, left)))
        except Halted:
            break
        left -= pause
        # Its worker may be gone: then it ends here, and nobody waits for nothing.
        await reap(rim)
        twin = await rim.ledger.invocation(twin.invocation_id) or twin
    return twin


async def _carried_over(twin: Invocation, run: Run, rim: Rim) -> Invocation:
    """The row of another session, as this one reads it, which is marked by what it reads."""
    text = twin.result or ""
    foreign = text.startswith(_ENVELOPED)
    private = Flag.PRIVATE.value in twin.flags
    whole = text
    handle = None
    if twin.handle is not None:
        kept = await rim.ledger.kept_by(twin.session_id, twin.invocation_id)
        parts = {place: Kept.unpacked(part) for place, part in kept.items()}
        whole = heard(text, parts.values())
        here = {place: _place(place, run) for place in parts}
        text = _renamed(text, here)
        copies = {
            here[place]: replace(part, text=_renamed(part.text, here)).packed()
            for place, part in parts.items()
        }
        await rim.ledger.keep_results(replace(twin, session_id=run.session_id), copies)
        handle = here.get(twin.handle)
    if twin.state is State.SETTLED:
        run.facts.learn(Lesson(whole, trusted=not foreign, private=private, given=twin.arguments))
        if foreign or private:
            marks = {"by": twin.session_id, "tainted": foreign, "private": private}
            await rim.ledger.append(run.session_id, (Event(READ_ELSEWHERE, marks, run.run_id),))
    shown = _ENVELOPE.sub(rf"\g<1>{run.token}", text) if foreign else text
    return replace(twin, result=shown, handle=handle)


def _place(handle: str, run: Run) -> str:
    """The handle in this session of what another one keeps: the same, however often it is asked."""
    return f"res_{digest([handle, run.session_id])[:32]}"


def _renamed(text: str, places: Mapping[str, str]) -> str:
    """`text` with each handle as this session has it."""
    if not places:
        return text
    longest = sorted(places, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(place) for place in longest))
    return pattern.sub(lambda found: places[found.group()], text)
