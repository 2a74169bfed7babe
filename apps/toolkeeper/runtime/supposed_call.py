"""What would policy be asked about a call that nobody made?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from toolkeeper.runtime.configuration import Configuration, Trust
from toolkeeper.runtime.profile import agent_named
from toolkeeper_contract import (
    CONTROL_TOOLS,
    ConfigError,
    Provenance,
    Question,
    Registry,
    SourceState,
    Tool,
    did_you_mean,
)
from toolkeeper_pipeline import ArgumentSchema
from toolkeeper_policy import FUNCTIONS, source_name


@dataclass(frozen=True, slots=True)
class SupposedCall:
    """A call with its circumstances; `provenance` None: nothing was heard so far."""

    agent: str
    tool: str
    arguments: Mapping[str, Any]
    user: str = "local"
    attributes: Mapping[str, Any] = field(default_factory=dict)
    tainted: bool = False
    private: bool = False
    provenance: Provenance | None = None
    at: datetime | None = None


def question_of(call: SupposedCall, registry: Registry, configuration: Configuration) -> Question:
    """The question that the pipeline would ask. ConfigError for an unknown agent or tool.

    Whether the agent's plan would pin the tool, and whether the arguments fit its schema, is not
    looked at: both are settled before policy is asked.
    """
    agent_named(configuration, call.agent)
    tool = known_tool(call.tool, registry)
    source = source_name(tool.identity)
    return Question(
        tool=tool.name,
        source=source,
        classification=tool.class_of(call.arguments),
        agent=call.agent,
        principal=configuration.principal(call.user),
        arguments=call.arguments,
        attributes=call.attributes,
        trusted=is_trusted(source, configuration),
        tainted=call.tainted,
        private=call.private,
        provenance=call.provenance,
        at=call.at,
    )


def obstacles(
    call: SupposedCall, registry: Registry, configuration: Configuration
) -> Iterator[str]:
    """What would end such a call before policy is asked, each in a sentence.

    Whether the agent's plan pins the tool is not looked at; `toolkeeper plan` shows that.
    """
    tool = known_tool(call.tool, registry)
    if tool.name in registry.quarantined:
        yield (
            f"`{tool.name}` is quarantined and cannot be called "
            "(`toolkeeper tools accept` takes it over)"
        )
    held = configuration.principal(call.user).scopes
    for scope in tool.scopes:
        if scope not in held:
            yield f"`{call.user}` does not hold the scope `{scope}` that `{tool.name}` needs"
    faults = ArgumentSchema(tool.definition.input_schema).faults(call.arguments)
    if faults:
        where = ", ".join(f"`{fault.path or '/'}`: {fault.expected}" for fault in faults)
        yield f"the arguments do not fit the schema of `{tool.name}` ({where})"


def known_tool(name: str, registry: Registry) -> Tool:
    """The tool of this canonical name. ConfigError with the nearest name when there is none."""
    tool = registry.tools.get(name)
    if tool is not None:
        return tool
    if name in CONTROL_TOOLS:
        raise ConfigError(
            f"`{name}` is a control tool, and no policy is about those",
            "name the real tool: a call through `tool.call` is decided as the tool that it calls",
            key="tool",
        )
    for status in registry.sources:
        if status.state is not SourceState.OK and name.startswith(f"mcp.{status.name}."):
            raise ConfigError(
                f"the tools of the source `{status.name}` are not known now",
                status.reason,
                key="tool",
            )
    raise ConfigError(f"unknown tool `{name}`", did_you_mean(name, registry.tools), key="tool")


def is_trusted(source: str, configuration: Configuration) -> bool:
    """Whether a source is ours, or a server that the operator trusts."""
    if source == FUNCTIONS:
        return True
    server = configuration.servers.get(source)
    return server is not None and server.trust is Trust.TRUSTED
