"""The search on real catalogs and labelled queries, where they are there."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import Catalog

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "every", "plain", "gain"),
    [
        # recall@5 of plain BM25Okapi as bench/retrieval.py measures it, and what we must add
        ("livemcp-tasks", 1, 27.8, 10),
        ("metatool-single-tenth", 3, 47.0, 15),
        ("metatool-multi", 1, 59.6, 18),
        ("sealtools-test-in", 3, 82.0, 4),
        ("bfcl-nonlive", 2, 86.6, 2),
    ],
)
def test_the_right_tools_are_among_the_first_five(
    name: str, every: int, plain: float, gain: float
) -> None:
    path = DATA / f"retrieval-{name}.json"
    if not path.exists():
        pytest.skip("the labelled query sets are not here")
    document = json.loads(path.read_text(encoding="utf-8"))
    catalog = (DATA / document["catalog"]).with_suffix(".json")
    tools = [tool_of(entry) for entry in json.loads(catalog.read_text(encoding="utf-8"))]
    search = Catalog(tools).search
    queries = document["queries"][::every]
    recall, unanswered = 0.0, 0
    for query in queries:
        gold = {"mcp." + name.replace("/", ".", 1) for name in query["gold"]}
        found = {tool.name for tool in search(query["text"]).tools}
        recall += len(gold & found) / len(gold)
        unanswered += not found
    assert 100 * recall / len(queries) >= plain + gain
    assert 100 * unanswered / len(queries) <= 3


@pytest.mark.parametrize(
    "query",
    [
        "play chess",
        "weather in paris tomorrow",
        "send gmail email",
        "book a haircut for friday afternoon",
        "what is on my grocery list",
        "convert 20 euros to yen",
        "Could you please find me a nice hotel with a pool in Crete for the second week of July?",
        "My dishwasher is leaking, please get somebody to repair it today.",
    ],
)
def test_everyday_requests_are_refused_by_a_forge(query: str) -> None:
    assert forge().search(query).tools == ()


@pytest.mark.parametrize(
    "query", ["merge a PR", "list open bugs", "close issue", "edit gist", "blame", "commit history"]
)
def test_a_forge_answers_requests_in_two_words(query: str) -> None:
    assert forge().search(query).tools != ()


@cache
def forge() -> Catalog:
    path = DATA / "catalog-github.json"
    if not path.exists():
        pytest.skip("the catalogs are not here")
    return Catalog([tool_of(entry) for entry in json.loads(path.read_text(encoding="utf-8"))])


def tool_of(entry: dict[str, Any]) -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.MCP, entry["server"], entry["name"]),
        ToolDefinition(entry["name"], None, entry.get("description") or "", entry["inputSchema"]),
        CONTROL,
    )
