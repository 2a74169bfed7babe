"""Does a tool match enough of a query to be called an answer?

A wrong tool is worse than none, and a search by words can tell only one kind of wrong one: a tool
that shares a word or two with a query about something else. Two demands tell it, both measured by
`bench/retrieval.py`:

1. Of the terms that the catalog knows, weighed by rarity, the tool has a fifth. Long requests
   tell stories around their point, so beyond ten terms the demand falls with their number.
2. A query of up to three terms is a few chosen words, and terms that the catalog does not know
   count as well: half of them must match, or one that stands in the tool's name and next to
   nowhere else.
"""

from collections.abc import Container, Sequence

from toolkeeper_index.postings import Matches
from toolkeeper_index.synonyms import SYNONYMS

_SHARE = 0.2
_TERMS = 10
_SHORT = 3
_NEXT_TO_NOWHERE = 0.02


def covers(
    asked: Sequence[Matches], document: int, name: Container[str], catalog_size: int
) -> bool:
    """Whether `document`, whose name has the terms `name`, answers a query of the terms `asked`."""
    # Numbers are arguments, not topics; a query of numbers alone has nothing else.
    asked = [each for each in asked if not each.term.isdecimal()] or asked
    matched = [each for each in asked if document in each.scores]
    if not matched:
        return False
    demand = _SHARE * min(1.0, _TERMS / len(asked))
    if sum(each.rarity for each in matched) < demand * sum(each.rarity for each in asked):
        return False
    if len(asked) > _SHORT or len(matched) * 2 >= len(asked):
        return True
    few = max(1.0, catalog_size * _NEXT_TO_NOWHERE)
    return any(_named(each.term, name) and len(each.scores) <= few for each in matched)


def _named(term: str, name: Container[str]) -> bool:
    return term in name or any(other in name for other in SYNONYMS.get(term, ()))
