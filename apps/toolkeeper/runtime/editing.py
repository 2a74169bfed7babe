"""What becomes of a parked call when its approver writes other arguments?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper.runtime.parked_call import ParkedCall
from toolkeeper.runtime.profile import limits_of
from toolkeeper_contract import (
    Approval,
    ApprovalState,
    Classification,
    Code,
    Decision,
    Effect,
    Event,
    Invocation,
    ToolIdentity,
    canonical_bytes,
    digest_bytes,
)
from toolkeeper_pipeline import (
    ArgumentSchema,
    Limits,
    Redactor,
    SecretSchema,
    unreadable,
)
from toolkeeper_policy import WORST_CASE, ClassificationRule, Policy, dearest


@dataclass(frozen=True, slots=True)
class Amended:
    """The call anew: its row, its answered approval, its frozen bytes, and what to tell."""

    row: Invocation
    approval: Approval
    data: bytes
    events: tuple[Event, ...]


def amended(
    call: ParkedCall,
    arguments: Any,
    *,
    policy: Policy,
    classification: Sequence[ClassificationRule],
    redactor: Redactor,
    approval_id: str,
    by: str,
    at: datetime,
    reason: str | None,
) -> Amended:
    """Freezes, validates and decides the edited arguments. NotAnswerable when they will not do.

    `classification` are the operator's rules.
    """
    asked, row = call.asked, call.row
    why = unreadable(arguments, limits_of(call.agent) if call.agent else Limits())
    if why is not None:
        raise _refused(f"the new arguments cannot be read: {why}")
    faults = ArgumentSchema(asked.input_schema).faults(arguments)
    if faults:
        told = "; ".join(
            f"expected {fault.expected}{f' at {fault.path}' if fault.path else ''}"
            for fault in faults
        )
        raise _refused(f"the new arguments do not match the input schema: {told}")
    classified = _classification(call, arguments, classification)
    decision = policy.decide(call.question(arguments, classified, at))
    if decision.effect is Effect.DENY:
        raise _refused("policy denies the new arguments: " + "; ".join(decision.reasons))
    if decision.effect is Effect.ASK and by not in call.answerers(decision):
        raise _refused(f"`{by}` may not approve the new arguments")
    data = canonical_bytes(arguments)
    redacted, masked = redactor.redact(
        arguments,
        (
            *SecretSchema(asked.input_schema).pointers(arguments),
            *redactor.argument_pointers(row.tool),
        ),
    )
    binding = replace(asked.binding, arguments_digest=digest_bytes(data))
    approval = replace(
        asked,
        approval_id=approval_id,
        binding=binding,
        arguments=redacted,
        decision=decision,
        state=ApprovalState.APPROVED,
        decided_at=at,
        decided_by=by,
        reason=reason,
    )
    new_row = replace(
        row,
        arguments=redacted,
        masked=masked,
        arguments_digest=binding.arguments_digest,
        approval_id=approval_id,
        decision=decision if decision.effect is Effect.ASK else _asked(decision),
        side_effect=classified.side_effect.value,
        flags=tuple(sorted(flag.value for flag in classified.flags)),
    )
    return Amended(new_row, approval, data, (_told(asked, approval, by, reason),))


def _asked(decision: Decision) -> Decision:
    # An operator was asked and answered: that stays on the row, whatever the edit would have met.
    return replace(decision, effect=Effect.ASK)


def _told(asked: Approval, approval: Approval, by: str, reason: str | None) -> Event:
    data = {
        "approval_id": asked.approval_id,
        "replaced_by": approval.approval_id,
        "by": by,
        "reason": reason,
        "arguments_digest": approval.binding.arguments_digest,
        "asked_arguments_digest": asked.binding.arguments_digest,
        "decision": approval.decision.as_json(),
    }
    return Event("approval.edited", data, asked.run_id, asked.invocation_id)


def _classification(
    call: ParkedCall, arguments: Mapping[str, Any], rules: Sequence[ClassificationRule]
) -> Classification:
    """The class of the new call, or the dearest that it can have: its tool is not at hand.

    When it is taken up, the call is classified and decided once more, by its tool.
    """
    known, row = call.classification, call.row
    identity = ToolIdentity.of_name(row.tool)
    kept = row.arguments if isinstance(row.arguments, Mapping) else {}
    changed = [
        rule
        for rule in rules
        if rule.arguments
        and rule.covers(identity)
        and rule.holds(arguments) is not rule.holds(kept)
    ]
    if not changed:
        return known
    met = [
        Classification(rule.side_effect or known.side_effect, frozenset(), "rule")
        for rule in changed
        if rule.holds(arguments)
    ]
    return dearest((known, WORST_CASE, *met))


def _refused(message: str) -> NotAnswerable:
    return NotAnswerable(Code.LEDGER_CONFLICT, message, "the call stays parked as it was")
