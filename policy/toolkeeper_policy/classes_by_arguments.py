"""Which class has a call, where the operator's rules look at its arguments?

A tool as such has the dearest of its calls' classes: ranking, plans and whatever else does not know
the arguments never take it for less.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolkeeper_contract import (
    Classification,
    Declaration,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy.classification_rule import ClassificationRule
from toolkeeper_policy.classifier import classify, dearest


@dataclass(frozen=True, slots=True)
class CallClasses:
    """The classes of one tool's calls; see `classify` for the fields."""

    identity: ToolIdentity
    definition: ToolDefinition
    declaration: Declaration | None = None
    trusted: bool = False
    annotations_trusted: bool = False
    accepted: bool = True
    rules: tuple[ClassificationRule, ...] = ()

    def __post_init__(self) -> None:
        covering = tuple(rule for rule in self.rules if rule.covers(self.identity))
        object.__setattr__(self, "rules", covering)

    @property
    def look_at_arguments(self) -> bool:
        """Whether two calls of the tool can have different classes."""
        return any(rule.arguments for rule in self.rules)

    def of(self, arguments: Mapping[str, Any]) -> Classification:
        """The class of a call with these arguments."""
        return self._classified(self.rules, arguments)

    @property
    def possible(self) -> tuple[Classification, ...]:
        """The class without arguments, then with each of the rules that look at them."""
        plain = self._classified(self.rules, None)
        if not self.look_at_arguments:
            return (plain,)
        some = [rule for rule in self.rules if rule.arguments]
        each = (self._classified(self._taking((rule,)), None) for rule in some)
        found = (plain, *each, self._classified(self._taking(tuple(some)), None))
        return tuple(dict.fromkeys(found))

    @property
    def dearest(self) -> Classification:
        """What a call can be at most."""
        return dearest(self.possible)

    def _taking(self, held: Sequence[ClassificationRule]) -> tuple[ClassificationRule, ...]:
        """The rules as if exactly `held` were the ones whose arguments are met."""
        return tuple(replace(rule, arguments={}) if rule in held else rule for rule in self.rules)

    def _classified(
        self, rules: tuple[ClassificationRule, ...], arguments: Mapping[str, Any] | None
    ) -> Classification:
        return classify(
            self.identity,
            self.definition,
            declaration=self.declaration,
            trusted=self.trusted,
            annotations_trusted=self.annotations_trusted,
            rules=rules,
            accepted=self.accepted,
            arguments=arguments,
        )
