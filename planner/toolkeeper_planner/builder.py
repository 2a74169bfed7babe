"""What does a session see, given this agent, these tools, this user and these caps?"""

from collections.abc import Mapping, Set
from typing import Any

from toolkeeper_contract import (
    Disclosure,
    Placed,
    Plan,
    Principal,
    Reason,
    RefusedTool,
    Registry,
)
from toolkeeper_planner.admission import Admitted, admit
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.conservation import check_conservation
from toolkeeper_planner.expansion import expand
from toolkeeper_planner.intent import Intent
from toolkeeper_planner.placement import Placement, place
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.ranking import RankedRegistry
from toolkeeper_planner.sources import source_of
from toolkeeper_policy import FUNCTIONS

BUILDER = "plan-builder@1"
"""Stands on every plan; it changes when equal input may give another plan."""


def build_plan(
    *,
    agent: AgentProfile,
    registry: Registry,
    principal: Principal,
    pricing: Pricing,
    provider: str,
    intent: Intent | None = None,
    attributes: Mapping[str, Any] = {},
    policy_hidden: Set[str] = frozenset(),
    results_offloadable: bool = True,
) -> Plan:
    """The plan for exactly this input: no clock, no connection order, no history, no hash order.

    `pricing` is that of `provider`. `policy_hidden` are the names that policy denies to this
    principal and agent whatever the arguments. `attributes` are the session's; this builder has no
    rule that looks at them. A name that the registry does not have is skipped as
    `source_unavailable`; `check_profile` tells misspelt ones beforehand.

    Raises ConfigError when the caps cannot hold the control tools or what is always defined.
    """
    expansion = expand(agent, registry, intent)
    admitted = admit(expansion, registry, principal, policy_hidden)
    deferrable = RankedRegistry.of(registry).deferred(agent.deferred_tools)
    placement = place(agent, admitted, deferrable, pricing, results_offloadable=results_offloadable)
    plan = Plan(
        builder=BUILDER,
        agent=agent.name,
        agent_revision=agent.revision,
        provider=provider,
        disclosure=_disclosure(agent.disclosure),
        caps=agent.caps,
        defined=_array(admitted, placement),
        deferred=placement.deferred,
        searchable=tuple([tool.name for tool in placement.searchable]),
        skipped=_skipped(admitted, placement),
        filtered=admitted.filtered,
        refused=_refused(agent, registry),
        pins=_pins(placement),
        costs=placement.costs(),
        intent=None if intent is None else intent.as_json(),
    )
    check_conservation(expansion.names, plan)
    return plan


def _disclosure(asked: str) -> Disclosure:
    if asked == "index":
        return Disclosure()
    return Disclosure(asked, "index", f"this version discloses by index only, not by `{asked}`")


def _array(admitted: Admitted, placement: Placement) -> tuple[str, ...]:
    # Control tools stand before the discovered ones, so that a server that grows or fails moves
    # nothing in front of its own tools.
    leading = {tool.name for tool in admitted.tools[: admitted.leading]}
    names = [tool.name for tool in placement.filled.defined]
    return (
        *(name for name in names if name in leading),
        *(tool.name for tool in placement.filled.controls),
        *(name for name in names if name not in leading),
    )


def _skipped(admitted: Admitted, placement: Placement) -> tuple[Placed, ...]:
    return (
        *placement.skipped,
        *[Placed(name, Reason.SOURCE_UNAVAILABLE) for name in admitted.unavailable],
    )


def _refused(agent: AgentProfile, registry: Registry) -> tuple[RefusedTool, ...]:
    named = (source_of(name) for _, names in agent.named_lists() for name in names)
    sources = {FUNCTIONS, *agent.servers, *named}
    return tuple(
        sorted(
            (tool for tool in registry.refused if tool.source in sources),
            key=lambda tool: (tool.source, tool.name, tool.reason),
        )
    )


def _pins(placement: Placement) -> dict[str, str]:
    reachable = (placement.filled.defined, placement.shelved.entries, placement.searchable)
    return {tool.name: tool.fingerprint for tools in reachable for tool in tools}
