"""How does a value become a row, and a row the value again?"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import orjson
from sqlalchemy import RowMapping

from toolkeeper_contract import (
    AcceptedTool,
    AdvertisedAs,
    Approval,
    ApprovalState,
    Binding,
    Code,
    Decision,
    Ending,
    Event,
    Grant,
    Invocation,
    RecordedEvent,
    RunRecord,
    Scope,
    SessionRecord,
    State,
    canonical_text,
)
from toolkeeper_ledger.fault import DAMAGED, unavailable

Row: TypeAlias = RowMapping
_FINGERPRINT = re.compile("[0-9a-f]{64}")


def instant(moment: datetime) -> str:
    """ISO 8601 in UTC with six decimals, always; so text sorts as time does.

    A naive time is a mistake of the caller: ValueError.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone cannot be kept")
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    # Six decimals come by themselves but for a full second, and in half the time.
    return moment.isoformat() if moment.microsecond else moment.isoformat(timespec="microseconds")


def moment(text: str) -> datetime:
    """The time whose `instant` this is."""
    return datetime.fromisoformat(text)


def _maybe_moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def _maybe_instant(value: datetime | None) -> str | None:
    return None if value is None else instant(value)


def loads(text: str) -> Any:
    """The JSON value of a column; RunError(ledger.unavailable) when somebody has broken it."""
    try:
        # orjson would read an integer beyond 64 bits as a float: a chained hash would not fit.
        return json.loads(text)
    except ValueError:
        raise unavailable(DAMAGED) from None


def session_row(session: SessionRecord) -> dict[str, Any]:
    """All columns of `sessions` but the chain's head."""
    return {
        "session_id": session.session_id,
        "agent": session.agent,
        "user_name": session.user,
        "provider": session.provider,
        "opened_at": instant(session.opened_at),
        "attributes": canonical_text(dict(session.attributes)),
        "intent": intent_text(session.intent),
        "turn": session.turn,
        "tainted": session.tainted,
        "private": session.private,
        "model": session.model,
        "endpoint": session.endpoint,
        "parent": session.parent,
        "granted": None if session.granted is None else canonical_text(dict(session.granted)),
    }


def intent_text(intent: Any) -> str | None:
    """NULL for "follow the agent", otherwise the object or list as the user left it."""
    return None if intent is None else canonical_text(intent)


def session_of(row: Mapping[str, Any] | Row) -> SessionRecord:
    return SessionRecord(
        session_id=row["session_id"],
        agent=row["agent"],
        user=row["user_name"],
        provider=row["provider"],
        opened_at=moment(row["opened_at"]),
        attributes={} if row["attributes"] == "{}" else loads(row["attributes"]),
        intent=None if row["intent"] is None else loads(row["intent"]),
        turn=row["turn"],
        tainted=bool(row["tainted"]),
        private=bool(row["private"]),
        model=row["model"],
        endpoint=row["endpoint"],
        parent=row["parent"],
        granted=None if row["granted"] is None else loads(row["granted"]),
    )


def run_row(run: RunRecord) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "session_id": run.session_id,
        "turn": run.turn,
        "plan_digest": run.plan_digest,
        "began_at": instant(run.began_at),
        "rendering": run.rendering,
        "override": intent_text(run.override),
        "user_message": run.user_message,
    }


def run_of(row: Row) -> RunRecord:
    return RunRecord(
        run_id=row["run_id"],
        session_id=row["session_id"],
        turn=row["turn"],
        plan_digest=row["plan_digest"],
        began_at=moment(row["began_at"]),
        rendering=row["rendering"],
        override=None if row["override"] is None else loads(row["override"]),
        user_message=row["user_message"],
    )


