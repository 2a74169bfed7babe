"""Does an agent's configuration make sense with the tools that exist?"""

from collections.abc import Iterator

from toolkeeper_contract import (
    CONTROL_TOOLS,
    Code,
    Registry,
    Tool,
    did_you_mean,
    is_literal,
    is_pattern,
)
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.disclosure_check import check_disclosure, check_search_name
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.profile_error import profile_error
from toolkeeper_planner.sources import MissingTools
from toolkeeper_policy import FUNCTIONS


def check_profile(agent: AgentProfile, registry: Registry, pricing: Pricing | None = None) -> None:
    """Raises ConfigError, with the key, for the first thing in `agent` that cannot be meant.

    With `pricing` it also says whether what is always defined fits the token cap. A name whose
    source could not be listed is no error: plans skip it as `source_unavailable`.
    """
    check_disclosure(agent)
    _check_control_tools(agent)
    check_search_name(agent, registry)
    _check_servers(agent, registry)
    missing = MissingTools.of(registry)
    for key, position, name in _written(agent):
        _check_form(agent, key, position, name)
        if is_literal(name) and name not in registry.tools and not missing.excuse(name):
            raise profile_error(
                agent,
                (key, position),
                f"unknown tool `{name}`",
                did_you_mean(name, registry.tools) or "`toolkeeper tools` lists what exists",
            )
    both = set(agent.always_defined) & set(agent.deferred_tools)
    for position, name in enumerate(agent.deferred_tools):
        if name in both:
            raise profile_error(
                agent,
                ("deferred_tools", position),
                f"`{name}` stands in both `always_defined` and `deferred_tools`",
                "take it out of one of the two",
            )
    _check_always_defined(agent, registry, pricing)
    _check_pins(agent, registry)


def _written(agent: AgentProfile) -> Iterator[tuple[str, int, str]]:
    for key, names in (*agent.named_lists(), ("deferred_tools", agent.deferred_tools)):
        for position, name in enumerate(names):
            yield key, position, name


def _check_control_tools(agent: AgentProfile) -> None:
    for position, name in enumerate(agent.control_tools):
        if name not in CONTROL_TOOLS:
            raise profile_error(
                agent,
                ("control_tools", position),
                f"there is no control tool `{name}`",
                did_you_mean(name, CONTROL_TOOLS),
                code=Code.CONTROL_TOOL_UNAVAILABLE,
            )


def _check_servers(agent: AgentProfile, registry: Registry) -> None:
    known = {status.name for status in registry.sources}
    known |= {tool.identity.source for tool in registry.tools.values() if tool.foreign}
    known.discard(FUNCTIONS)
    for position, server in enumerate(agent.servers):
        if server not in known:
            raise profile_error(
                agent,
                ("servers", position),
                f"unknown server `{server}`",
                did_you_mean(server, known) or "describe it under `servers` first",
            )


def _check_form(agent: AgentProfile, key: str, position: int, name: str) -> None:
    place = (key, position)
    if name in agent.control_names:
        message = f"`{name}` is a control tool and cannot stand in `{key}`"
        hint = "`control_tools` says which of them this agent has"
        raise profile_error(agent, place, message, hint)
    if not is_pattern(name):
        raise profile_error(
            agent,
            place,
            f"`{name}` has a character that no tool name can have",
            "names are made of letters, digits, `_`, `-` and `.`"
            + ("; `*` is the only wildcard" if key == "deferred_tools" else ""),
        )
    if key != "deferred_tools" and not is_literal(name):
        raise profile_error(
            agent,
            place,
            f"`{name}` is a pattern, and `{key}` takes exact names",
            "write the names out, or bring in a whole server with `servers`",
        )


def _check_pins(agent: AgentProfile, registry: Registry) -> None:
    known = MissingTools.of(registry)
    for number, rule in enumerate(agent.pin):
        exact = {name for name in rule.tools if is_literal(name)} | set(agent.always_defined)
        if len(exact) > agent.caps.definitions:
            raise profile_error(
                agent,
                ("pin", number, "tools"),
                f"{len(exact)} tools are pinned by name or always defined and the cap is "
                f"{agent.caps.definitions}",
                "raise `caps.definitions`, pin fewer tools, or pin them by a glob",
            )
        if not rule.when:
            raise profile_error(
                agent,
                ("pin", number, "when"),
                "a pin rule without an attribute would hold for every session",
                "name the attribute, or use `always_defined`",
            )
        for position, name in enumerate(rule.tools):
            place = ("pin", number, "tools", position)
            if not is_pattern(name):
                raise profile_error(
                    agent,
                    place,
                    f"`{name}` has a character that no tool name can have",
                    "names are made of letters, digits, `_`, `-` and `.`; `*` is the only wildcard",
                )
            if name in agent.control_names:
                message = f"`{name}` is a control tool and cannot be pinned"
                raise profile_error(agent, place, message, "it needs no pin: no cap touches it")
            if not is_literal(name) or (name not in registry.tools and known.excuse(name)):
                continue
            if name not in registry.tools:
                hint = did_you_mean(name, registry.tools)
                raise profile_error(
                    agent,
                    place,
                    f"unknown tool `{name}`",
                    hint or "`toolkeeper tools` lists what exists",
                )
            if not _has(agent, registry.tools[name]):
                raise profile_error(
                    agent,
                    place,
                    f"`{name}` is no tool of this agent, and a pin rule brings in none",
                    "name it in `tools` too",
                )


def _has(agent: AgentProfile, tool: Tool) -> bool:
    sets = (*agent.toolsets.values(), *agent.overlays.values())
    named = (agent.tools, agent.always_defined, *sets)
    brought = tool.foreign and tool.identity.source in agent.servers
    return brought or any(tool.name in names for names in named)


def _check_always_defined(agent: AgentProfile, registry: Registry, pricing: Pricing | None) -> None:
    names = dict.fromkeys(agent.always_defined)
    tools = [registry.tools[name] for name in names if name in registry.tools]
    if len(names) > agent.caps.definitions:
        raise profile_error(
            agent,
            ("always_defined",),
            f"{len(names)} tools are always defined and the cap is {agent.caps.definitions}",
            "raise `caps.definitions` or define fewer tools always",
        )
    tokens = sum(map(pricing.definition, tools)) if pricing else 0
    if tokens > agent.caps.definition_tokens:
        raise profile_error(
            agent,
            ("always_defined",),
            f"the definitions that are always there take {tokens} tokens and the cap is "
            f"{agent.caps.definition_tokens}",
            "raise `caps.definition_tokens` or define fewer tools always",
        )
