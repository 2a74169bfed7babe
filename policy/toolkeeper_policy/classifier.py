"""What does a call of this tool do to the world, and whose word is that?

The operator's rules first, then the declaration of a tool of ours, then the annotations of a
server whose annotations are trusted, and otherwise the worst case.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkeeper_contract import (
    CONTROL,
    Classification,
    Declaration,
    Flag,
    SideEffect,
    SourceKind,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy.annotation import WORST_CASE, Hints
from toolkeeper_policy.classification_rule import ClassificationRule, merged

_RANK = {side_effect: rank for rank, side_effect in enumerate(SideEffect)}
_CLOSED = frozenset({SideEffect.NONE, SideEffect.WORKSPACE_READ, SideEffect.WORKSPACE_WRITE})
_RELAXING = frozenset({Flag.IDEMPOTENT})


def classify(
    identity: ToolIdentity,
    definition: ToolDefinition,
    *,
    declaration: Declaration | None = None,
    trusted: bool = False,
    annotations_trusted: bool = False,
    rules: Sequence[ClassificationRule] = (),
    accepted: bool = True,
    arguments: Mapping[str, Any] | None = None,
) -> Classification:
    """The class and flags of a tool, and whether its results may be read as ours.

    `arguments` are those of one call; without them, rules that hold for some calls only are left
    out.

    `trusted` is the trust of the tool's server, `annotations_trusted` whether its hints are
    believed; a tool of ours is trusted anyway. `accepted` says that this very fingerprint was
    accepted: without it, rules for an untrusted server's tools may only tighten, so that a later
    `find_and_wipe` does not ride on a rule for `find_*`.
    """
    if identity.kind is SourceKind.CONTROL:
        return CONTROL
    ours = identity.kind is SourceKind.FUNCTION
    hints = Hints.of(definition.annotations)
    if ours:
        base = _declared(declaration)
    elif annotations_trusted:
        base = hints.classification()
    else:
        base = WORST_CASE
    rule = merged(rules, identity, arguments)
    result = base
    if rule is not None:
        result = _ruled(base, rule, Hints() if ours else hints)
        if not (ours or trusted or accepted):
            result = _tightened(base, result)
    believes_result = ours or trusted or accepted
    if rule is not None and believes_result:
        # Naming them narrows what counts as carried out, so it is a word about what was accepted.
        result = replace(result, destination=rule.destination, payload=rule.payload)
    if rule is not None and rule.result is not None and believes_result:
        return replace(result, trusted_result=rule.result == "trusted")
    if rule is not None and rule.result == "untrusted":
        return replace(result, trusted_result=False)
    return replace(result, trusted_result=_result_is_trusted(result, ours or trusted))


def _declared(declaration: Declaration | None) -> Classification:
    if declaration is None:
        return WORST_CASE
    if declaration.side_effect is None:
        return replace(
            WORST_CASE,
            flags=WORST_CASE.flags | declaration.flags,
            operands=declaration.operands,
        )
    return Classification(
        declaration.side_effect, declaration.flags, "declaration", operands=declaration.operands
    )


def _ruled(base: Classification, rule: ClassificationRule, hints: Hints) -> Classification:
    flags = set(base.flags)
    side_effect = base.side_effect
    classified_by = base.classified_by
    if rule.side_effect is not None:
        side_effect = rule.side_effect
        classified_by = "rule"
        # A class that the operator states takes along the flags that contradict it, unless the
        # server itself says that they hold: a hint may raise, whoever gives it.
        if side_effect.reads and hints.destructive is not True:
            flags.discard(Flag.DESTRUCTIVE)
        if side_effect in _CLOSED and hints.open_world is not True:
            flags.discard(Flag.OPEN_WORLD)
    for flag, value in rule.flags.items():
        if value:
            flags.add(flag)
        else:
            flags.discard(flag)
    return Classification(
        side_effect,
        frozenset(flags),
        classified_by,
        destination=rule.destination,
        payload=rule.payload,
        operands=_all((base, rule)),
    )


def _tightened(base: Classification, ruled: Classification) -> Classification:
    """What `ruled` adds to `base`, without anything that it relaxes.

    A list of arguments that count would let the others pass, so it is left out too.
    """
    raised = _RANK[ruled.side_effect] > _RANK[base.side_effect]
    flags = base.flags | (ruled.flags - _RELAXING)
    if not base.flags.isdisjoint(_RELAXING):
        flags -= _RELAXING - ruled.flags
    return Classification(
        ruled.side_effect if raised else base.side_effect,
        flags,
        ruled.classified_by if raised else base.classified_by,
        operands=_all((base, ruled)),
    )


def _result_is_trusted(classification: Classification, trusted: bool) -> bool:
    return (
        trusted
        and classification.side_effect is not SideEffect.NETWORK_READ
        and Flag.OPEN_WORLD not in classification.flags
    )


def dearest(classes: Sequence[Classification]) -> Classification:
    """The most that a call of one of these classes can do; the first says by whom.

    Flags that warn are there when one class has them, `idempotent` and a trusted result only when
    all do. What carries data out is named only where all name the same.
    """
    first = classes[0]
    side_effect = max((each.side_effect for each in classes), key=lambda each: _RANK[each])
    relaxing = frozenset.intersection(*(each.flags for each in classes)) & _RELAXING
    warning = frozenset().union(*(each.flags for each in classes)) - _RELAXING
    by = next(each.classified_by for each in classes if each.side_effect is side_effect)
    same = {(each.destination, each.payload) for each in classes} == {
        (first.destination, first.payload)
    }
    return Classification(
        side_effect,
        relaxing | warning,
        by,
        trusted_result=all(each.trusted_result for each in classes),
        destination=first.destination if same else (),
        payload=first.payload if same else (),
        operands=_all(classes),
    )


def _all(named: Sequence[Classification | ClassificationRule]) -> tuple[str, ...]:
    """Every operand that one of these names."""
    return tuple(dict.fromkeys(operand for each in named for operand in each.operands))
