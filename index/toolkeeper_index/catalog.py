"""Which tools answer a query, best first?"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from toolkeeper_contract import Tool
from toolkeeper_index.answer import SearchAnswer, SearchFailure
from toolkeeper_index.parameters import property_schemas
from toolkeeper_index.words import words

_K1 = 1.2
_B = 0.75


class Catalog:
    """The tools that a run can search, indexed once."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(sorted({tool.name: tool for tool in tools}.values(), key=_name))
        self._by_name = {tool.name: tool for tool in self._tools}
        counts = [_counts(tool) for tool in self._tools]
        lengths = [sum(count.values()) for count in counts]
        average = sum(lengths) / len(lengths) if lengths else 0.0
        documents = Counter(term for count in counts for term in count)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for at, count in enumerate(counts):
            norm = _K1 * (1 - _B + _B * lengths[at] / average) if average else _K1
            for term, frequency in count.items():
                found = documents[term]
                idf = math.log(1 + (len(counts) - found + 0.5) / (found + 0.5))
                weight = idf * frequency * (_K1 + 1) / (frequency + norm)
                self._postings.setdefault(term, []).append((at, weight))

    def search(
        self,
        query: Any,
        *,
        limit: Any = None,
        select: Any = None,
        default_limit: int = 5,
        max_limit: int = 20,
    ) -> SearchAnswer:
        """The tools that answer, by score and then name; every failure is a value."""
        if limit is not None and (type(limit) is not int or limit < 1):
            return SearchAnswer(failure=SearchFailure.LIMIT_INVALID)
        if select is not None and select != []:
            return self._selected(select, max_limit)
        if query is None:
            return SearchAnswer(failure=SearchFailure.EMPTY_QUERY)
        if not isinstance(query, str):
            return SearchAnswer(failure=SearchFailure.QUERY_NOT_TEXT)
        if not query.strip():
            return SearchAnswer(failure=SearchFailure.EMPTY_QUERY)
        scores: dict[int, float] = {}
        for term in dict.fromkeys(words(query)):
            for at, weight in self._postings.get(term, ()):
                scores[at] = scores.get(at, 0.0) + weight
        ranked = sorted(scores, key=lambda at: (-scores[at], at))
        if not ranked:
            return SearchAnswer(failure=SearchFailure.NO_MATCH)
        top = ranked[: min(limit or default_limit, max_limit)]
        return SearchAnswer(tuple(self._tools[at] for at in top))

    def _selected(self, select: Any, max_limit: int) -> SearchAnswer:
        if not isinstance(select, list) or not all(isinstance(name, str) for name in select):
            return SearchAnswer(failure=SearchFailure.SELECT_INVALID)
        names = list(dict.fromkeys(select))
        if len(names) > max_limit:
            return SearchAnswer(failure=SearchFailure.SELECT_INVALID)
        unknown = tuple(select.index(name) + 1 for name in names if name not in self._by_name)
        if unknown:
            return SearchAnswer(failure=SearchFailure.UNKNOWN_NAME, unknown=unknown)
        return SearchAnswer(tuple(self._by_name[name] for name in names))


def _name(tool: Tool) -> str:
    return tool.name


def _counts(tool: Tool) -> Counter[str]:
    counts: Counter[str] = Counter(words(tool.name) * 3)
    counts.update(words(tool.definition.description))
    for name, schema in property_schemas(tool.definition.input_schema).items():
        counts.update(words(name))
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            counts.update(words(schema["description"]))
    return counts
