"""What goes down in the ledger about a call, with what is known of it so far?"""

from datetime import datetime
from functools import lru_cache

from toolkeeper_contract import (
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_SEARCH,
    AdvertisedAs,
    Code,
    Decision,
    Effect,
    Ending,
    Event,
    Flag,
    Invocation,
    State,
    Tool,
    ToolResult,
    digest,
)
from toolkeeper_contract.draft import replace
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.secrecy import masked_arguments
from toolkeeper_pipeline.states import Frozen, Recorded, ShapeFault


def row_of(
    recorded: Recorded,
    run: Run,
    rim: Rim,
    *,
    tool: Tool | None,
    frozen: Frozen | None,
    decision: Decision | None,
    approval_id: str | None = None,
    grant_id: str | None = None,
    attempts: int = 0,
    fence: int = 0,
    state: State = State.SETTLED,
    outcome: Ending | None = None,
    code: Code | None = None,
    result: str | None = None,
    is_error: bool = False,
    settled_at: datetime | None = None,
) -> Invocation:
    """The row of a call; by whatever way it came, only `advertised_as` differs.

    `attempts` are the ones that begin with this row. It is made whole at once: a copy of it with
    another field costs more than all that decides about the call.
    """
    call = recorded.call
    arguments = recorded.arguments
    if frozen is not None:
        kept, masked, arguments_digest = frozen.redacted, frozen.masked, frozen.digest
    elif isinstance(arguments, ShapeFault):
        kept, masked, arguments_digest = None, (), arguments.raw_digest
    else:
        kept, masked = masked_arguments(arguments, tool, rim)
        arguments_digest = digest(arguments)
    classification = None
    if tool is not None:
        classification = tool.class_of(frozen.arguments) if frozen else tool.classification
    row = Invocation(
        invocation_id=recorded.invocation_id,
        session_id=run.session_id,
        run_id=run.run_id,
        call_id=call.call_id,
        step=call.step,
        position=call.position,
        tool=recorded.tool_name,
        advertised_as=recorded.advertised_as,
        idempotency_key=recorded.key,
        opened_at=recorded.opened_at,
        state=state,
        outcome=outcome,
        code=code,
        decision=decision,
        approval_id=approval_id,
        fingerprint=tool.fingerprint if tool else None,
        side_effect=classification.side_effect.value if classification else None,
        flags=_flag_names(classification.flags) if classification else (),
        arguments=kept,
        masked=masked,
        arguments_digest=arguments_digest,
        arguments_decoded=recorded.decoded,
        result=result,
        is_error=is_error,
        bytes=len(result.encode("utf-8")) if result else 0,
        settled_at=settled_at,
        grant_id=grant_id,
        attempts=attempts,
        fence=fence,
    )
    return row if call.parked is None else _taken_up(row, call.parked)


def _taken_up(row: Invocation, parked: Invocation) -> Invocation:
    """The row of a call that was asked about before: what is known of it is not forgotten.

    It stays bound to the tool, the question and the approval that it was parked with, also when
    taking it up ends before these are looked at again. Only a stricter decision replaces the one
    that asked.
    """
    milder = row.decision is None or row.decision.effect is Effect.ALLOW
    return replace(
        row,
        decision=parked.decision if milder and parked.decision else row.decision,
        approval_id=row.approval_id or parked.approval_id,
        fingerprint=parked.fingerprint or row.fingerprint,
        side_effect=parked.side_effect or row.side_effect,
        flags=parked.flags or row.flags,
        attempts=parked.attempts + row.attempts,
    )


@lru_cache(maxsize=64)
def _flag_names(flags: frozenset[Flag]) -> tuple[str, ...]:
    return tuple(sorted(flag.value for flag in flags))


def decided_event(row: Invocation, decision: Decision, run: Run) -> Event:
    """The decision of this moment with everything that explains it.

    The row of a call that was asked about keeps the decision that asked; this one may differ.
    """
    data = {
        "tool": row.tool,
        "advertised_as": row.advertised_as.value,
        "side_effect": row.side_effect,
        "flags": list(row.flags),
        "arguments_digest": row.arguments_digest,
        "decision": decision.as_json(),
    }
    return Event("call.decided", data, run.run_id, row.invocation_id)


def settled_event(
    row: Invocation, *, trusted: bool | None = None, wrote_tainted: str | None = None
) -> Event:
    """How the call ended.

    `trusted` says whether the result counted as ours, None when it held no words of a tool's.
    `wrote_tainted` is the source that the call may have changed while the session was tainted.
    """
    data = {
        "tool": row.tool,
        "advertised_as": row.advertised_as.value,
        "outcome": row.outcome.value if row.outcome else None,
        "code": row.code.value if row.code else None,
        "is_error": row.is_error,
        "approval_id": row.approval_id,
        "bytes": row.bytes,
        "result_trusted": trusted,
        "wrote_tainted": wrote_tainted,
    }
    return Event("call.settled", data, row.run_id, row.invocation_id)


def loading_events(
    row: Invocation, run: Run, result: ToolResult | None = None
) -> tuple[Event, ...]:
    """What a search has loaded, where searches load. It is read back from here, and from no text.

    A search that was refused is told too, with nothing loaded: of two under one call id it may be
    the first.
    """
    if run.plan.disclosure.used != "search" or row.advertised_as is AdvertisedAs.TOOL_CALL:
        return ()
    searches = {TOOL_SEARCH, *run.plan.controls} - {TOOL_CALL, TOOL_RESULT}
    if row.tool not in searches:
        return ()
    told = result.structured if result is not None else None
    loaded = told.get("loaded") if isinstance(told, dict) else None
    return (Event("tools.loaded", {"tools": loaded or {}}, row.run_id, row.invocation_id),)