def invocation_row(row: Invocation) -> dict[str, Any]:
    """All columns of `invocations` that the value knows."""
    decision = row.decision
    # An enum's `_value_` is its value without the descriptor, which costs ten times as much.
    return {
        "invocation_id": row.invocation_id,
        "session_id": row.session_id,
        "run_id": row.run_id,
        "call_id": row.call_id,
        "step": row.step,
        "position": row.position,
        "tool": row.tool,
        "advertised_as": row.advertised_as._value_,
        "idempotency_key": row.idempotency_key,
        "opened_at": instant(row.opened_at),
        "decision": None if decision is None else canonical_text(decision.as_json()),
        "approval_id": row.approval_id,
        "fingerprint": row.fingerprint,
        "side_effect": row.side_effect,
        "flags": canonical_text(list(row.flags)) if row.flags else "[]",
        "arguments": canonical_text(row.arguments),
        "masked": canonical_text(list(row.masked)) if row.masked else "[]",
        "arguments_digest": row.arguments_digest,
        "arguments_decoded": row.arguments_decoded,
        "fence": row.fence,
        "grant_id": row.grant_id,
        **ending_columns(row),
    }


def ending_columns(row: Invocation) -> dict[str, Any]:
    """Those of them that the end of a call changes."""
    return {
        "state": row.state._value_,
        "outcome": None if row.outcome is None else row.outcome._value_,
        "code": None if row.code is None else row.code._value_,
        "result": row.result,
        "is_error": row.is_error,
        "truncated": row.truncated,
        "handle": row.handle,
        "bytes": row.bytes,
        "superseded_by": row.superseded_by,
        "settled_at": _maybe_instant(row.settled_at),
        "attempts": row.attempts,
    }


def invocation_of(row: Row) -> Invocation:
    return Invocation(
        invocation_id=row["invocation_id"],
        session_id=row["session_id"],
        run_id=row["run_id"],
        call_id=row["call_id"],
        step=row["step"],
        position=row["position"],
        tool=row["tool"],
        advertised_as=AdvertisedAs(row["advertised_as"]),
        idempotency_key=row["idempotency_key"],
        opened_at=moment(row["opened_at"]),
        state=State(row["state"]),
        outcome=Ending(row["outcome"]) if row["outcome"] else None,
        code=Code(row["code"]) if row["code"] else None,
        decision=Decision.from_json(loads(row["decision"])) if row["decision"] else None,
        approval_id=row["approval_id"],
        fingerprint=row["fingerprint"],
        side_effect=row["side_effect"],
        flags=tuple(loads(row["flags"])),
        arguments=loads(row["arguments"]),
        masked=tuple(loads(row["masked"])),
        arguments_digest=row["arguments_digest"],
        arguments_decoded=row["arguments_decoded"],
        result=row["result"],
        is_error=row["is_error"],
        truncated=row["truncated"],
        handle=row["handle"],
        bytes=row["bytes"],
        fence=row["fence"],
        superseded_by=row["superseded_by"],
        settled_at=_maybe_moment(row["settled_at"]),
        grant_id=row["grant_id"],
        attempts=row["attempts"],
    )


def approval_row(approval: Approval) -> dict[str, Any]:
    binding = approval.binding
    return {
        "approval_id": approval.approval_id,
        "invocation_id": approval.invocation_id,
        "run_id": approval.run_id,
        "session_id": binding.session_id,
        "binding": binding.digest(),
        "tool": binding.tool,
        "fingerprint": binding.fingerprint,
        "arguments_digest": binding.arguments_digest,
        "user_name": binding.user,
        "agent": binding.agent,
        "arguments": canonical_text(approval.arguments),
        "decision": canonical_text(approval.decision.as_json()),
        "approvers": canonical_text(list(approval.approvers)),
        "input_schema": canonical_text(dict(approval.input_schema)),
        "asked_at": instant(approval.asked_at),
        "expires_at": instant(approval.expires_at),
        "state": approval.state.value,
        "decided_at": _maybe_instant(approval.decided_at),
        "decided_by": approval.decided_by,
        "reason": approval.reason,
        "spent_by": approval.spent_by,
        "operands": canonical_text(dict(approval.operands)) if approval.operands else None,
    }


