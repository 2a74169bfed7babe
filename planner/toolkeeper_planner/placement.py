"""Where does each candidate go: the array, the index, the search, or nowhere?"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from toolkeeper_contract import TOOL_CALL, TOOL_RESULT, TOOL_SEARCH, Costs, Placed, Reason, Tool
from toolkeeper_planner.admission import Admitted
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.filling import Filled, append_loaded, fill
from toolkeeper_planner.pricing import Pricing
from toolkeeper_planner.reasons import all_placed, placed
from toolkeeper_planner.shelving import Shelved, Shelving

_NO_INDEX = Shelved((), (), 0, {}, 0, 0)


@dataclass(frozen=True, slots=True)
class Request:
    """What a placement is asked for besides its candidates.

    `deferrable` are the names deferred by configuration. `used` is the way to disclose. `loaded`
    are names in load order, each once. `forced` has to be defined.
    """

    used: str
    deferrable: Set[str]
    results_offloadable: bool
    loaded: tuple[str, ...] = ()
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
        free = _Board(agent, admitted, replace(request, forced=None), pricing).placement()
        if forced in free.filled.defined or forced in free.filled.loaded:
            return free
    return _Board(agent, admitted, request, pricing).placement()


@dataclass(frozen=True, slots=True)
class _Board:
    agent: AgentProfile
    admitted: Admitted
    request: Request
    pricing: Pricing

    def placement(self) -> Placement:
        """Tries without the bridging control tools first, and takes them only when they carry
        weight.

        What is always defined or pinned is never deferred by configuration. Where nothing reaches
        a tool without a definition, nothing is deferred.
        """
        native = self.request.used == "native"
        bridges = self._bridges()
        wished: list[Tool] = []
        if native or self.request.used == "search" or TOOL_CALL in bridges:
            wished = self._wished()
        # More tools than slots, and something to reach them by: no need to try.
        crowded = len(self.admitted.tools) > self.agent.caps.definitions and (native or bridges)
        if not wished and not crowded:
            filled = self._fill(())
            if not filled.over:
                return Placement(filled)
            if not (native or bridges):
                return Placement(filled, skipped=all_placed(filled.over, Reason.NO_TOOL_CALL))
        aside = {tool.name for tool in wished}
        filled = self._fill(bridges, aside)
        queue = [*(tool for tool in wished if tool is not self.request.forced), *filled.over]
        if native:
            # The provider finds them, and keeps what it found deferred.
            listed = tuple(queue)
            return Placement(filled, listed, _deferred(listed, aside, filled))
        return self._shelved(bridges, aside, filled, queue)

    def _bridges(self) -> tuple[str, ...]:
        """The control tools that reach what has no definition, in the array's order."""
        agent = self.agent
        if self.request.used == "native":
            return ()
        if agent.listing == "none" and not agent.searches:
            # Nothing would tell of the tools, so nothing could reach them.
            return ()
        return tuple([name for name in (TOOL_CALL, TOOL_SEARCH) if name in agent.control_tools])

    def _wished(self) -> list[Tool]:
        """What configuration defers, a forced tool too: with or without it the rest stays."""
        names = self.request.deferrable
        if not names:
            return []
        return [tool for tool in self.admitted.tools[self.admitted.front :] if tool.name in names]

    def _fill(self, bridges: tuple[str, ...], aside: Set[str] = frozenset()) -> Filled:
        """The array of everything but what stands `aside`, and with these control tools."""
        agent, forced = self.agent, self.request.forced
        tools: Sequence[Tool] = self.admitted.tools
        # Without a tool there is no result to read on in, and "no tools" has to mean an empty
        # array.
        reader = (
            self.request.results_offloadable and TOOL_RESULT in agent.control_tools and bool(tools)
        )
        roles = (*bridges, TOOL_RESULT) if reader else bridges
        controls = [agent.control(role) for role in roles]
        if aside or forced is not None:
            tools = [tool for tool in tools if tool.name not in aside and tool is not forced]
        return fill(agent, self.admitted, tools, controls, self.pricing, forced)

    def _shelved(
        self, bridges: tuple[str, ...], aside: Set[str], filled: Filled, queue: Sequence[Tool]
    ) -> Placement:
        agent, request, pricing = self.agent, self.request, self.pricing
        searches = TOOL_SEARCH in bridges
        shelving = Shelving.of(agent, request.used, pricing)
        if not searches:
            shelved = shelving.shelve(queue)
            if not shelved.entries:
                return self._unbridged(shelved)
        overflow: tuple[Placed, ...] = ()
        if request.loaded:
            # INVARIANT: nothing above looks at what is loaded, so loading only appends.
            filled, queue, overflow = append_loaded(
                filled, queue, request.loaded, agent.caps, pricing
            )
        if not shelving.lists:
            hint = shelving.hint(len(queue))
            return Placement(filled, searchable=tuple(queue), overflow=overflow, hint=hint)
        shelved = shelving.shelve(queue)
        deferred = _deferred(shelved.entries, aside, filled)
        placement = Placement(filled, shelved.entries, deferred, shelved=shelved)
        if searches:
            hint = 0 if deferred else shelving.hint(len(shelved.left))
            return replace(placement, searchable=shelved.left, overflow=overflow, hint=hint)
        skipped = _unshelved(shelved)
        lost = {row.name for row in skipped}
        kept = tuple([row for row in overflow if row.name not in lost])
        return replace(placement, skipped=skipped, overflow=kept)

    def _unbridged(self, shelved: Shelved) -> Placement:
        # Not one line found a place, so there is nothing that a bridge could reach: the slots are
        # better used for definitions, those deferred by configuration included.
        filled = self._fill(())
        known = {row.name: row for row in _unshelved(shelved)}
        return Placement(
            filled,
            skipped=tuple(
                known.get(tool.name) or placed(tool.name, Reason.NO_TOOL_CALL)
                for tool in filled.over
            ),
        )


def _deferred(listed: tuple[Tool, ...], aside: Set[str], filled: Filled) -> tuple[Placed, ...]:
    dear = {tool.name for tool in filled.over[: filled.dear]}

    def reason(name: str) -> Reason:
        if name in aside:
            return Reason.CONFIGURED
        return Reason.DEFINITION_TOKENS if name in dear else Reason.DEFINITION_CAP

    return tuple([placed(tool.name, reason(tool.name)) for tool in listed])


def _unshelved(shelved: Shelved) -> tuple[Placed, ...]:
    return (
        *all_placed(shelved.left[: shelved.dear], Reason.INDEX_TOKENS),
        *all_placed(shelved.left[shelved.dear :], Reason.INDEX_ENTRIES),
    )
