"""What does a session see, given this agent, these tools, this user and these caps?"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from toolkeeper_contract import (
    ConfigError,
    Disclosure,
    Placed,
    Plan,
    Principal,
    Reason,
    RefusedTool,
    Registry,
    Tool,
    did_you_mean,
    is_canonical_name,
)
from toolkeeper_planner.admission import Admitted, admit
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.builder_version import BUILDER
from toolkeeper_planner.conservation import check_conservation
from toolkeeper_planner.disclosure_check import check_disclosure
from toolkeeper_planner.expansion import expand
from toolkeeper_planner.intent import Intent
from toolkeeper_planner.placement import Placement, Request, place
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.ranking import RankedRegistry
from toolkeeper_planner.sources import source_of
from toolkeeper_policy import FUNCTIONS

_NOT_NATIVE = "the provider is not known to search tools on its side with this endpoint and model"


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
    loaded: Sequence[tuple[str, str]] = (),
    forced: str | None = None,
    granted: Mapping[str, str] | None = None,
    native: bool = False,
    native_reason: str | None = None,
) -> Plan:
    """The plan for exactly this input: no clock, no connection order, no history, no hash order.

    `pricing` is that of `provider`. `policy_hidden` are the names that policy denies to this
    principal and agent whatever the arguments. `attributes` are the session's, for the agent's pin
    rules. A name that the registry does not have is skipped as `source_unavailable`;
    `check_profile` tells misspelt ones beforehand.

    `loaded` are (name, fingerprint) of what searches loaded, in load order: those that are still
    deferred candidates with that fingerprint are appended to the array while they fit what the
    caps leave, and move nothing else. An agent that discloses by index ignores them, and a
    provider that searches on its side keeps them deferred. `forced` names a tool that has to be
    defined: it takes its room first and stands last, unless the plan defines it anyway. `granted`
    (name -> fingerprint) is what a delegating parent pins; nothing of it is deferred by
    configuration. `native` says whether provider, endpoint and model can search on their side,
    `native_reason` why not.

    Raises ConfigError when the caps cannot hold the control tools or what must be defined, when
    the agent loads by search and has none, and when the forced tool is not to be had.
    """
    check_disclosure(agent)
    expansion = expand(agent, registry, intent, granted)
    admitted = admit(agent, expansion, registry, principal, policy_hidden, attributes)
    disclosure = _disclosure(agent.disclosure, native, native_reason)
    request = Request(
        used=disclosure.used,
        deferrable=(
            RankedRegistry.of(registry).deferred(agent.deferred_tools)
            if granted is None
            else frozenset()
        ),
        results_offloadable=results_offloadable,
        loaded=_loaded(agent, registry, loaded),
        forced=_forced(agent, admitted, forced),
    )
    placement = place(agent, admitted, request, pricing)
    plan = Plan(
        builder=BUILDER,
        agent=agent.name,
        agent_revision=agent.revision,
        provider=provider,
        disclosure=disclosure,
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
        loaded=tuple([tool.name for tool in placement.filled.loaded]),
        overflow=placement.overflow,
        listing="none" if disclosure.used == "native" else agent.listing,
    )
    check_conservation(expansion.names, plan, controls=agent.control_names)
    if forced is not None and forced not in plan.defined:
        raise _not_forceable(f"`{forced}`", None)
    return plan


def _disclosure(asked: str, native: bool, reason: str | None) -> Disclosure:
    if asked == "native" and not native:
        return Disclosure(asked, "index", reason or _NOT_NATIVE)
    return Disclosure(asked, asked)


def _loaded(
    agent: AgentProfile, registry: Registry, loaded: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    found: dict[str, None] = {}
    if agent.disclosure == "index":
        return ()
    for name, fingerprint in loaded:
        tool = registry.tools.get(name)
        if tool is not None and tool.fingerprint == fingerprint:
            # The first time counts, so that finding it again moves nothing.
            found[name] = None
    return tuple(found)


def _forced(agent: AgentProfile, admitted: Admitted, forced: str | None) -> Tool | None:
    if forced is None or forced in agent.control_names:
        return None
    for tool in admitted.tools:
        if tool.name == forced:
            return tool
    if not is_canonical_name(forced):
        raise _not_forceable("the tool", "no tool can have the name that was given")
    names = [tool.name for tool in admitted.tools]
    raise _not_forceable(f"`{forced}`", did_you_mean(forced, names))


def _not_forceable(what: str, hint: str | None) -> ConfigError:
    return ConfigError(
        f"{what} cannot be forced: this session does not have it",
        hint or "force a tool that the session's plan offers",
        key="tool_choice",
    )


def _array(admitted: Admitted, placement: Placement) -> tuple[str, ...]:
    # Control tools stand before the discovered ones, so that a server that grows or fails moves
    # nothing in front of its own tools; what was loaded stands last and moves nothing at all.
    filled = placement.filled
    leading = {tool.name for tool in admitted.tools[: admitted.leading]}
    names = [tool.name for tool in filled.defined]
    return (
        *(name for name in names if name in leading),
        *(tool.name for tool in filled.controls),
        *(name for name in names if name not in leading),
        *(tool.name for tool in filled.appended),
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
    filled = placement.filled
    reachable = (filled.defined, filled.appended, placement.listed, placement.searchable)
    return {tool.name: tool.fingerprint for tools in reachable for tool in tools}
