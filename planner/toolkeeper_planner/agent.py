"""What does the configuration say about one agent, as far as planning is concerned?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolkeeper_contract import CONTROL_TOOLS, TOOL_RESULT, Caps


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """An agent as its configuration describes it; `check_profile` says whether it makes sense.

    `revision` is the digest of the configuration. `tools` are canonical names in their order (a
    repeated name counts where it stands first). `servers` bring in all their tools as discovered
    ones. `always_defined` are exact names that no cap may push out of the array. `deferred_tools`
    are exact names or globs. `control_tools` are those that may be advertised. `toolsets` and
    `overlays` hold only what this agent lists, each name with its tools.
    """

    name: str
    revision: str
    tools: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    always_defined: tuple[str, ...] = ()
    deferred_tools: tuple[str, ...] = ()
    control_tools: tuple[str, ...] = CONTROL_TOOLS
    disclosure: str = "index"
    caps: Caps = field(default_factory=Caps)
    toolsets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overlays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def named_lists(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The lists that bring tools in by name, each with its configuration key."""
        yield "always_defined", self.always_defined
        yield "tools", self.tools

    @property
    def bridges(self) -> tuple[str, ...]:
        """The control tools that reach what has no definition, in the array's order."""
        return tuple(
            name for name in CONTROL_TOOLS if name in self.control_tools and name != TOOL_RESULT
        )
