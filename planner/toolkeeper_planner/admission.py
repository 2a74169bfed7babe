"""Which candidates may this principal see at all?"""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from toolkeeper_contract import Placed, Principal, Reason, Registry, Tool
from toolkeeper_planner.expansion import Expansion


@dataclass(frozen=True, slots=True)
class Admitted:
    """The candidates in rank order, and what was held back with the first reason that applies.

    `always` of `tools` come first and are always defined; `leading` of them are configured.
    Reasons apply in this order: not_permitted, disabled, quarantined, scope, policy.
    """

    tools: tuple[Tool, ...]
    always: int
    leading: int
    unavailable: tuple[str, ...]
    filtered: tuple[Placed, ...]


def admit(
    expansion: Expansion, registry: Registry, principal: Principal, policy_hidden: Set[str]
) -> Admitted:
    """Filters what is quarantined, needs a scope that is not held, or is hidden by policy."""
    held = principal.scopes
    quarantined = registry.quarantined
    filtered = list(expansion.filtered)

    def passing(tools: Iterable[Tool]) -> list[Tool]:
        kept = []
        for tool in tools:
            if tool.name in quarantined:
                filtered.append(Placed(tool.name, Reason.QUARANTINED))
            elif tool.scopes and not held.issuperset(tool.scopes):
                filtered.append(Placed(tool.name, Reason.SCOPE))
            elif tool.name in policy_hidden:
                filtered.append(Placed(tool.name, Reason.POLICY))
            else:
                kept.append(tool)
        return kept

    always = passing(expansion.configured[: expansion.always])
    configured = passing(expansion.configured[expansion.always :])
    discovered = passing(expansion.discovered)
    unavailable = []
    for name in expansion.unavailable:
        # Nothing is known of these but their names.
        if name in policy_hidden:
            filtered.append(Placed(name, Reason.POLICY))
        else:
            unavailable.append(name)
    return Admitted(
        tools=(*always, *configured, *discovered),
        always=len(always),
        leading=len(always) + len(configured),
        unavailable=tuple(unavailable),
        filtered=tuple(filtered),
    )
