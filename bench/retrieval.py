"""How well and how fast does `tool.search` find tools, beside plain BM25?

    python bench/retrieval.py DATA

DATA is a folder with `catalog-*.json` and `retrieval-*.json` files: lists of tools, and queries
with the tools that answer them. For each set: recall at 1, 5 and 10, mean reciprocal rank of the
first right tool, and how many queries got no answer:

- of its own (`missed`; the fewer the better),
- of its own without their right tools (`removed`; the more the better), on a sample and in small
  groups whose tools are taken out together. Others that could answer may remain;
- of the sets about other catalogs (`foreign`), on a sample. A broad catalog serves some of them.

A second table asks catalogs what `unserved.py` lists: what none of their tools serves, and tools in
two or three words. The third says how far abstention could go on this ranking: how often the first
five are the same with and without the right tools, and how often a tool that remains has as many of
the query's topics as the best right tool among the first five. Times are medians of whole searches,
in microseconds.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi
from unserved import ERRANDS, EVERYDAY, KEYWORDS

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import Catalog
from toolkeeper_index.parameter import property_schemas
from toolkeeper_index.topics import Role, roles
from toolkeeper_index.words import words

TOP = 10
SAMPLE = 100

Ranker = Callable[[str], Sequence[int]]
Build = Callable[[Sequence[Tool]], Ranker | None]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class QuerySet:
    """A catalog and its labelled queries; gold tools are positions in `tools`."""

    name: str
    catalog: str
    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Percentages, but for `mrr` (0 to 1) and `median` (microseconds)."""

    recalls: tuple[float, float, float]
    mrr: float
    missed: float
    median: float


def query_sets(data: Path) -> list[QuerySet]:
    sets = []
    for path in sorted(data.glob("retrieval-*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        catalog = (data / document["catalog"]).with_suffix(".json")
        entries = json.loads(catalog.read_text(encoding="utf-8"))
        places = {f"{entry['server']}/{entry['name']}": at for at, entry in enumerate(entries)}
        queries = tuple(
            Query(query["text"], frozenset(places[gold] for gold in query["gold"]))
            for query in document["queries"]
        )
        name = path.stem.removeprefix("retrieval-")
        stem = document["catalog"].removeprefix("catalog-").removesuffix(".json")
        sets.append(QuerySet(name, stem, tuple(map(tool_of, entries)), queries))
    return sets


def tool_of(entry: dict[str, Any]) -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.MCP, entry["server"], entry["name"]),
        ToolDefinition(
            entry["name"], entry.get("title"), entry.get("description") or "", entry["inputSchema"]
        ),
        CONTROL,
    )


def toolkeeper(tools: Sequence[Tool], limit: int = TOP) -> Ranker:
    catalog = Catalog(tools)
    places = {tool.name: at for at, tool in enumerate(tools)}
    return lambda text: [places[tool.name] for tool in catalog.search(text, limit=limit).tools]


def plain_okapi(tools: Sequence[Tool]) -> Ranker:
    """rank-bm25 as it comes, identifiers split and case folded, nothing else."""
    ranker = BM25Okapi([plain_words(plain_text(tool)) for tool in tools])

    def rank(text: str) -> list[int]:
        scores = ranker.get_scores(plain_words(text))
        order = np.argsort(-scores, kind="stable")[:TOP]
        return [int(at) for at in order if scores[at] > 0]

    return rank


def plain_bm25s(tools: Sequence[Tool]) -> Ranker | None:
    """bm25s over the same words, where it is installed."""
    try:
        import bm25s
    except ImportError:
        return None
    ranker = bm25s.BM25()
    ranker.index([plain_words(plain_text(tool)) for tool in tools], show_progress=False)
    count = min(TOP, len(tools))

    def rank(text: str) -> list[int]:
        found, scores = ranker.retrieve([plain_words(text)], k=count, show_progress=False)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return rank


def plain_text(tool: Tool) -> str:
    definition = tool.definition
    schemas = property_schemas(definition.input_schema)
    described = (
        str(schema.get("description", ""))
        for schema in schemas.values()
        if isinstance(schema, dict)
    )
    return " ".join([definition.name, definition.description, *schemas, *described])


def plain_words(text: str) -> list[str]:
    return [part.lower() for word in _WORD.findall(text) for part in _CAMEL.split(word)]


RANKERS: dict[str, Build] = {
    "toolkeeper": toolkeeper,
    "rank-bm25": plain_okapi,
    "bm25s": plain_bm25s,
}


def measure(queries: QuerySet, ranker: Ranker) -> Measured:
    hits = [0.0, 0.0, 0.0]
    reciprocal = 0.0
    missed = 0
    times = []
    for query in queries.queries:
        begun = time.perf_counter()
        found = ranker(query.text)
        times.append(time.perf_counter() - begun)
        missed += not found
        for place, depth in enumerate((1, 5, 10)):
            hits[place] += len(query.gold & set(found[:depth])) / len(query.gold)
        right = (rank for rank, at in enumerate(found, 1) if at in query.gold)
        reciprocal += 1 / next(right, float("inf"))
    count = len(queries.queries)
    first, fifth, tenth = (100 * hit / count for hit in hits)
    return Measured(
        (first, fifth, tenth),
        reciprocal / count,
        100 * missed / count,
        1e6 * statistics.median(times),
    )


