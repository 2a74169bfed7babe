"""How does a recorded session play through the real pipeline?"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from toolkeeper.runtime.answering import NotAnswerable, find_approval
from toolkeeper.runtime.log import Log
from toolkeeper.runtime.resumption import resume_one
from toolkeeper.runtime.scripted import (
    ABSENT,
    Script,
    ScriptedAnswer,
    ScriptedChild,
    ScriptedResponse,
    ScriptedTurn,
    Step,
    Verdict,
)
from toolkeeper.runtime.session import Session
from toolkeeper.runtime.turn import Turn
from toolkeeper_contract import ApprovalState, ConfigError, Outcome, Suspended
from toolkeeper_pipeline import Call

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper

_LOG = Log(__name__)


async def play(
    keeper: "Toolkeeper", script: Script, *, session_id: str | None = None
) -> AsyncIterator[Outcome]:
    """Plays `script` in a new session, or on in an earlier one; yields how each call ended.

    A call that an answer of the script brings to its end is told once, by that end. The calls of a
    child follow those of the turn that delegates to it. ConfigError when the script does not fit
    the session; `rehearse` finds most of that beforehand.
    """
    session = await _session(keeper, script, session_id)
    async for outcome in _turns(keeper, script, session, script.turns):
        yield outcome


async def _session(keeper: "Toolkeeper", script: Script, session_id: str | None) -> Session:
    if session_id is None:
        return await keeper.open_session(
            agent=script.agent or "",
            user=script.user or "local",
            provider=script.provider or "generic",
            attributes=script.attributes,
            intent=None if script.intent is ABSENT else script.intent,
            model=script.model,
            endpoint=script.endpoint,
        )
    session = await keeper.resumed_session(
        session_id,
        agent=script.agent,
        user=script.user,
        provider=script.provider,
        attributes=script.attributes or None,
        model=script.model,
        endpoint=script.endpoint,
    )
    if script.intent is not ABSENT:
        await session.set_intent(script.intent)
    return session


async def _earlier(keeper: "Toolkeeper", session: Session) -> Counter[str]:
    rows = await keeper.ledger.invocations(session_id=session.session_id)
    return Counter(row.call_id for row in rows)


async def _turns(
    keeper: "Toolkeeper", script: Script, session: Session, turns: Sequence[ScriptedTurn]
) -> AsyncIterator[Outcome]:
    calls_so_far = await _earlier(keeper, session)
    for scripted in turns:
        turn = await _begun(script, session, scripted)
        in_turn: Counter[str] = Counter()
        for step in scripted.steps:
            calls = await _calls(turn, step)
            outcomes = await turn.call_all(calls) if calls else []
            for call, outcome in zip(calls, outcomes, strict=True):
                calls_so_far[call.call_id] += 1
                in_turn[call.call_id] += 1
                answer = scripted.answer(
                    call.call_id,
                    in_session=calls_so_far[call.call_id],
                    in_turn=in_turn[call.call_id],
                )
                yield await _answered(keeper, outcome, answer)
        if scripted.child is not None:
            child = await _delegated(script, turn, scripted.child)
            async for outcome in _turns(keeper, script, child, scripted.child.turns):
                yield outcome


async def _begun(script: Script, session: Session, scripted: ScriptedTurn) -> Turn:
    try:
        return await session.begin_turn(
            scripted.user, override=scripted.override, tool_choice=scripted.tool_choice
        )
    except ConfigError as error:
        forced = scripted.tool_choice is not None
        raise script.placed(
            error, (*scripted.path, "tool_choice") if forced else scripted.path
        ) from None


async def _calls(turn: Turn, step: Step) -> list[Call]:
    if not isinstance(step, ScriptedResponse):
        return [
            turn.read(call.call_id, call.tool, call.arguments, idempotency_key=call.idempotency_key)
            for call in step
        ]
    await turn.observe(step.body)
    return turn.calls(step.body)


async def _delegated(script: Script, turn: Turn, child: ScriptedChild) -> Session:
    try:
        return await turn.delegate(child.tools, agent=child.agent)
    except ConfigError as error:
        raise script.placed(error, child.path) from None


async def _answered(keeper: "Toolkeeper", outcome: Outcome, answer: ScriptedAnswer) -> Outcome:
    approval_id = outcome.row.approval_id
    if not isinstance(outcome, Suspended) or approval_id is None or answer.verdict is Verdict.LEAVE:
        return outcome
    # The script speaks for an entitled approver; who that is, configuration and policy say.
    approver = (await find_approval(keeper.ledger, approval_id)).approvers[0]
    desk = keeper.desk()
    try:
        if answer.verdict is Verdict.EDIT:
            await desk.edit(approval_id, answer.arguments, by=approver)
        else:
            approve = answer.verdict is Verdict.APPROVE
            state = ApprovalState.APPROVED if approve else ApprovalState.DENIED
            await desk.answer(approval_id, state, by=approver)
    except NotAnswerable as refused:
        # As at any desk: the call stays parked as it was, and the session goes on.
        _LOG.warning("approval.not_answered", approval_id=approval_id, why=refused.message)
        return outcome
    taken = await resume_one(keeper, outcome.row.invocation_id)
    return taken.outcomes[0] if taken.outcomes else outcome
