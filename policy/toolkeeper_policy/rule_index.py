"""Which few of many rules are about this tool?

What the selectors say of a tool does not change between calls, so it is worked out once for each
tool and class and then looked up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolkeeper_contract import Classification, Flag, SideEffect, is_literal
from toolkeeper_policy.call_view import ViewPlan
from toolkeeper_policy.condition import needs_of_condition
from toolkeeper_policy.condition_names import NOTHING, Needs
from toolkeeper_policy.rule import Rule

_REMEMBERED = 8_192


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules about one tool, by id.

    `unheard` are allow rules that name the tool but not its dear class or flag, so that they do
    not count for it. `needs` is what the conditions of all of them look at, `plan` how they get it.
    """

    rules: tuple[Rule, ...]
    hardline: tuple[Rule, ...]
    unheard: tuple[Rule, ...]
    needs: Needs
    plan: ViewPlan


class RuleIndex:
    """Rules by the tools that they name."""

    def __init__(self, rules: Sequence[Rule], hardline: Sequence[Rule]) -> None:
        self._rules = _Catalog(rules)
        self._hardline = _Catalog(hardline)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._selection)

    def select(self, tool: str, source: str, classification: Classification) -> Selection:
        """The rules whose selectors fit this tool, whoever calls it."""
        return self._remembered(tool, source, classification.side_effect, classification.flags)

    def _selection(
        self, tool: str, source: str, side_effect: SideEffect, flags: frozenset[Flag]
    ) -> Selection:
        classification = Classification(side_effect, flags, "")
        covering = self._rules.covering(tool, source, classification)
        heard = tuple(rule for rule in covering if rule.counts_for(classification))
        unheard = tuple(rule for rule in covering if not rule.counts_for(classification))
        hardline = self._hardline.covering(tool, source, classification)
        needs = NOTHING
        for rule in (*heard, *hardline):
            needs = needs.union(needs_of_condition(rule.condition))
        return Selection(heard, hardline, unheard, needs, ViewPlan(needs))


class _Catalog:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._by_name: dict[str, list[Rule]] = {}
        self._by_class: dict[SideEffect, list[Rule]] = {
            side_effect: [] for side_effect in SideEffect
        }
        for rule in rules:
            if rule.tools and all(is_literal(pattern) for pattern in rule.tools):
                for name in rule.tools:
                    self._by_name.setdefault(name, []).append(rule)
            else:
                for side_effect in rule.side_effects or SideEffect:
                    self._by_class[side_effect].append(rule)

    def covering(self, tool: str, source: str, classification: Classification) -> tuple[Rule, ...]:
        candidates = (
            *self._by_name.get(tool, ()),
            *self._by_class[classification.side_effect],
        )
        # INVARIANT: sorted by id, so that the order of the documents never shows.
        covering = [rule for rule in candidates if rule.covers_tool(tool, source, classification)]
        return tuple(sorted(covering, key=lambda rule: rule.id))
