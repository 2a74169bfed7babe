"""Which names changed their place among the others?"""

from bisect import bisect_left
from collections.abc import Sequence


def moved_names(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The fewest names of both that have to move to get from one order to the other.

    In the order of `after`; each name stands at most once in each.
    """
    places = {name: place for place, name in enumerate(before)}
    common = [name for name in after if name in places]
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for at, name in enumerate(common):
        # The longest run of names that keep their order (patience sorting).
        place = places[name]
        slot = bisect_left(tails, place)
        previous.append(ends[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(place)
            ends.append(at)
        else:
            tails[slot], ends[slot] = place, at
    kept: set[str] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        kept.add(common[at])
        at = previous[at]
    return tuple(name for name in common if name not in kept)
