"""What exactly does the model see in a turn?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolkeeper.runtime.rendering import Rendering
from toolkeeper_contract import (
    TOOL_CALL,
    TOOL_RESULT,
    Plan,
    Registry,
    SourceKind,
    ToolIdentity,
    digest,
)
from toolkeeper_index import CONTROL_SOURCE, boundary_token, plan_control, plan_region
from toolkeeper_wire import Capability, Format, NameCodec, NativeTools, ToolChoice, tombstones


@dataclass(frozen=True, slots=True)
class Sight:
    """A plan with the registry that it was made over, rendered for its provider.

    `codec` knows the wire name of every tool that the plan pins.
    """

    plan: Plan
    registry: Registry
    rendering: Rendering
    codec: NameCodec

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The provider's tools array."""
        return self.rendering.tools

    @property
    def system(self) -> str:
        """The prompt region with the deferred index."""
        return self.rendering.system


def sight_of(
    plan: Plan,
    registry: Registry,
    format: Format,
    codec: NameCodec,
    *,
    native: Capability | None = None,
    choice: ToolChoice | None = None,
    mentioned: Iterable[str] = (),
) -> Sight:
    """Renders `plan`; equal plans over equal definitions give equal bytes.

    `native` is the provider's own search, where the plan uses it; `mentioned` are the tools that
    its results in the conversation name, which have to stay in the array in some form.
    """
    codec = codec.extended(identities(plan))
    tools = registry.tools
    defined = [
        plan_control(plan, name) if name in plan.controls else tools[name] for name in plan.defined
    ]
    system = plan_region(
        plan,
        tools,
        token=_region_token(plan),
        call_name=codec.names().get(TOOL_CALL, TOOL_CALL),
        search_name=_search_name(plan, codec),
    )
    searching = None
    if native is not None and plan.disclosure.used == "native":
        gone = tombstones(mentioned, plan.pins)
        codec = codec.extended(gone)
        deferred = tuple(tools[name] for name in plan.deferred_names)
        # With nothing to find there is no search: a session without tools has an empty array.
        searching = NativeTools(native, deferred, gone) if deferred or gone else None
    parts = format.request(defined, codec, system, native=searching, choice=choice)
    return Sight(plan, registry, Rendering.of({"system": system, **parts}), codec)


def _search_name(plan: Plan, codec: NameCodec) -> str | None:
    searches = [name for name in plan.controls if name not in (TOOL_CALL, TOOL_RESULT)]
    return codec.names().get(searches[0]) if searches else None


def _region_token(plan: Plan) -> str:
    # From what the region lists and from nothing else on the plan: a limit that was edited, or a
    # tool that nobody may see, rewrites no byte of the prompt.
    return boundary_token(digest([[name, plan.pins[name]] for name in plan.deferred_names]))


def identities(plan: Plan) -> list[ToolIdentity]:
    """Whose wire names a plan needs; worked out from its names, so that any process agrees."""
    controls = [ToolIdentity(SourceKind.CONTROL, CONTROL_SOURCE, name) for name in plan.controls]
    return [*controls, *(ToolIdentity.of_name(name) for name in plan.pins)]
