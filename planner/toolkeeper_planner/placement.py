"""Where does each candidate go: the array, the index, the search, or nowhere?"""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkeeper_contract import TOOL_CALL, TOOL_RESULT, TOOL_SEARCH, Costs, Placed, Reason, Tool
from toolkeeper_index import control_tool
from toolkeeper_planner.admission import Admitted
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.filling import Filled, Overflow, fill
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.shelving import Shelved, search_hint, shelve

_NO_INDEX = Shelved((), (), {}, 0, 0)


@dataclass(frozen=True, slots=True)
class Placement:
    """The candidates apart: `filled` are defined, `shelved.entries` deferred."""

    filled: Filled
    shelved: Shelved
    searchable: tuple[Tool, ...] = ()
    skipped: tuple[Overflow, ...] = ()
    search_overhead: int = 0

    def costs(self) -> Costs:
        return Costs(
            definition_tokens=self.filled.tokens,
            index_tokens=self.shelved.tokens,
            index_overhead_tokens=self.shelved.overhead + self.search_overhead,
            tools=self.filled.prices | self.shelved.prices,
        )

    def deferred(self) -> tuple[Placed, ...]:
        return tuple(Placed(tool.name, reason) for tool, reason in self.shelved.entries)


def place(
    agent: AgentProfile,
    admitted: Admitted,
    deferrable: frozenset[str],
    pricing: Pricing,
    *,
    results_offloadable: bool,
) -> Placement:
    """Tries without the bridging control tools first, and takes them only when they carry weight.

    `deferrable` are the names deferred by configuration; what is always defined never is. An agent
    without `tool.call` defers nothing.
    """
    # Without a tool there is no result to read on in, and "no tools" has to mean an empty array.
    reader = results_offloadable and TOOL_RESULT in agent.control_tools and admitted.tools
    resident = [control_tool(TOOL_RESULT)] if reader else []
    bridges = agent.bridges
    calls, searches = TOOL_CALL in bridges, TOOL_SEARCH in bridges
    tools = admitted.tools
    wished = _wished(tools, admitted.always, deferrable) if calls else []
    if not wished:
        filled = fill(agent, tools, admitted.always, resident, pricing)
        if not filled.over:
            return Placement(filled, _NO_INDEX)
        if not bridges:
            return Placement(filled, _NO_INDEX, skipped=_without_call(filled.over))
    controls = [*map(control_tool, bridges), *resident]
    set_aside = {tool.name for tool, _ in wished}
    candidates = [tool for tool in tools if tool.name not in set_aside] if wished else tools
    filled = fill(agent, candidates, admitted.always, controls, pricing)
    if not calls:
        found = tuple(tool for tool, _ in filled.over)
        return Placement(filled, _NO_INDEX, found, search_overhead=search_hint(len(found), pricing))
    shelved = shelve([*wished, *filled.over], agent.caps, pricing, search_offered=searches)
    if searches and shelved.left:
        found = tuple(tool for tool, _ in shelved.left)
        hint = 0 if shelved.entries else search_hint(len(found), pricing)
        return Placement(filled, shelved, found, search_overhead=hint)
    if shelved.entries:
        return Placement(filled, shelved, skipped=shelved.left)
    # Not one line found a place, so there is nothing that a bridge could reach: the slots are
    # better used for definitions, those deferred by configuration included.
    filled = fill(agent, tools, admitted.always, resident, pricing)
    reasons = {tool.name: reason for tool, reason in shelved.left}
    return Placement(
        filled,
        _NO_INDEX,
        skipped=tuple(
            (tool, reasons.get(tool.name, Reason.NO_TOOL_CALL)) for tool, _ in filled.over
        ),
    )


def _wished(tools: Sequence[Tool], always: int, deferrable: frozenset[str]) -> list[Overflow]:
    if not deferrable:
        return []
    return [(tool, Reason.CONFIGURED) for tool in tools[always:] if tool.name in deferrable]


def _without_call(over: Sequence[Overflow]) -> tuple[Overflow, ...]:
    return tuple((tool, Reason.NO_TOOL_CALL) for tool, _ in over)
