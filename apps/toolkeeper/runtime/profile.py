"""What do planning and calling need of an agent's configuration?"""

from datetime import timedelta

from toolkeeper.runtime.configuration import Agent, Configuration, Trust, agent_revision
from toolkeeper_contract import ConfigError, SourceKind, ToolIdentity, did_you_mean
from toolkeeper_pipeline import Limits
from toolkeeper_planner import AgentProfile, PinRule


def agent_named(configuration: Configuration, name: str) -> Agent:
    """The agent's configuration. ConfigError with the nearest name when there is none."""
    agent = configuration.agents.get(name)
    if agent is None:
        raise ConfigError(
            f"unknown agent `{name}`",
            did_you_mean(name, configuration.agents),
            file=configuration.file,
            key="agents",
        )
    return agent


def profile_of(agent: Agent) -> AgentProfile:
    """The agent as the planner sees it."""
    return AgentProfile(
        name=agent.name,
        revision=agent_revision(agent),
        tools=agent.tools,
        servers=agent.servers,
        always_defined=agent.always_defined,
        deferred_tools=agent.deferred_tools,
        control_tools=agent.control_tools,
        disclosure=agent.disclosure,
        listing=agent.listing,
        search_name=agent.search.name,
        pin=tuple(PinRule(pin.when, pin.tools) for pin in agent.pin),
        caps=agent.caps,
        toolsets=agent.toolsets,
        overlays=agent.overlays,
    )


def limits_of(agent: Agent) -> Limits:
    """The bounds of a call of this agent's."""
    limits = agent.limits
    return Limits(
        call_timeout=timedelta(seconds=limits.call_timeout),
        approval_expiry=timedelta(seconds=limits.approval_expiry),
        grant_expiry=timedelta(seconds=limits.grant_expiry),
        lease=timedelta(seconds=limits.lease),
        result_bytes=limits.result_bytes,
        result_kept_bytes=limits.result_kept_bytes,
        result_blocks=limits.result_blocks,
        result_depth=limits.result_depth,
        result_nodes=limits.result_nodes,
        argument_bytes=limits.argument_bytes,
        argument_depth=limits.argument_depth,
        parallel_calls=limits.parallel_calls,
        retries=limits.retries,
        attempt_timeout=(
            None if limits.attempt_timeout is None else timedelta(seconds=limits.attempt_timeout)
        ),
    )


def sources_of(agent: Agent, configuration: Configuration) -> frozenset[str]:
    """The servers whose listings this agent needs; the others need not be started."""
    named = (
        *agent.tools,
        *agent.always_defined,
        *agent.deferred_tools,
        *(tool for tools in agent.toolsets.values() for tool in tools),
        *(tool for tools in agent.overlays.values() for tool in tools),
    )
    # A server id has no dots, so the second part of `mcp.<server>.<tool>` is the whole of it.
    servers = {name.split(".")[1] for name in named if name.startswith("mcp.")}
    return frozenset(agent.servers) | (servers & configuration.servers.keys())


def trusts_source(configuration: Configuration, identity: ToolIdentity) -> bool:
    """Whether a tool's source counts as ours: this program itself, or a server that is trusted."""
    if identity.kind in (SourceKind.FUNCTION, SourceKind.CONTROL):
        return True
    server = configuration.servers.get(identity.source)
    return server is not None and server.trust is Trust.TRUSTED
