"""How well does each document match each term?

BM25 over weighted fields (Robertson, Zaragoza, Taylor 2004). With one field of weight 1 it is the
BM25Okapi of rank-bm25 but for the inverse document frequency: ln(1 + (N - n + 0.5) / (n + 0.5))
stays positive when a term stands in most documents, so every match scores above every non-match,
in a corpus of one or two documents too.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolkeeper_index.fields import Field
from toolkeeper_index.synonyms import SYNONYMS, WEIGHT

K1 = 1.5
"""How soon repetitions of a term stop counting."""

_SHORTEST = 4
_ENDING = 2


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
        self.rarest = math.log(1 + (self.size - 0.5) / 1.5)
        """The rarity of a term that one document has, the highest there is."""
        self.terms_per_document = sum(map(len, frequencies.values())) / max(1, self.size)
        self._unstemmed = sorted(
            term for term in frequencies if len(term) >= _SHORTEST and not term.isascii()
        )
        for term, found in frequencies.items():
            rarity = math.log(1 + (self.size - len(found) + 0.5) / (len(found) + 0.5))
            self._rarity[term] = rarity
            self._scores[term] = {at: rarity * tf / (K1 + tf) for at, tf in found.items()}

    def rarity(self, term: str) -> float:
        """The inverse document frequency of `term`, zero where no document has it."""
        return self._rarity.get(term, 0.0)

    def matches(self, term: str) -> "Matches":
        """The documents that have `term` or, at a discount, a word of the same meaning."""
        own = self._scores.get(term)
        others = [other for other in SYNONYMS.get(term, ()) if other in self._scores]
        if own is None and not others and not term.isascii():
            others = self._inflected(term)
        if not others:
            return Matches(term, own or {}, self._rarity.get(term, 0.0))
        rarity = self._rarity.get(term) or max(self._rarity[other] for other in others)
        found: dict[int, float] = {}
        for other in others:
            # A synonym that is rarer than the word must not outweigh the word.
            worth = WEIGHT * min(1.0, rarity / self._rarity[other])
            for at, score in self._scores[other].items():
                if score * worth > found.get(at, 0.0):
                    found[at] = score * worth
        for at, score in (own or {}).items():
            if score > found.get(at, 0.0):
                found[at] = score
        return Matches(term, found, rarity)

    def _inflected(self, term: str) -> list[str]:
        """Known words that differ from `term` in their last letters only (`погоду`, `погода`).

        Only English is stemmed; this is for the other languages that inflect.
        """
        if len(term) < _SHORTEST:
            return []
        start = term[: max(_SHORTEST - 1, len(term) - _ENDING)]
        found = []
        for at in range(bisect_left(self._unstemmed, start), len(self._unstemmed)):
            word = self._unstemmed[at]
            if not word.startswith(start):
                break
            if abs(len(word) - len(term)) <= _ENDING:
                found.append(word)
        return found

    def totals(self, matches: Iterable["Matches"]) -> list[float]:
        """The score of every document; zero where no term matches."""
        totals = [0.0] * self.size
        for each in matches:
            for at, score in each.scores.items():
                totals[at] += score
        return totals


@dataclass(frozen=True, slots=True)
class Matches:
    """Where a term of a query stands: document -> score, always above zero.

    `rarity` is its inverse document frequency, zero for a term that no document has.
    """

    term: str
    scores: Mapping[int, float]
    rarity: float