def approval_of(row: Row) -> Approval:
    return Approval(
        approval_id=row["approval_id"],
        invocation_id=row["invocation_id"],
        run_id=row["run_id"],
        binding=Binding(
            tool=row["tool"],
            fingerprint=row["fingerprint"],
            arguments_digest=row["arguments_digest"],
            user=row["user_name"],
            agent=row["agent"],
            session_id=row["session_id"],
        ),
        arguments=loads(row["arguments"]),
        decision=Decision.from_json(loads(row["decision"])),
        approvers=tuple(loads(row["approvers"])),
        input_schema=loads(row["input_schema"]),
        asked_at=moment(row["asked_at"]),
        expires_at=moment(row["expires_at"]),
        state=ApprovalState(row["state"]),
        decided_at=_maybe_moment(row["decided_at"]),
        decided_by=row["decided_by"],
        reason=row["reason"],
        spent_by=row["spent_by"],
        operands=loads(row["operands"]) if row["operands"] else {},
    )


def grant_row(grant: Grant) -> dict[str, Any]:
    return {
        "grant_id": grant.grant_id,
        "scope": grant.scope.value,
        "tool": grant.tool,
        "fingerprint": grant.fingerprint,
        "user_name": grant.user,
        "agent": grant.agent,
        "session_id": grant.session_id,
        "condition": grant.condition,
        "rules": canonical_text(list(grant.rules)),
        "approval_id": grant.approval_id,
        "granted_by": grant.granted_by,
        "granted_at": instant(grant.granted_at),
        "expires_at": instant(grant.expires_at),
        "reason": grant.reason,
        "revoked_at": _maybe_instant(grant.revoked_at),
        "revoked_by": grant.revoked_by,
    }


def grant_of(row: Row) -> Grant:
    return Grant(
        grant_id=row["grant_id"],
        scope=Scope(row["scope"]),
        tool=row["tool"],
        fingerprint=row["fingerprint"],
        user=row["user_name"],
        agent=row["agent"],
        session_id=row["session_id"],
        condition=row["condition"],
        rules=tuple(loads(row["rules"])),
        approval_id=row["approval_id"],
        granted_by=row["granted_by"],
        granted_at=moment(row["granted_at"]),
        expires_at=moment(row["expires_at"]),
        reason=row["reason"],
        revoked_at=_maybe_moment(row["revoked_at"]),
        revoked_by=row["revoked_by"],
    )


def accepted_row(tool: AcceptedTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "fingerprint": tool.fingerprint,
        "source": tool.source,
        "at": instant(tool.at),
        "by_name": tool.by,
    }


def accepted_of(row: Row) -> AcceptedTool:
    """RunError(ledger.unavailable) for a row that is not whole: it is no word about its tool."""
    try:
        at = moment(row["at"])
        whole = _FINGERPRINT.fullmatch(row["fingerprint"]) and row["source"] and row["by_name"]
    except (TypeError, ValueError):
        raise unavailable(DAMAGED) from None
    if not whole:
        raise unavailable(DAMAGED)
    return AcceptedTool(
        name=row["name"],
        fingerprint=row["fingerprint"],
        source=row["source"],
        at=at,
        by=row["by_name"],
    )


def event_text(event: Event) -> str:
    """The data as JSON in the order in which it was told: a search loads in its answer's order.

    The chain hashes the canonical form, so the order is not part of what it vouches for.
    """
    data = dict(event.data)
    try:
        return orjson.dumps(data).decode("utf-8")
    except TypeError:
        # What canonical text takes and orjson does not: big integers, deep nesting.
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def event_of(row: Row) -> RecordedEvent:
    """The event; one whose data was broken is told as such, for the chain to find it."""
    try:
        data = json.loads(row["data"])
    except ValueError:
        data = None
    return RecordedEvent(
        seq=row["seq"],
        session_id=row["session_id"],
        at=row["at"],
        event=Event(
            name=row["name"],
            data=data if isinstance(data, dict) else {"unreadable": True},
            run_id=row["run_id"],
            invocation_id=row["invocation_id"],
        ),
        hash=row["hash"],
    )
