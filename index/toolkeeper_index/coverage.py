"""Does a tool match enough of a query to be called an answer?

A wrong tool is worse than none, and a search by words can tell only one kind of wrong one: a tool
that shares a few words with a query about something else. What counts are the query's topics
(`toolkeeper_index.topics`), each with the weight of its rarity, and one that no tool has with the
weight of the rarest. Values count where they match and not where they don't. A tool is an answer

1. if the query has nearly all of its name, action and object;
2. if the query has few words, and so chosen ones, and the tool most of its topics, where one that
   stands in the tool's name counts half as much again;
3. if the query has more words and the tool a share of the topics, which falls with the root of
   their number, since long requests tell stories around their point, and also a fifth of all the
   words that the catalog knows, or less of more than ten.

Where tools say little of themselves, a word missing there says little too. Such catalogs refuse a
query of very few words whose topics hardly match, and a longer one of which the tool has no topic
and the whole catalog several not. Measured by `bench/retrieval.py`; adr/0009 has the numbers.
"""

import math
from collections.abc import Mapping, Sequence

from toolkeeper_index.postings import Matches
from toolkeeper_index.synonyms import SYNONYMS
from toolkeeper_index.topics import Role

_NEARLY_ALL = 0.75
_SHARE = 0.3
_KNOWN = 0.2
_TERMS = 10
_FEW = 5
_MOST = 0.6
_IN_NAME = 0.5

_LITTLE = 16.0
"""Different terms of a tool on average, below which a catalog says little."""
_VERY_FEW = 4
_HARDLY = 0.25
_SEVERAL = 4


class Coverage:
    """The demands of one query on any tool."""

    def __init__(
        self,
        asked: Sequence[Matches],
        roles: Mapping[str, Role],
        *,
        rarest: float,
        terms_per_tool: float,
    ) -> None:
        """`rarest` is the weight of a term that one tool has, `terms_per_tool` an average."""
        # Numbers are arguments, not topics; a query of numbers alone has nothing else.
        words = [each for each in asked if not each.term.isdecimal()]
        if not words:
            words, roles = list(asked), {each.term: Role.TOPIC for each in asked}
        self._words = words
        self._terms = {each.term for each in words}
        topic, value = Role.TOPIC, Role.VALUE
        self._topics = [each for each in words if roles.get(each.term) is topic]
        self._values = [each for each in words if roles.get(each.term) is value]
        self._rarest = rarest
        self._weight = sum(self._weighed(each) for each in self._topics)
        self._known = sum(each.rarity for each in words)
        self._unknown = sum(not each.scores for each in self._topics)
        self._says_little = terms_per_tool < _LITTLE

    def met(self, document: int, name: Mapping[str, float]) -> bool:
        """Whether `document`, the parts of whose name have the rarities `name`, is an answer."""
        matched = [each for each in self._words if document in each.scores]
        if not matched:
            return False
        if len(matched) > 1 and self._named(name):
            return True
        topics = [each for each in self._topics if document in each.scores]
        values = [each for each in self._values if document in each.scores]
        value = sum(self._weighed(each) for each in values)
        weight = self._weight + value
        share = (sum(map(self._weighed, topics)) + value) / weight if weight else 1.0
        if self._says_little:
            if len(self._words) <= _VERY_FEW:
                return share >= _HARDLY
            return bool(topics or values) or self._unknown < _SEVERAL
        if len(self._words) <= _FEW:
            having: float = len(topics) + len(values)
            if any(each.term in name for each in topics):
                having += _IN_NAME
            return share >= _MOST or having > _MOST * (len(self._topics) + len(values))
        if share * math.sqrt(max(1, len(self._topics))) < _SHARE:
            return False
        demand = _KNOWN * min(1.0, _TERMS / len(self._words))
        return sum(each.rarity for each in matched) >= demand * self._known

    def _named(self, name: Mapping[str, float]) -> bool:
        """Whether the query has nearly all of a name."""
        having = sum(
            rarity
            for part, rarity in name.items()
            if part in self._terms or not self._terms.isdisjoint(SYNONYMS.get(part, ()))
        )
        return bool(name) and having >= _NEARLY_ALL * sum(name.values())

    def _weighed(self, each: Matches) -> float:
        return each.rarity if each.scores else self._rarest
