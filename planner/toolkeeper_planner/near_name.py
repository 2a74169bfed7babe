"""Which tools of different sources have names that a model could mistake for each other?"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from toolkeeper_planner.sources import source_of

_LIMIT = 50
"""Groups at most: an event is read by people."""

_MEMBERS = 10
_SHORTEST = 4
"""Letters of the longer name below which one edit says nothing (`get`, `set`)."""

_LONGEST = 64
"""Letters of a name that are compared; a longer one is compared for equality only."""


def near_names(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of canonical names whose last parts are equal or one edit apart, in sorted order.

    Every group has tools of at least two sources; upper and lower case are one. An edit is a
    letter more, less or other, or two neighbours exchanged. At most 50 groups of 10 names.
    The groups of the last few sets of names are remembered: plans over one registry ask again and
    again.
    """
    return _groups(frozenset(names))


@lru_cache(maxsize=16)
def _groups(names: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    owners: dict[str, dict[str, list[str]]] = {}
    for name in sorted(names):
        last = name.rpartition(".")[2].casefold()
        owners.setdefault(last, {}).setdefault(source_of(name), []).append(name)
    if len({source for sources in owners.values() for source in sources}) < 2:
        return ()
    groups: list[tuple[str, ...]] = []
    for left, right in _pairs(sorted(owners)):
        sources = {**owners[left]}
        if left != right:
            if len(owners[left]) == 1 and owners[left].keys() == owners[right].keys():
                continue
            sources = {
                source: [*owners[left].get(source, ()), *owners[right].get(source, ())]
                for source in owners[left].keys() | owners[right].keys()
            }
        elif len(sources) < 2:
            continue
        members = sorted(name for found in sources.values() for name in found)
        groups.append(tuple(members[:_MEMBERS]))
        if len(groups) == _LIMIT:
            break
    return tuple(groups)


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    """Each word with itself, then with every later word one edit away; in sorted order."""
    # Two words are at most one edit apart only if they agree after one letter less in each.
    seen: dict[str, list[str]] = {}
    for word in words:
        if len(word) <= _LONGEST:
            for form in _forms(word):
                seen.setdefault(form, []).append(word)
    for word in words:
        yield word, word
        if len(word) > _LONGEST:
            continue
        near = {
            other
            for form in _forms(word)
            for other in seen[form]
            if other > word and max(len(word), len(other)) >= _SHORTEST
        }
        for other in sorted(near):
            if _one_edit(word, other):
                yield word, other


def _forms(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _one_edit(left: str, right: str) -> bool:
    if len(left) > len(right):
        left, right = right, left
    start = 0
    while start < len(left) and left[start] == right[start]:
        start += 1
    if len(left) < len(right):
        return len(right) - len(left) == 1 and left[start:] == right[start + 1 :]
    swapped = left[start : start + 2] == right[start : start + 2][::-1]
    return left[start + 1 :] == right[start + 1 :] or (
        swapped and left[start + 2 :] == right[start + 2 :]
    )
