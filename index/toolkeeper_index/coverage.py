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

from toolkeeper_index.postings import Postings

_SHARE = 0.2
_TERMS = 10
_SHORT = 3
_NEXT_TO_NOWHERE = 0.02


def covers(postings: Postings, terms: Sequence[str], document: int, name: Container[str]) -> bool:
    """Whether `document`, whose name has the terms `name`, answers a query of these `terms`."""
    # Numbers are arguments, not topics; a query of numbers alone has nothing else.
    asked = [term for term in terms if not term.isdecimal()] or list(terms)
    known = [term for term in asked if postings.known(term)]
    matched = [term for term in known if document in postings.documents(term)]
    if not matched:
        return False
    weight = sum(postings.rarity(term) for term in matched)
    demand = _SHARE * min(1.0, _TERMS / len(asked))
    if weight < demand * sum(postings.rarity(term) for term in known):
        return False
    if len(asked) > _SHORT or len(matched) * 2 >= len(asked):
        return True
    few = max(1.0, postings.size * _NEXT_TO_NOWHERE)
    return any(term in name and len(postings.documents(term)) <= few for term in matched)
