"""What does an approver's standing yes let through, and may it be given?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper.runtime.configuration import Limits
from toolkeeper.runtime.parked_call import ParkedCall
from toolkeeper_contract import Approval, Code, ConfigError, Event, Grant, Scope
from toolkeeper_policy import (
    TAINT,
    TAINT_PRIVATE,
    ConditionFailure,
    ConditionFault,
    GrantCondition,
    grant_condition,
)

SESSION_LASTS = timedelta(hours=24)
"""How long a grant for one session holds where nobody says it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the approver says about a grant.

    `lasting` is None for the usual time. `condition` is CEL over the call, None for any arguments.
    `despite_taint`: also in a session that has read untrusted text since.
    """

    scope: Scope
    lasting: timedelta | None = None
    condition: str | None = None
    despite_taint: bool = False


@dataclass(frozen=True, slots=True)
class Granted:
    """An approved call, and the standing approval that was given with it."""

    approval: Approval
    grant: Grant


def new_grant(
    call: ParkedCall,
    wanted: Wanted,
    arguments: Mapping[str, Any] | None,
    *,
    grant_id: str,
    by: str,
    at: datetime,
    reason: str | None,
) -> Grant:
    """The grant that is wanted beside the answer to `call`, whose frozen arguments are given.

    ConfigError for what is no condition or no time that a grant can hold; NotAnswerable where the
    policy has this question answered call by call, or the condition does not fit this very call.
    """
    asked = call.asked
    widest = asked.decision.scope
    if wanted.scope.rank > widest.rank or not asked.decision.asked_by:
        raise _refused(
            f"policy has this call answered for `{widest.value}` at most",
            "leave `--scope` out; a rule's `approval_scope` says how far an answer may reach",
        )
    if wanted.condition is not None:
        _check_condition(call, wanted.condition, arguments, at)
    rules = asked.decision.asked_by
    if wanted.despite_taint:
        rules = tuple(dict.fromkeys((*rules, TAINT, TAINT_PRIVATE)))
    return Grant(
        grant_id=grant_id,
        scope=wanted.scope,
        tool=asked.binding.tool,
        fingerprint=asked.binding.fingerprint,
        user=asked.binding.user,
        agent=asked.binding.agent,
        session_id=asked.binding.session_id if wanted.scope is Scope.SESSION else None,
        condition=wanted.condition,
        rules=rules,
        approval_id=asked.approval_id,
        granted_by=by,
        granted_at=at,
        expires_at=at + _lasting(call, wanted),
        reason=reason,
    )


def revoked_event(grant: Grant, by: str) -> Event:
    return Event("grant.revoked", {"grant_id": grant.grant_id, "tool": grant.tool, "by": by})


def in_words(grant: Grant) -> str:
    """Everything that a grant lets through, and in a second line what ends it early."""
    which = "any arguments" if grant.condition is None else f"arguments where {grant.condition}"
    where = "in every session" if grant.session_id is None else f"in session {grant.session_id}"
    read = "also" if {TAINT, TAINT_PRIVATE} & set(grant.rules) else "not"
    until = f"{grant.expires_at:%Y-%m-%d %H:%M:%S}Z"
    return (
        f"calls of {grant.tool} with {which}, for {grant.user} with the agent {grant.agent}, "
        f"{where}, until {until};\n{read} once the session has read untrusted text; not when the "
        "tool's definition has changed, nor where another rule asks"
    )


def _check_condition(
    call: ParkedCall, text: str, arguments: Mapping[str, Any] | None, at: datetime
) -> None:
    try:
        condition: GrantCondition = grant_condition(text)
    except ConditionFault as fault:
        raise ConfigError(fault.message, fault.hint) from None
    if arguments is None:
        raise _refused("the call's arguments are not kept any more", "approve it for once")
    doubt = next(condition.doubts(call.tool), None)
    if doubt is not None:
        raise ConfigError(doubt[0].replace("no tool of this rule", "the tool"), doubt[1])
    try:
        holds = condition.holds(call.question(arguments, call.classification, at))
    except ConditionFailure as failure:
        raise _refused(
            f"the condition cannot be evaluated for this call: {failure}",
            "a condition that cannot be evaluated lets nothing through",
        ) from None
    if not holds:
        raise _refused(
            "the condition does not hold for this very call",
            "it would let through other calls, and not the one that was asked about",
        )


def _lasting(call: ParkedCall, wanted: Wanted) -> timedelta:
    limits = call.agent.limits if call.agent else Limits()
    longest = timedelta(seconds=limits.grant_expiry)
    if wanted.lasting is None:
        return longest if wanted.scope is Scope.ALWAYS else min(SESSION_LASTS, longest)
    if wanted.lasting <= timedelta(0):
        raise ConfigError("a grant has to hold for some time", "write `7d`, say")
    if wanted.lasting > longest:
        raise ConfigError(
            f"a grant holds for {longest.total_seconds() / 3600:g} hours at most",
            "the agent's `limits.grant_expiry` says how long",
        )
    return wanted.lasting


def _refused(message: str, hint: str) -> NotAnswerable:
    return NotAnswerable(Code.LEDGER_CONFLICT, message, hint)
