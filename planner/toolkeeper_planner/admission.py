"""Which candidates may this principal see at all?"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Placed, Principal, Reason, Registry, Tool
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.expansion import Expansion
from toolkeeper_planner.pin_rule import pinned_tools


@dataclass(frozen=True, slots=True)
class Admitted:
    """The candidates in rank order, and what was held back with the first reason that applies.

    The first `front` of `tools` are pinned or always defined and never deferred by configuration;
    those in `must` have to be defined. The first `leading` are pinned or configured. Reasons apply
    in this order: not_permitted, disabled, quarantined, scope, policy.
    """

    tools: tuple[Tool, ...]
    front: int
    must: frozenset[str]
    leading: int
    unavailable: tuple[str, ...]
    filtered: tuple[Placed, ...]


def admit(
    agent: AgentProfile,
    expansion: Expansion,
    registry: Registry,
    principal: Principal,
    policy_hidden: Set[str],
    attributes: Mapping[str, Any],
) -> Admitted:
    """Filters what is quarantined, needs a scope that is not held, or is hidden by policy.

    Then what the agent's pin rules name for `attributes` moves to the front.
    """
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
    tools = [*always, *configured, *discovered]
    must = frozenset([tool.name for tool in always])
    front, leading = len(always), len(always) + len(configured)
    pinned = pinned_tools(agent.pin, attributes, tools, registry)
    if pinned.tools:
        moved = {tool.name for tool in pinned.tools}
        front += sum(tool.name not in must for tool in pinned.tools)
        leading += sum(tool.name in moved for tool in discovered)
        must |= pinned.exact
        tools = [*pinned.tools, *(tool for tool in tools if tool.name not in moved)]
    return Admitted(
        tools=tuple(tools),
        front=front,
        must=must,
        leading=leading,
        unavailable=tuple(unavailable),
        filtered=tuple(filtered),
    )
