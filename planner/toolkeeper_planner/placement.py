"""Where does each candidate go: the array, the index, the search, or nowhere?"""

from collections.abc import Set
from dataclasses import dataclass

from toolkeeper_contract import TOOL_CALL, TOOL_RESULT, TOOL_SEARCH, Costs, Placed, Reason, Tool
from toolkeeper_index import control_tool
from toolkeeper_planner.admission import Admitted
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.filling import Filled, fill
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.reasons import all_placed
from toolkeeper_planner.shelving import Shelved, search_hint, shelve

_NO_INDEX = Shelved((), (), 0, {}, 0, 0)


@dataclass(frozen=True, slots=True)
class Placement:
    """The candidates apart: `filled.defined`, `deferred` (`shelved.entries` with their reasons),
    `searchable` and `skipped`. `hint` prices a region that only says what a search can find.
    """

    filled: Filled
    shelved: Shelved = _NO_INDEX
    deferred: tuple[Placed, ...] = ()
    searchable: tuple[Tool, ...] = ()
    skipped: tuple[Placed, ...] = ()
    hint: int = 0

    def costs(self) -> Costs:
        return Costs(
            definition_tokens=self.filled.tokens,
            index_tokens=self.shelved.tokens,
            index_overhead_tokens=self.shelved.overhead + self.hint,
            tools=self.filled.prices | self.shelved.prices,
        )


def place(
    agent: AgentProfile,
    admitted: Admitted,
    deferrable: Set[str],
    pricing: Pricing,
    *,
    results_offloadable: bool,
) -> Placement:
    """Tries without the bridging control tools first, and takes them only when they carry weight.

    `deferrable` are the names deferred by configuration; what is always defined never is. An agent
    without `tool.call` defers nothing.
    """
    tools, always = admitted.tools, admitted.always
    # Without a tool there is no result to read on in, and "no tools" has to mean an empty array.
    reader = results_offloadable and TOOL_RESULT in agent.control_tools and tools
    resident = [control_tool(TOOL_RESULT)] if reader else []
    bridges = agent.bridges
    calls, searches = TOOL_CALL in bridges, TOOL_SEARCH in bridges
    wished = (
        [tool for tool in tools[always:] if tool.name in deferrable] if calls and deferrable else []
    )
    if not wished:
        filled = fill(agent, tools, always, resident, pricing)
        if not filled.over:
            return Placement(filled)
        if not bridges:
            return Placement(filled, skipped=all_placed(filled.over, Reason.NO_TOOL_CALL))
    aside = {tool.name for tool in wished}
    candidates = [tool for tool in tools if tool.name not in aside] if aside else tools
    filled = fill(agent, candidates, always, [*map(control_tool, bridges), *resident], pricing)
    if not calls:
        hint = search_hint(len(filled.over), pricing)
        return Placement(filled, searchable=filled.over, hint=hint)
    shelved = shelve([*wished, *filled.over], agent.caps, pricing, search_offered=searches)
    deferred = _deferred(shelved, aside, filled)
    if searches and shelved.left:
        hint = 0 if deferred else search_hint(len(shelved.left), pricing)
        return Placement(filled, shelved, deferred, searchable=shelved.left, hint=hint)
    reasons = _unshelved(shelved)
    if deferred:
        return Placement(filled, shelved, deferred, skipped=reasons)
    # Not one line found a place, so there is nothing that a bridge could reach: the slots are
    # better used for definitions, those deferred by configuration included.
    filled = fill(agent, tools, always, resident, pricing)
    known = {placed.name: placed for placed in reasons}
    return Placement(
        filled,
        skipped=tuple(
            known.get(tool.name) or Placed(tool.name, Reason.NO_TOOL_CALL) for tool in filled.over
        ),
    )


def _deferred(shelved: Shelved, aside: Set[str], filled: Filled) -> tuple[Placed, ...]:
    dear = {tool.name for tool in filled.over[: filled.dear]}

    def reason(name: str) -> Reason:
        if name in aside:
            return Reason.CONFIGURED
        return Reason.DEFINITION_TOKENS if name in dear else Reason.DEFINITION_CAP

    return tuple(Placed(tool.name, reason(tool.name)) for tool in shelved.entries)


def _unshelved(shelved: Shelved) -> tuple[Placed, ...]:
    return (
        *all_placed(shelved.left[: shelved.dear], Reason.INDEX_TOKENS),
        *all_placed(shelved.left[shelved.dear :], Reason.INDEX_ENTRIES),
    )
