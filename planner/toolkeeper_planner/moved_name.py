"""Which names changed their place among the others?"""

from bisect import bisect_left
from collections.abc import Collection, Sequence


def moved_names(
    before: Sequence[str], after: Sequence[str], *, rather: Collection[str] = ()
) -> tuple[str, ...]:
    """The fewest names of both that have to move to get from one order to the other.

    In the order of `after`; each name stands at most once in each. Where several would do it, those
    in `rather` are taken for the ones that moved: what was defined anew, say.
    """
    places = {name: place for place, name in enumerate(before)}
    common = [name for name in after if name in places]
    loose = frozenset(rather)
    firm = [at for at, name in enumerate(common) if name not in loose]
    kept = [firm[at] for at in _in_order([places[common[at]] for at in firm])]
    for at, name in enumerate(common):
        if name in loose:
            slot = bisect_left(kept, at)
            front = places[common[kept[slot - 1]]] if slot else -1
            behind = places[common[kept[slot]]] if slot < len(kept) else len(before)
            if front < places[name] < behind:
                kept.insert(slot, at)
    stays = frozenset(kept)
    return tuple(name for at, name in enumerate(common) if at not in stays)


def _in_order(places: Sequence[int]) -> list[int]:
    """The positions of a longest increasing run (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for at, place in enumerate(places):
        slot = bisect_left(tails, place)
        previous.append(ends[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(place)
            ends.append(at)
        else:
            tails[slot], ends[slot] = place, at
    run: list[int] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(at)
        at = previous[at]
    return run[::-1]
