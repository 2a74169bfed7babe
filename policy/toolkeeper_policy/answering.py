"""Who may answer what a decision asks, and how far may their answer reach?"""

from collections.abc import Sequence
from dataclasses import replace

from toolkeeper_contract import (
    Classification,
    Code,
    Decision,
    Effect,
    Flag,
    Question,
    Scope,
    SideEffect,
)
from toolkeeper_policy.rule import Rule

NO_APPROVER = "no approver satisfies all of these rules"


def answerable(
    decision: Decision, rules: Sequence[Rule], question: Question, code: Code
) -> Decision:
    """`decision`, which asks, with who may answer it and how far; a denial where nobody may.

    `rules` decided. Those may answer whom every rule takes, less the requester where one excludes
    them, in the narrowest scope that a rule has. `code` is the denial's.
    """
    approvers = approvers_of(rules)
    excluded = any([rule.exclude_requester for rule in rules])
    if excluded and approvers is not None:
        approvers = tuple([name for name in approvers if name != question.principal.user])
    if approvers == ():
        # Each rule may be satisfied by somebody, but not all by one who may answer.
        return replace(
            decision,
            effect=Effect.DENY,
            code=code,
            reasons=(*decision.reasons, NO_APPROVER),
            asked_by=(),
        )
    own = widest_scope(question.classification)
    scopes = [rule.approval_scope or own for rule in rules]
    return replace(
        decision,
        approvers=approvers,
        scope=min(scopes, key=lambda scope: scope.rank, default=own),
        requester_excluded=excluded,
    )


def widest_scope(classification: Classification) -> Scope:
    """How far an answer may reach where no rule says it.

    As with rules that allow: whatever pays or destroys has to be meant, so it is asked each time.
    """
    dear = classification.side_effect is SideEffect.FINANCIAL
    return Scope.ONCE if dear or Flag.DESTRUCTIVE in classification.flags else Scope.ALWAYS


def default_question(classification: Classification) -> str:
    """How the question of a class default is named."""
    return f"@default.{classification.side_effect.value}"


def approvers_of(rules: Sequence[Rule]) -> tuple[str, ...] | None:
    """Who may answer when these rules ask: whom every one of them names; None when none does.

    An empty tuple means that the rules name people but agree on nobody.
    """
    demands = [frozenset(rule.approvers) for rule in rules if rule.approvers]
    if not demands:
        return None
    return tuple(sorted(frozenset.intersection(*demands)))


def takes_answers(effect: Effect) -> bool:
    """Whether a rule with this effect can lead to a question (the overlay asks what is allowed)."""
    return effect is not Effect.DENY


def answerers(
    decision: Decision, user: str, *, approvers: Sequence[str], exclude_requester: bool
) -> tuple[str, ...]:
    """Who may answer `decision` in a session of `user`; empty when nobody may.

    The names that the deciding rules demand, else the agent's `approvers`, else the user. Who
    asked is taken out where a rule or the agent (`exclude_requester`) wants it.
    """
    names = decision.approvers or tuple(approvers) or (user,)
    if exclude_requester or decision.requester_excluded:
        return tuple(name for name in names if name != user)
    return names
