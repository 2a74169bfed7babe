"""How does a recorded session play through the real pipeline?"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

import structlog

from toolkeeper.runtime.answering import NotAnswerable, find_approval
from toolkeeper.runtime.resumption import resume_one
from toolkeeper.runtime.script import (
    ABSENT,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedTurn,
    Verdict,
)
from toolkeeper.runtime.session import Session
from toolkeeper.runtime.turn import Turn
from toolkeeper_contract import ApprovalState, ConfigError, Outcome, Suspended

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper

_LOG = structlog.get_logger(__name__)


async def play(
    keeper: "Toolkeeper", script: Script, *, session_id: str | None = None
) -> AsyncIterator[Outcome]:
    """Plays `script` in a new session, or on in an earlier one; yields how each call ended.

    A call that an answer of the script brings to its end is told once, by that end. ConfigError
    when the script does not fit the session.
    """
    _check(script)
    session = await _session(keeper, script, session_id)
    earlier = await _earlier(keeper, session)
    for scripted in script.turns:
        turn = await session.begin_turn(scripted.user, override=scripted.override)
        for step in scripted.steps:
            for outcome in await _step(keeper, turn, scripted, step, earlier):
                yield outcome


async def rehearse(keeper: "Toolkeeper", script: Script) -> None:
    """Plans what a new session of `script` would see. ConfigError when it cannot begin."""
    _check(script)
    await keeper.sight(
        agent=_agent(script),
        user=script.user,
        provider=script.provider,
        attributes=script.attributes,
        intent=None if script.intent is ABSENT else script.intent,
    )


def _agent(script: Script) -> str:
    if script.agent is None:
        raise ConfigError(
            "the script names no agent", "write `agent: NAME`", file=script.file, key="agent"
        )
    return script.agent


async def _session(keeper: "Toolkeeper", script: Script, session_id: str | None) -> Session:
    if session_id is None:
        return await keeper.open_session(
            agent=_agent(script),
            user=script.user or "local",
            provider=script.provider or "generic",
            attributes=script.attributes,
            intent=None if script.intent is ABSENT else script.intent,
        )
    session = await keeper.resumed_session(
        session_id,
        agent=script.agent,
        user=script.user,
        provider=script.provider,
        attributes=script.attributes or None,
    )
    if script.intent is not ABSENT:
        await session.set_intent(script.intent)
    return session


async def _earlier(keeper: "Toolkeeper", session: Session) -> Counter[str]:
    rows = await keeper.ledger.invocations(session_id=session.session_id)
    return Counter(row.call_id for row in rows)


async def _step(
    keeper: "Toolkeeper",
    turn: Turn,
    scripted: ScriptedTurn,
    step: Sequence[ScriptedCall],
    earlier: Counter[str],
) -> list[Outcome]:
    calls = [turn.read(call.call_id, call.tool, call.arguments) for call in step]
    outcomes = await turn.call_all(calls)
    ended: list[Outcome] = []
    for call, outcome in zip(step, outcomes, strict=True):
        answer = scripted.answer(call, earlier[call.call_id])
        ended.append(await _answered(keeper, outcome, answer))
    return ended


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


def _check(script: Script) -> None:
    for number, turn in enumerate(script.turns):
        if turn.tool_choice is not None:
            raise ConfigError(
                "a forced tool is not supported yet",
                "remove `tool_choice`",
                file=script.file,
                key=f"turns[{number}].tool_choice",
            )
