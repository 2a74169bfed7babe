"""Which tools get a line in the deferred index, first-fit under its two caps?"""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkeeper_contract import Caps, Reason
from toolkeeper_index import region_overhead, render_region
from toolkeeper_planner.filling import Overflow
from toolkeeper_planner.pricing import Pricing


@dataclass(frozen=True, slots=True)
class Shelved:
    """The index entries in their order, and what found no place, with what stopped it.

    `tokens` sums the lines, `overhead` is the rest of the region; the cap holds for both together.
    """

    entries: tuple[Overflow, ...]
    left: tuple[Overflow, ...]
    prices: dict[str, int]
    tokens: int
    overhead: int


def shelve(
    queue: Sequence[Overflow], caps: Caps, pricing: Pricing, *, search_offered: bool
) -> Shelved:
    """The index over `queue`; an entry keeps its reason, what is left gets a new one.

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


def _shelve(queue: Sequence[Overflow], caps: Caps, pricing: Pricing, *, searchable: int) -> Shelved:
    entries: list[Overflow] = []
    left: list[Overflow] = []
    prices: dict[str, int] = {}
    sources: tuple[str, ...] = ()
    tokens = 0
    overhead = _overhead(sources, pricing, searchable)
    grown: dict[str, int] = {}
    for position, (tool, reason) in enumerate(queue):
        if len(entries) >= caps.index_entries:
            left += [(late, Reason.INDEX_ENTRIES) for late, _ in queue[position:]]
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
            left.append((tool, Reason.INDEX_TOKENS))
            continue
        tokens += price
        prices[tool.name] = price
        entries.append((tool, reason))
        if new:
            sources, overhead = (*sources, source), needed
            grown.clear()
    if not entries:
        overhead = 0
    elif searchable:
        overhead = _overhead(sources, pricing, len(left))
    return Shelved(tuple(entries), tuple(left), prices, tokens, overhead)


def _overhead(sources: tuple[str, ...], pricing: Pricing, searchable: int) -> int:
    return pricing.text(
        region_overhead(sources, searchable=searchable, search_offered=searchable > 0)
    )
