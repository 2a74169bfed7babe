"""Which tools come first for a session with this attribute?"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Registry, Tool, is_literal
from toolkeeper_planner.ranking import RankedRegistry

ANY = "*"
"""As a value of `when`: the attribute is there, whatever it is."""


@dataclass(frozen=True, slots=True)
class PinRule:
    """`when` maps attributes to values that all must hold, `*` for any; `tools` are names or globs.

    A rule moves tools of the session to the front of the rank; it brings in none.
    """

    when: Mapping[str, Any]
    tools: tuple[str, ...]

    def applies(self, attributes: Mapping[str, Any]) -> bool:
        """Whether a session with `attributes` is meant; an attribute that is null is not there."""
        return bool(self.when) and all(
            _holds(value, attributes.get(name)) for name, value in self.when.items()
        )


@dataclass(frozen=True, slots=True)
class Pinned:
    """`tools` are the pinned candidates, first rule first; `exact` were named without a glob."""

    tools: tuple[Tool, ...] = ()
    exact: frozenset[str] = frozenset()


def pinned_tools(
    rules: Sequence[PinRule],
    attributes: Mapping[str, Any],
    candidates: Sequence[Tool],
    registry: Registry,
) -> Pinned:
    """The candidates that the applying rules name: by rule, by pattern, then by rank."""
    patterns = tuple(dict.fromkeys(_patterns(rules, attributes)))
    if not patterns:
        return Pinned()
    ranked = RankedRegistry.of(registry)
    found: dict[str, Tool] = {}
    for pattern in patterns:
        named: Set[str] = ranked.named(pattern)
        found |= {tool.name: tool for tool in candidates if tool.name in named}
    exact = frozenset(pattern for pattern in patterns if is_literal(pattern)) & found.keys()
    return Pinned(tuple(found.values()), exact)


def _patterns(rules: Sequence[PinRule], attributes: Mapping[str, Any]) -> Iterator[str]:
    for rule in rules:
        if rule.applies(attributes):
            yield from rule.tools


def _holds(wanted: Any, value: Any) -> bool:
    if value is None:
        return False
    # No coercion: true is not 1, and "7" is not 7.
    return wanted == ANY or (type(wanted) is type(value) and bool(wanted == value))