def refused(ranker: Ranker, asked: Sequence[str]) -> float:
    """The share of `asked` that is not answered, in per cent."""
    return 100 * sum(not ranker(text) for text in asked) / len(asked)


def groups(queries: QuerySet) -> Iterator[tuple[Sequence[Query], list[Tool]]]:
    """A sample of the queries in small groups, each with the catalog without its right tools."""
    sample = queries.queries[:: max(1, len(queries.queries) // SAMPLE)]
    # Building a catalog is what takes time; half a per cent of its tools is not missed.
    size = max(1, len(queries.tools) // 200)
    for begin in range(0, len(sample), size):
        asked = sample[begin : begin + size]
        gone = frozenset[int]().union(*(query.gold for query in asked))
        yield asked, [tool for at, tool in enumerate(queries.tools) if at not in gone]


def removed(queries: QuerySet, build: Build) -> float:
    """The share of sampled queries that is refused without their right tools, in per cent."""
    shares = [
        (len(asked), refused(ranker, [query.text for query in asked]))
        for asked, tools in groups(queries)
        if (ranker := build(tools))
    ]
    return sum(count * share for count, share in shares) / sum(count for count, _ in shares)


def foreign(sets: Sequence[QuerySet], own: QuerySet) -> list[str]:
    """Queries of the sets about other catalogs; sets of one family share their subjects."""
    family = own.catalog.partition("-")[0]
    return [
        query.text
        for other in sets
        if other.catalog.partition("-")[0] != family
        for query in other.queries[:: max(1, len(other.queries) // SAMPLE)]
    ]


def bounds(queries: QuerySet) -> tuple[float, float]:
    """How often removal changes none of the first five, or leaves as many topics covered.

    In per cent of the sample. What looks the same before and after cannot be refused after and
    answered before.
    """
    terms = [set(plain_terms(tool)) for tool in queries.tools]
    places = {tool.name: at for at, tool in enumerate(queries.tools)}
    ranker = toolkeeper(queries.tools, limit=5)
    same = covered = count = 0
    for asked, tools in groups(queries):
        catalog = Catalog(tools)
        for query in asked:
            count += 1
            right = query.gold.intersection(ranker(query.text))
            if not right:
                same += 1
                continue
            topics = {term for term, role in roles(query.text).items() if role is not Role.GENERAL}
            rest = [places[tool.name] for tool in catalog.search(query.text, limit=5).tools]
            before = max(len(topics & terms[at]) for at in right)
            covered += max((len(topics & terms[at]) for at in rest), default=-1) >= before
    return 100 * same / count, 100 * (same + covered) / count


def plain_terms(tool: Tool) -> list[str]:
    return words(f"{plain_text(tool)} {tool.identity.source}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the search for tools.")
    parser.add_argument("data", type=Path, help="folder with catalog-*.json and retrieval-*.json")
    data: Path = parser.parse_args().data
    sets = query_sets(data)
    if not sets:
        print(f"no retrieval-*.json in `{data}`", file=sys.stderr)
        return 2
    print_sets(sets)
    print_unlabelled(data)
    print_bounds(sets)
    return 0


def print_sets(sets: Sequence[QuerySet]) -> None:
    columns = "R@1 | R@5 | R@10 | MRR | missed | removed | foreign | µs"
    print(f"| set (tools, queries) | ranker | {columns} |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    fifths: dict[str, list[float]] = {}
    for each in sets:
        title = f"{each.name} ({len(each.tools)}, {len(each.queries)})"
        strange = foreign(sets, each)
        for name, build in RANKERS.items():
            ranker = build(each.tools)
            if ranker is None:
                continue
            measured = measure(each, ranker)
            fifths.setdefault(name, []).append(measured.recalls[1])
            recalls = " | ".join(f"{recall:.1f}" for recall in measured.recalls)
            # The others have no rule of abstention to be measured, and take minutes.
            ours = build is toolkeeper
            gone = f"{removed(each, build):.1f} %" if ours else ""
            strangers = f"{refused(ranker, strange):.1f} %" if ours else ""
            print(
                f"| {title} | {name} | {recalls} | {measured.mrr:.3f} | {measured.missed:.1f} % "
                f"| {gone} | {strangers} | {measured.median:.0f} |",
                flush=True,
            )
    for name, values in fifths.items():
        print(f"\nMean recall@5 of {name}: {statistics.mean(values):.1f}")


def print_unlabelled(data: Path) -> None:
    print("\n| catalog (tools) | ranker | in two words, missed | unserved, refused |")
    print("| --- | --- | ---: | ---: |")
    for name, unserved in (("github", [*EVERYDAY, *ERRANDS]), ("livemcp", ERRANDS)):
        path = data / f"catalog-{name}.json"
        if not path.exists():
            continue
        tools = list(map(tool_of, json.loads(path.read_text(encoding="utf-8"))))
        for title, build in RANKERS.items():
            if ranker := build(tools):
                print(
                    f"| {name} ({len(tools)}) | {title} | {refused(ranker, KEYWORDS[name]):.1f} % "
                    f"| {refused(ranker, unserved):.1f} % |"
                )


def print_bounds(sets: Sequence[QuerySet]) -> None:
    print("\n| set | same first five without the right tools | or as many topics covered |")
    print("| --- | ---: | ---: |")
    for each in sets:
        same, covered = bounds(each)
        print(f"| {each.name} | {same:.1f} % | {covered:.1f} % |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
