"""Which tools are listed without a definition, first-fit under the index's caps?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import maxsize

from toolkeeper_contract import Caps, Tool
from toolkeeper_index import Convention, region_overhead
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.pricing import Pricing


@dataclass(frozen=True, slots=True)
class Shelved:
    """The index entries in their order, and what found no place.

    The first `dear` of `left` had lines too dear, the rest came when the entries were used up.
    `tokens` sums the lines, `overhead` is the rest of the region; the cap holds for both together.
    """

    entries: tuple[Tool, ...]
    left: tuple[Tool, ...]
    dear: int
    prices: dict[str, int]
    tokens: int
    overhead: int


@dataclass(frozen=True, slots=True)
class Shelving:
    """How one agent lists what it defers.

    `lists` says whether there is a list at all. A list of bare names has no cap on its entries,
    and an entry costs the name and a newline; a list of lines costs exactly its lines.
    """

    caps: Caps
    pricing: Pricing
    convention: Convention
    lists: bool

    @classmethod
    def of(cls, agent: AgentProfile, used: str, pricing: Pricing) -> "Shelving":
        convention = Convention(
            listing=agent.listing,
            loads=used == "search",
            call_offered=agent.calls,
            search_offered=agent.searches,
            search_name=agent.search_name,
        )
        # Without `tool.call` only a search that loads makes a listed tool one that can be called.
        lists = agent.listing != "none" and (agent.calls or used == "search")
        return cls(agent.caps, pricing, convention, lists)

    def shelve(self, queue: Sequence[Tool]) -> Shelved:
        """The index over `queue`, in its order.

        The region's overhead grows with each foreign source that appears in it, and by a line
        about searching when something is left that a search can find.
        """
        whole = self.convention.search_offered
        shelved = self._shelve(queue, searchable=0, whole=whole)
        if whole and shelved.left:
            # Room for the line that says how many more there are. Its number is not known before
            # the index is filled, and no larger number than this can stand there.
            shelved = self._shelve(queue, searchable=len(queue), whole=False)
        return shelved

    def hint(self, searchable: int) -> int:
        """The region's price when it lists nothing and only says how many a search can find."""
        text = _hint_text(self.convention, searchable)
        return self.pricing.text(text) if text else 0

    def _shelve(self, queue: Sequence[Tool], *, searchable: int, whole: bool) -> Shelved:
        """First-fit; `whole` asks only whether everything fits, and ends with the first miss."""
        caps, pricing = self.caps, self.pricing
        bare = self.convention.listing == "names"
        most = maxsize if bare else caps.index_entries
        most_tokens = caps.index_tokens
        entries: list[Tool] = []
        left: list[Tool] = []
        late: Sequence[Tool] = ()
        prices: dict[str, int] = {}
        sources: tuple[str, ...] = ()
        tokens = 0
        overhead = self._overhead(sources, searchable)
        grown: dict[str, int] = {}
        for position, tool in enumerate(queue):
            if len(entries) >= most:
                late = queue[position:]
                break
            price = pricing.text(tool.name + "\n") if bare else pricing.index_line(tool)
            needed, new = overhead, False
            source = ""
            # A line that is too dear as it is needs no look at its source.
            if tokens + price + needed <= most_tokens and tool.foreign:
                source = tool.identity.source
                new = source not in sources
                if new:
                    if source not in grown:
                        grown[source] = self._overhead((*sources, source), searchable)
                    needed = grown[source]
            if tokens + price + needed > most_tokens:
                left.append(tool)
                if whole:
                    break
                continue
            tokens += price
            prices[tool.name] = price
            entries.append(tool)
            if new:
                sources, overhead = (*sources, source), needed
                grown.clear()
        if not entries:
            overhead = 0
        elif searchable:
            overhead = self._overhead(sources, len(left) + len(late))
        return Shelved(tuple(entries), (*left, *late), len(left), prices, tokens, overhead)

    def _overhead(self, sources: tuple[str, ...], searchable: int) -> int:
        return self.pricing.text(_overhead_text(self.convention, sources, searchable))


@lru_cache(maxsize=1_024)
def _overhead_text(convention: Convention, sources: tuple[str, ...], searchable: int) -> str:
    return region_overhead(
        sources,
        searchable=searchable,
        search_offered=convention.search_offered,
        search_name=convention.search_name,
        listing=convention.listing,
        loads=convention.loads,
        call_offered=convention.call_offered,
    )


@lru_cache(maxsize=1_024)
def _hint_text(convention: Convention, searchable: int) -> str:
    return "\n".join(convention.lines(listed=False, searchable=searchable))
