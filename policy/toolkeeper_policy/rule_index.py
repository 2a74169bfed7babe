"""Which few of many rules are about this tool?

What the selectors say of a tool does not change between calls, so it is worked out once for each
tool and class and then looked up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolkeeper_contract import Classification, Flag, SideEffect, is_literal
from toolkeeper_policy.rule import Rule

_REMEMBERED = 8_192


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules about one tool, by id.

    `unheard` are allow rules that name the tool but not its dear class or flag, so that they do
    not count for it.
    """

    rules: tuple[Rule, ...]
    unheard: tuple[Rule, ...]


class RuleIndex:
    """Rules by the tools that they name."""

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
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._selection)

    def select(self, tool: str, source: str, classification: Classification) -> Selection:
        """The rules whose selectors fit this tool, whoever calls it."""
        return self._remembered(tool, source, classification.side_effect, classification.flags)

    def _selection(
        self, tool: str, source: str, side_effect: SideEffect, flags: frozenset[Flag]
    ) -> Selection:
        classification = Classification(side_effect, flags, "")
        candidates = (*self._by_name.get(tool, ()), *self._by_class[side_effect])
        # INVARIANT: sorted by id, so that the order of the documents never shows.
        covering = sorted(
            (rule for rule in candidates if rule.covers_tool(tool, source, classification)),
            key=lambda rule: rule.id,
        )
        heard = tuple(rule for rule in covering if rule.counts_for(classification))
        unheard = tuple(rule for rule in covering if not rule.counts_for(classification))
        return Selection(heard, unheard)
