"""Which tools get a line in the deferred index, first-fit under its two caps?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolkeeper_contract import Caps, Tool
from toolkeeper_index import region_overhead, render_region
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


def shelve(queue: Sequence[Tool], caps: Caps, pricing: Pricing, *, search_offered: bool) -> Shelved:
    """The index over `queue`, in its order.

    The region's overhead grows with each foreign source that appears in it, and by a line about
    searching when something is left that a search can find.
    """
    shelved = _shelve(queue, caps, pricing, searchable=0)
    if shelved.left and search_offered:
        # Room for the line that says how many more there are. Its number is not known before the
        # index is filled, and no larger number than this can stand there.
        shelved = _shelve(queue, caps, pricing, searchable=len(queue))
    return shelved


def search_hint(searchable: int, pricing: Pricing) -> int:
    """What the region costs when it has no entry and only says how many tools a search can find."""
    hint = render_region(token="", tools=(), searchable=searchable, search_offered=True)
    return pricing.text(hint)


def _shelve(queue: Sequence[Tool], caps: Caps, pricing: Pricing, *, searchable: int) -> Shelved:
    entries: list[Tool] = []
    left: list[Tool] = []
    late: Sequence[Tool] = ()
    prices: dict[str, int] = {}
    sources: tuple[str, ...] = ()
    tokens = 0
    overhead = _overhead(sources, pricing, searchable)
    grown: dict[str, int] = {}
    for position, tool in enumerate(queue):
        if len(entries) >= caps.index_entries:
            late = queue[position:]
            break
        source = tool.identity.source
        new = tool.foreign and source not in sources
        needed = overhead
        if new:
            if source not in grown:
                grown[source] = _overhead((*sources, source), pricing, searchable)
            needed = grown[source]
        price = pricing.index_line(tool)
        if tokens + price + needed > caps.index_tokens:
            left.append(tool)
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
        overhead = _overhead(sources, pricing, len(left) + len(late))
    return Shelved(tuple(entries), (*left, *late), len(left), prices, tokens, overhead)


def _overhead(sources: tuple[str, ...], pricing: Pricing, searchable: int) -> int:
    return pricing.text(_region_text(sources, searchable))


@lru_cache(maxsize=1_024)
def _region_text(sources: tuple[str, ...], searchable: int) -> str:
    return region_overhead(sources, searchable=searchable, search_offered=searchable > 0)
