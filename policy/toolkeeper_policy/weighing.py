"""Which of these rules hold for this call, and which could not be evaluated?"""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkeeper_contract import Effect, Question, strictest
from toolkeeper_policy.rule import Rule


@dataclass(frozen=True, slots=True)
class Weighed:
    """`matched` rules hold; `failed` ones could not be evaluated. Both in the order given."""

    matched: tuple[Rule, ...]
    failed: tuple[Rule, ...]

    @property
    def blocked(self) -> tuple[Rule, ...]:
        """The failed rules that ask or deny: not knowing whether they hold, nothing may run."""
        return tuple(rule for rule in self.failed if rule.effect is not Effect.ALLOW)

    @property
    def deciding(self) -> tuple[Rule, ...]:
        """The matching rules with the most restrictive effect."""
        if not self.matched:
            return ()
        effect = strictest(rule.effect for rule in self.matched)
        return tuple(rule for rule in self.matched if rule.effect is effect)


def weigh(rules: Sequence[Rule], question: Question) -> Weighed:
    """`rules` (whose tool selectors fit already) against one call."""
    matched: list[Rule] = []
    failed: list[Rule] = []
    for rule in rules:
        if not rule.covers_caller(question):
            continue
        if rule.condition is None:
            matched.append(rule)
            continue
        try:
            holds = rule.condition.holds(question)
        except Exception:
            # INVARIANT: whatever goes wrong in a condition, it never widens what is allowed.
            failed.append(rule)
            continue
        if holds is True:
            matched.append(rule)
        elif holds is not False:
            failed.append(rule)
    return Weighed(tuple(matched), tuple(failed))


def approvers_of(rules: Sequence[Rule]) -> tuple[str, ...] | None:
    """Who may answer when these rules ask: whom every one of them names; None when none does.

    An empty tuple means that the rules name people but agree on nobody.
    """
    demands = [frozenset(rule.approvers) for rule in rules if rule.approvers]
    if not demands:
        return None
    return tuple(sorted(frozenset.intersection(*demands)))
