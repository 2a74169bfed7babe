"""What does the configuration say about one agent, as far as planning is concerned?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolkeeper_contract import CONTROL_TOOLS, TOOL_CALL, TOOL_SEARCH, Caps, Tool
from toolkeeper_index import control_tool
from toolkeeper_planner.pin_rule import PinRule


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """An agent as its configuration describes it; `check_profile` says whether it makes sense.

    `revision` is the digest of the configuration. `tools` are canonical names in their order (a
    repeated name counts where it stands first). `servers` bring in all their tools as discovered
    ones. `always_defined` are exact names that no cap may push out of the array. `deferred_tools`
    are exact names or globs. `control_tools` are those that may be advertised, by their own names;
    `search_name` is the name that `tool.search` bears here. `disclosure` is `index`, `search` or
    `native`, `listing` is `index`, `names` or `none`. `pin` moves tools to the front for sessions
    with an attribute. `toolsets` and `overlays` hold only what this agent lists, each name with
    its tools.
    """

    name: str
    revision: str
    tools: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    always_defined: tuple[str, ...] = ()
    deferred_tools: tuple[str, ...] = ()
    control_tools: tuple[str, ...] = CONTROL_TOOLS
    disclosure: str = "index"
    listing: str = "index"
    search_name: str = TOOL_SEARCH
    pin: tuple[PinRule, ...] = ()
    caps: Caps = field(default_factory=Caps)
    toolsets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overlays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def named_lists(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The lists that bring tools in by name, each with its configuration key."""
        yield "always_defined", self.always_defined
        yield "tools", self.tools

    @property
    def calls(self) -> bool:
        """Whether `tool.call` may be advertised."""
        return TOOL_CALL in self.control_tools

    @property
    def searches(self) -> bool:
        """Whether `tool.search` may be advertised, under whatever name."""
        return TOOL_SEARCH in self.control_tools

    @property
    def control_names(self) -> tuple[str, ...]:
        """Names that no candidate can bear: the control tools', and what the search is called."""
        return tuple(dict.fromkeys((*CONTROL_TOOLS, self.search_name)))

    def control(self, role: str) -> Tool:
        """The control tool `role` as this agent's sessions know it."""
        name = self.search_name if role == TOOL_SEARCH else role
        return control_tool(name, role=role, loads=self.disclosure == "search")
