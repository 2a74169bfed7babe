"""How does the deferred index stand in the prompt?"""

from collections.abc import Iterable, Mapping, Sequence

from toolkeeper_contract import TOOL_CALL, TOOL_SEARCH, Plan, Tool
from toolkeeper_index.convention import Convention
from toolkeeper_index.envelope import closing, opening
from toolkeeper_index.line import index_line

_PRICING_TOKEN = "0123456789abcdef"
"""Stands in for the boundary token, which only the finished plan has."""


def region_overhead(
    sources: Sequence[str],
    *,
    searchable: int = 0,
    search_offered: bool = False,
    call_name: str = TOOL_CALL,
    search_name: str = TOOL_SEARCH,
    listing: str = "index",
    loads: bool = False,
    call_offered: bool = True,
) -> str:
    """Everything of the index region but its entries, to be priced before the plan exists.

    The calling convention, then the two delimiter lines for each foreign source id in `sources`.
    The region's lines are exactly these lines and one entry for each tool: its `index_line`, or
    with `listing="names"` its bare name.
    """
    convention = Convention(listing, loads, call_offered, search_offered, call_name, search_name)
    lines = convention.lines(listed=True, searchable=searchable)
    for source in dict.fromkeys(sources):
        lines += [opening(_PRICING_TOKEN, source), closing(_PRICING_TOKEN)]
    return "\n".join(lines)


def render_region(
    *,
    token: str,
    tools: Sequence[Tool],
    searchable: int = 0,
    search_offered: bool = False,
    call_name: str = TOOL_CALL,
    search_name: str = TOOL_SEARCH,
    listing: str = "index",
    loads: bool = False,
    call_offered: bool = True,
) -> str:
    """The index region, or an empty string when there is nothing to say.

    The calling convention first, then our own tools in their order, then each foreign source, by
    first appearance, with its lines inside one envelope. `searchable` counts the tools that only a
    search can find; it is shown where `search_offered`. `call_name` and `search_name` are the
    names by which the provider knows the control tools. `listing` is `index`, `names` or `none`
    (always an empty string); `loads` says that a search loads what it answers; `call_offered`
    that `tool.call` stands in the array.
    """
    convention = Convention(listing, loads, call_offered, search_offered, call_name, search_name)
    return _region(convention, tools, searchable, token)


def plan_region(
    plan: Plan,
    tools: Mapping[str, Tool],
    *,
    token: str,
    call_name: str = TOOL_CALL,
    search_name: str | None = None,
) -> str:
    """The region of `plan`, as it was priced; `tools` has every deferred tool by canonical name.

    `search_name` left out is the canonical name of the plan's search.
    """
    convention = Convention.of(plan, call_name=call_name, search_name=search_name)
    if convention.listing == "none":
        return ""
    deferred = [tools[name] for name in plan.deferred_names]
    return _region(convention, deferred, len(plan.searchable), token)


def _region(convention: Convention, tools: Iterable[Tool], searchable: int, token: str) -> str:
    if convention.listing == "none":
        return ""
    bare = convention.listing == "names"
    ours: list[str] = []
    theirs: dict[str, list[str]] = {}
    for tool in tools:
        place = theirs.setdefault(tool.identity.source, []) if tool.foreign else ours
        # A name has no character that an envelope would have to encode.
        place.append(tool.name if bare else index_line(tool))
    lines = convention.lines(listed=bool(ours or theirs), searchable=searchable)
    lines += ours
    for source, entries in theirs.items():
        # The entries are encoded already: they are the very text that was priced.
        lines += [opening(token, source), *entries, closing(token)]
    return "\n".join(lines)
