"""Where does each candidate go: the array, the index, the search, or nowhere?"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from toolkeeper_contract import TOOL_CALL, TOOL_RESULT, TOOL_SEARCH, Costs, Placed, Reason, Tool
from toolkeeper_planner.admission import Admitted
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.filling import Filled, append_loaded, fill
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.reasons import all_placed
from toolkeeper_planner.shelving import Shelved, Shelving

_NO_INDEX = Shelved((), (), 0, {}, 0, 0)


@dataclass(frozen=True, slots=True)
class Request:
    """What a placement is asked for besides its candidates.

    `deferrable` are the names deferred by configuration. `used` is the way to disclose. `loaded`
    maps names to fingerprints in load order. `forced` has to be defined.
    """

    used: str
    deferrable: Set[str]
    results_offloadable: bool
    loaded: Mapping[str, str] = field(default_factory=dict)
    forced: Tool | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """The candidates apart: `filled`, `deferred` (`listed` with their reasons), `searchable` and
    `skipped`. `overflow` are loaded ones that found no room in the array. `hint` prices a region
    that only says what a search can find.
    """

    filled: Filled
    listed: tuple[Tool, ...] = ()
    deferred: tuple[Placed, ...] = ()
    searchable: tuple[Tool, ...] = ()
    skipped: tuple[Placed, ...] = ()
    overflow: tuple[Placed, ...] = ()
    shelved: Shelved = _NO_INDEX
    hint: int = 0

    def costs(self) -> Costs:
        lines = self.shelved.prices
        if len(lines) < len(self.listed):
            # A definition that the provider keeps aside costs nothing until it is found.
            lines = dict.fromkeys((tool.name for tool in self.listed), 0)
        return Costs(
            definition_tokens=self.filled.tokens,
            index_tokens=self.shelved.tokens,
            index_overhead_tokens=self.shelved.overhead + self.hint,
            tools=self.filled.prices | lines,
        )


def place(agent: AgentProfile, admitted: Admitted, request: Request, pricing: Pricing) -> Placement:
    """The placement; a forced tool that finds its way into the array anyway changes nothing."""
    forced = request.forced
    if forced is not None:
        free = _place(agent, admitted, replace(request, forced=None), pricing)
        if forced in free.filled.defined or forced in free.filled.loaded:
            return free
    return _place(agent, admitted, request, pricing)


def _place(
    agent: AgentProfile, admitted: Admitted, request: Request, pricing: Pricing
) -> Placement:
    """Tries without the bridging control tools first, and takes them only when they carry weight.

    What is always defined or pinned is never deferred by configuration. Where nothing reaches a
    tool without a definition, nothing is deferred.
    """
    tools, forced, native = admitted.tools, request.forced, request.used == "native"
    # Without a tool there is no result to read on in, and "no tools" has to mean an empty array.
    reader = request.results_offloadable and TOOL_RESULT in agent.control_tools and tools
    resident = [agent.control(TOOL_RESULT)] if reader else []
    bridges = _bridges(agent, request.used)
    defers = native or request.used == "search" or TOOL_CALL in bridges
    wished: list[Tool] = []
    if defers and request.deferrable:
        wished = [t for t in tools[admitted.front :] if t.name in request.deferrable]
    others = tools if forced is None else tuple([t for t in tools if t is not forced])
    if not wished:
        filled = fill(agent, admitted, others, resident, pricing, forced)
        if not filled.over:
            return Placement(filled)
        if not bridges and not native:
            return Placement(filled, skipped=all_placed(filled.over, Reason.NO_TOOL_CALL))
    aside = {tool.name for tool in wished}
    candidates = tuple([t for t in others if t.name not in aside]) if aside else others
    controls = [*map(agent.control, bridges), *resident]
    filled = fill(agent, admitted, candidates, controls, pricing, forced)
    queue = [*(tool for tool in wished if tool is not forced), *filled.over]
    if native:
        # The provider finds them, and keeps what it found deferred.
        listed = tuple(queue)
        return Placement(filled, listed, _deferred(listed, aside, filled))
    searches = TOOL_SEARCH in bridges
    shelving = Shelving.of(agent, request.used, pricing)
    if not searches and not shelving.shelve(queue).entries:
        return _unbridged(agent, admitted, others, resident, forced, shelving, queue, pricing)
    overflow: tuple[Placed, ...] = ()
    rest: Sequence[Tool] = queue
    if request.loaded:
        filled, rest, overflow = append_loaded(filled, queue, request.loaded, agent.caps, pricing)
    if not shelving.lists:
        return Placement(
            filled, searchable=tuple(rest), overflow=overflow, hint=shelving.hint(len(rest))
        )
    shelved = shelving.shelve(rest)
    deferred = _deferred(shelved.entries, aside, filled)
    if searches:
        hint = 0 if deferred else shelving.hint(len(shelved.left))
        return Placement(
            filled, shelved.entries, deferred, shelved.left, (), overflow, shelved, hint
        )
    skipped = _unshelved(shelved)
    lost = {placed.name for placed in skipped}
    return Placement(
        filled,
        shelved.entries,
        deferred,
        skipped=skipped,
        overflow=tuple([placed for placed in overflow if placed.name not in lost]),
        shelved=shelved,
    )


def _bridges(agent: AgentProfile, used: str) -> tuple[str, ...]:
    """The control tools that reach what has no definition, in the array's order."""
    if used == "native":
        return ()
    if agent.listing == "none" and not agent.searches:
        # Nothing would tell of the tools, so nothing could reach them.
        return ()
    return tuple(name for name in (TOOL_CALL, TOOL_SEARCH) if name in agent.control_tools)


def _unbridged(
    agent: AgentProfile,
    admitted: Admitted,
    tools: tuple[Tool, ...],
    resident: list[Tool],
    forced: Tool | None,
    shelving: Shelving,
    queue: list[Tool],
    pricing: Pricing,
) -> Placement:
    # Not one line found a place, so there is nothing that a bridge could reach: the slots are
    # better used for definitions, those deferred by configuration included.
    filled = fill(agent, admitted, tools, resident, pricing, forced)
    known = {placed.name: placed for placed in _unshelved(shelving.shelve(queue))}
    return Placement(
        filled,
        skipped=tuple(
            known.get(tool.name) or Placed(tool.name, Reason.NO_TOOL_CALL) for tool in filled.over
        ),
    )


def _deferred(listed: tuple[Tool, ...], aside: Set[str], filled: Filled) -> tuple[Placed, ...]:
    dear = {tool.name for tool in filled.over[: filled.dear]}

    def reason(name: str) -> Reason:
        if name in aside:
            return Reason.CONFIGURED
        return Reason.DEFINITION_TOKENS if name in dear else Reason.DEFINITION_CAP

    return tuple([Placed(tool.name, reason(tool.name)) for tool in listed])


def _unshelved(shelved: Shelved) -> tuple[Placed, ...]:
    return (
        *all_placed(shelved.left[: shelved.dear], Reason.INDEX_TOKENS),
        *all_placed(shelved.left[shelved.dear :], Reason.INDEX_ENTRIES),
    )
