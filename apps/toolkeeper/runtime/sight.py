"""What exactly does the model see in a turn?"""

import json
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import (
    CONTROL_TOOLS,
    TOOL_SEARCH,
    Plan,
    Registry,
    Tool,
    canonical_bytes,
)
from toolkeeper_index import boundary_token, control_tool, render_region
from toolkeeper_wire import Format, NameCodec


@dataclass(frozen=True, slots=True)
class Sight:
    """A plan with the registry that it was made over, rendered for its provider.

    `tools` is the provider's tools array, `system` the prompt region with the deferred index.
    `codec` knows the wire name of every tool that the plan pins.
    """

    plan: Plan
    registry: Registry
    tools: list[dict[str, Any]]
    system: str
    codec: NameCodec


def sight_of(plan: Plan, registry: Registry, format: Format, codec: NameCodec) -> Sight:
    """Renders `plan`; equal plans over equal definitions give equal bytes."""
    defined = [_tool(name, registry) for name in plan.defined]
    deferred = [registry.tools[name] for name in plan.deferred_names]
    searchable = [registry.tools[name] for name in plan.searchable]
    codec = codec.extended(tool.identity for tool in (*defined, *deferred, *searchable))
    system = render_region(
        token=boundary_token(plan.digest),
        tools=deferred,
        searchable=len(searchable),
        search_offered=TOOL_SEARCH in plan.controls,
    )
    return Sight(plan, registry, _in_order(format.tools(defined, codec)), system, codec)


def _in_order(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Whoever writes the array down writes its keys as they stand; a server that sends the same
    # schema with permuted keys must not cost the cached prefix.
    ordered: list[dict[str, Any]] = json.loads(canonical_bytes(tools))
    return ordered


def _tool(name: str, registry: Registry) -> Tool:
    return control_tool(name) if name in CONTROL_TOOLS else registry.tools[name]
