"""How well and how fast does `tool.search` find tools, beside plain BM25?

    python bench/retrieval.py DATA

DATA is a folder with `catalog-*.json` and `retrieval-*.json` files: lists of tools, and queries
with the tools that answer them. For each set: recall at 1, 5 and 10, mean reciprocal rank of the
first right tool, answerable queries that got no answer, and queries that got one although their
right tools had been taken out of the catalog. The last is counted on a sample of the queries, in
small groups whose tools are taken out together; other tools that could answer may remain.
Times are medians of whole searches, in microseconds.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import Catalog
from toolkeeper_index.parameters import property_schemas

TOP = 10
REMOVED_SAMPLE = 100

Ranker = Callable[[str], Sequence[int]]

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
    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Percentages, but for `mrr` (0 to 1) and `median` (microseconds)."""

    recalls: tuple[float, float, float]
    mrr: float
    missed: float
    false_hits: float | None
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
        sets.append(QuerySet(name, tuple(map(tool_of, entries)), queries))
    return sets


def tool_of(entry: dict[str, Any]) -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.MCP, entry["server"], entry["name"]),
        ToolDefinition(
            entry["name"], entry.get("title"), entry.get("description") or "", entry["inputSchema"]
        ),
        CONTROL,
    )


def toolkeeper(tools: Sequence[Tool]) -> Ranker:
    catalog = Catalog(tools)
    places = {tool.name: at for at, tool in enumerate(tools)}
    return lambda text: [places[tool.name] for tool in catalog.search(text, limit=TOP).tools]


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


def measure(
    queries: QuerySet, build: Callable[[Sequence[Tool]], Ranker | None], *, removed: bool
) -> Measured | None:
    ranker = build(queries.tools)
    if ranker is None:
        return None
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
        false_hits(queries, build) if removed else None,
        1e6 * statistics.median(times),
    )


def false_hits(queries: QuerySet, build: Callable[[Sequence[Tool]], Ranker | None]) -> float:
    """The share of sampled queries that are answered without their right tools, in per cent."""
    step = max(1, len(queries.queries) // REMOVED_SAMPLE)
    sample = queries.queries[::step]
    # Building a catalog is what takes time; half a per cent of its tools is not missed.
    group = max(1, len(queries.tools) // 200)
    answered = 0
    for begin in range(0, len(sample), group):
        asked = sample[begin : begin + group]
        gone = frozenset[int]().union(*(query.gold for query in asked))
        ranker = build([tool for at, tool in enumerate(queries.tools) if at not in gone])
        answered += sum(bool(ranker and ranker(query.text)) for query in asked)
    return 100 * answered / len(sample)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the search for tools.")
    parser.add_argument("data", type=Path, help="folder with catalog-*.json and retrieval-*.json")
    data: Path = parser.parse_args().data
    sets = query_sets(data)
    if not sets:
        print(f"no retrieval-*.json in `{data}`", file=sys.stderr)
        return 2
    print(
        "| set (tools, queries) | ranker | R@1 | R@5 | R@10 | MRR | no answer | false hits | µs |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    fifths: dict[str, list[float]] = {}
    for each in sets:
        title = f"{each.name} ({len(each.tools)}, {len(each.queries)})"
        for name, build in (
            ("toolkeeper", toolkeeper),
            ("rank-bm25", plain_okapi),
            ("bm25s", plain_bm25s),
        ):
            measured = measure(each, build, removed=name == "toolkeeper")
            if measured is None:
                continue
            fifths.setdefault(name, []).append(measured.recalls[1])
            recalls = " | ".join(f"{recall:.1f}" for recall in measured.recalls)
            wrong = "" if measured.false_hits is None else f"{measured.false_hits:.1f} %"
            print(
                f"| {title} | {name} | {recalls} | {measured.mrr:.3f} | {measured.missed:.1f} % "
                f"| {wrong} | {measured.median:.0f} |",
                flush=True,
            )
    for name, values in fifths.items():
        print(f"\nMean recall@5 of {name}: {statistics.mean(values):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
