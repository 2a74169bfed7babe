"""Which of these rules hold for this call, and which could not be evaluated?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolkeeper_contract import Effect, strictest
from toolkeeper_contract.draft import drafted
from toolkeeper_policy.call_view import CallView
from toolkeeper_policy.condition import ConditionFailure
from toolkeeper_policy.rule import Rule

_BROKEN = "its condition broke off"


@drafted
@dataclass(frozen=True, slots=True)
class Weighed:
    """`matched` rules hold, and of these the `deciding` ones have the most restrictive effect.

    `failed` ones could not be evaluated. All are in the order given.
    `causes` say in plain words why a rule failed, by its id. `lapsed` rules restricted such calls
    until they expired.
    """

    matched: tuple[Rule, ...]
    deciding: tuple[Rule, ...]
    failed: tuple[Rule, ...]
    causes: Mapping[str, str] = field(default_factory=dict)
    lapsed: tuple[Rule, ...] = ()

    @property
    def blocked(self) -> tuple[Rule, ...]:
        """The failed rules that ask or deny: not knowing whether they hold, nothing may run."""
        return tuple(rule for rule in self.failed if rule.effect is not Effect.ALLOW)


_NOTHING = Weighed((), (), ())


def weigh(rules: Sequence[Rule], view: CallView) -> Weighed:
    """`rules` (whose tool selectors fit already) against one call."""
    if not rules:
        return _NOTHING
    question = view.question
    matched: list[Rule] = []
    failed: list[Rule] = []
    lapsed: list[Rule] = []
    causes: dict[str, str] = {}
    for rule in rules:
        if not rule.covers_caller(question):
            continue
        if rule.expires is not None and rule.is_over(question.at):
            if rule.effect is not Effect.ALLOW:
                lapsed.append(rule)
            continue
        if rule.condition is None:
            matched.append(rule)
            continue
        try:
            holds = rule.condition.holds(view)
        except Exception as failure:
            # INVARIANT: whatever goes wrong in a condition, it never widens what is allowed.
            failed.append(rule)
            # Other exceptions may quote what the call is about.
            causes[rule.id] = str(failure) if isinstance(failure, ConditionFailure) else _BROKEN
            continue
        if holds is True:
            matched.append(rule)
        elif holds is not False:
            failed.append(rule)
            causes[rule.id] = "its result is neither true nor false"
    deciding = matched
    if len(matched) > 1:
        effect = strictest([rule.effect for rule in matched])
        deciding = [rule for rule in matched if rule.effect is effect]
    return Weighed(tuple(matched), tuple(deciding), tuple(failed), causes, tuple(lapsed))
