"""Which tools answer a query, best first?"""

import heapq
import re
from collections.abc import Iterable, Sequence
from typing import Any

from toolkeeper_contract import Tool
from toolkeeper_index.answer import SearchAnswer, SearchFailure
from toolkeeper_index.coverage import Coverage
from toolkeeper_index.fields import FIELDS, field_terms
from toolkeeper_index.postings import Postings
from toolkeeper_index.stop_words import STOP_WORDS
from toolkeeper_index.topics import roles
from toolkeeper_index.words import parts, words

DEFAULT_LIMIT = 5
MAX_LIMIT = 20

_MAX_QUERY = 4_096
_MAX_TERMS = 128
# An answer is looked for among this many; below them a match is by chance.
_COVERED = 5
_MAX_NAME = 256
_SEPARATORS = re.compile(r"[_.\-/\s]+")
_AROUND = "`'\"“”,;:!?()[]{}"


class Catalog:
    """The tools that a run can search, indexed once: those of its pins that are not defined."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_name = {tool.name: tool for tool in tools}
        # Sorted, so that a place in the list is a place in the order of names.
        self._tools = tuple(by_name[name] for name in sorted(by_name))
        self._by_name = {tool.name: at for at, tool in enumerate(self._tools)}
        documents = [field_terms(tool) for tool in self._tools]
        self._postings = Postings(documents, FIELDS)
        self._names = [
            {
                part: self._postings.rarity(part)
                for part in parts(tool.identity.raw_name[:_MAX_NAME])
            }
            for tool in self._tools
        ]
        self._spellings = _spellings(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def search(
        self,
        query: Any,
        *,
        limit: Any = None,
        select: Any = None,
        default_limit: int = DEFAULT_LIMIT,
        max_limit: int = MAX_LIMIT,
    ) -> SearchAnswer:
        """The tools that answer `query`, by score and then by name; a failure is a value.

        A tool that the query names comes first. `limit` above `max_limit` means `max_limit`.
        `select` is a list of exact canonical names and is answered instead of `query`, in its
        order. Nothing is coerced: a query that is no string and a limit that is no positive whole
        number are failures.
        """
        if limit is not None and (type(limit) is not int or limit < 1):
            return SearchAnswer(failure=SearchFailure.LIMIT_INVALID)
        if select is not None and select != []:
            return self._selected(select, max_limit)
        if query is not None and not isinstance(query, str):
            return SearchAnswer(failure=SearchFailure.QUERY_NOT_TEXT)
        if query is None or not query.strip():
            return SearchAnswer(failure=SearchFailure.EMPTY_QUERY)
        found = self._ranked(query[:_MAX_QUERY], min(limit or default_limit, max_limit))
        if not found:
            return SearchAnswer(failure=SearchFailure.NO_MATCH)
        return SearchAnswer(tuple(self._tools[at] for at in found))

    def _selected(self, select: Any, max_limit: int) -> SearchAnswer:
        if not isinstance(select, list) or not all(isinstance(name, str) for name in select):
            return SearchAnswer(failure=SearchFailure.SELECT_INVALID)
        names = list(dict.fromkeys(select))
        if len(names) > max_limit:
            return SearchAnswer(failure=SearchFailure.SELECT_INVALID)
        unknown = tuple(select.index(name) + 1 for name in names if name not in self._by_name)
        if unknown:
            return SearchAnswer(failure=SearchFailure.UNKNOWN_NAME, unknown=unknown)
        return SearchAnswer(tuple(self._tools[self._by_name[name]] for name in names))

    def _ranked(self, query: str, limit: int) -> list[int]:
        named = self._named(query)
        terms = list(dict.fromkeys(words(query)))[:_MAX_TERMS]
        if not terms:
            return (named or self._containing(query))[:limit]
        asked = [self._postings.matches(term) for term in terms]
        scores = self._postings.totals(asked)
        best = heapq.nlargest(max(limit, _COVERED), range(len(scores)), key=scores.__getitem__)
        best = [at for at in best if scores[at] > 0]
        if not named:
            coverage = Coverage(
                asked,
                roles(query),
                rarest=self._postings.rarest,
                terms_per_tool=self._postings.terms_per_document,
            )
            if not any(coverage.met(at, self._names[at]) for at in best[:_COVERED]):
                return []
        named.sort(key=lambda at: (-self._nearness(query, at), -scores[at], at))
        return list(dict.fromkeys([*named, *best]))[:limit]

    def _named(self, query: str) -> list[int]:
        """The tools that the whole query names, or that an identifier inside it names."""
        found = dict.fromkeys(self._spellings.get(_spelling(query), ()))
        for part in query.split():
            part = part.strip(_AROUND).rstrip(".")
            if part in self._by_name and _SEPARATORS.search(part):
                found[self._by_name[part]] = None
        return list(found)

    def _nearness(self, query: str, at: int) -> int:
        """How exactly the query names a tool: full name, its own name, another spelling."""
        tool, asked = self._tools[at], query.strip(_AROUND + " \t\n").casefold()
        if asked == tool.name.casefold():
            return 3
        return 2 if asked in _bases(tool) else 1

    def _containing(self, query: str) -> list[int]:
        """For a query without words: the tools that have it somewhere in a name or description."""
        wanted = query.strip().casefold()
        if wanted in STOP_WORDS:
            return []
        return [
            at
            for at, tool in enumerate(self._tools)
            if wanted in tool.name.casefold() or wanted in tool.definition.description.casefold()
        ]


def _spellings(tools: Sequence[Tool]) -> dict[str, list[int]]:
    """Full and own names, without case and separators, to places in `tools`."""
    found: dict[str, dict[int, None]] = {}
    for at, tool in enumerate(tools):
        for name in (tool.name.casefold(), *_bases(tool)):
            found.setdefault(_spelling(name), {})[at] = None
    return {spelling: list(places) for spelling, places in found.items()}


def _bases(tool: Tool) -> tuple[str, str]:
    """A tool's name inside its source, and the last part of it."""
    raw = tool.identity.raw_name.casefold()
    return raw, raw.rpartition(".")[2]


def _spelling(text: str) -> str:
    return _SEPARATORS.sub("", text.strip(_AROUND + " \t\n").casefold())
