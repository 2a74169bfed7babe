"""How well does each document match each term?

BM25 over weighted fields (Robertson, Zaragoza, Taylor 2004). With one field of weight 1 it is the
BM25Okapi of rank-bm25 but for the inverse document frequency: ln(1 + (N - n + 0.5) / (n + 0.5))
stays positive when a term stands in most documents, so every match scores above every non-match,
in a corpus of one or two documents too.
"""

import math
from collections import Counter
from collections.abc import Sequence

from toolkeeper_index.fields import Field

K1 = 1.5
"""How soon repetitions of a term stop counting."""


class Postings:
    """Term -> document -> score, worked out once; a query only adds up."""

    def __init__(
        self, documents: Sequence[Sequence[Counter[str]]], fields: Sequence[Field]
    ) -> None:
        """`documents` hold one counter for each of `fields`."""
        self.size = len(documents)
        lengths = [[counter.total() for counter in document] for document in documents]
        averages = [sum(column) / self.size for column in zip(*lengths, strict=True)]
        frequencies: dict[str, dict[int, float]] = {}
        for at, document in enumerate(documents):
            for place, field in enumerate(fields):
                counter = document[place]
                if not counter:
                    continue
                stretch = lengths[at][place] / averages[place]
                share = field.weight / (1 - field.length + field.length * stretch)
                for term, count in counter.items():
                    found = frequencies.setdefault(term, {})
                    found[at] = found.get(at, 0.0) + share * count
        self._scores: dict[str, dict[int, float]] = {}
        self._rarity: dict[str, float] = {}
        for term, found in frequencies.items():
            rarity = math.log(1 + (self.size - len(found) + 0.5) / (len(found) + 0.5))
            self._rarity[term] = rarity
            self._scores[term] = {at: rarity * tf / (K1 + tf) for at, tf in found.items()}

    def known(self, term: str) -> bool:
        return term in self._scores

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a known term; always above zero."""
        return self._rarity[term]

    def documents(self, term: str) -> dict[int, float]:
        """The documents that have a known term, with its score in each."""
        return self._scores[term]

    def scores(self, terms: Sequence[str]) -> list[float]:
        """The score of every document; zero where no term matches."""
        totals = [0.0] * self.size
        for term in terms:
            for at, score in self._scores.get(term, {}).items():
                totals[at] += score
        return totals
