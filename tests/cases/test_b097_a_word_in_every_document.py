"""B97: a word that half of the documents have scores nothing, so tiny catalogs find nothing.

Right: an inverse frequency that stays positive; every match stands above every non-match, with one
and two tools too.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkeeper import tool
from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import Catalog

WORDS = ["send", "email", "list", "events", "draw", "picture", "weigh", "parcel"]


def made(name: str, description: str) -> Tool:
    identity = ToolIdentity(SourceKind.FUNCTION, "functions", name)
    return Tool.of(identity, ToolDefinition(name, None, description, {"type": "object"}), CONTROL)


def found(tools: list[Tool], query: str) -> list[str]:
    return [each.name for each in Catalog(tools).search(query, limit=20).tools]


def test_the_reported_documents() -> None:
    tools = [made("a", "send email"), made("b", "list events")]
    assert found(tools, "send") == ["a"]
    assert found(tools, "events") == ["b"]
    assert found(tools[:1], "send") == ["a"]
    assert found([made("a", "send email"), made("b", "send email")], "send") == ["a", "b"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=4),
    st.sampled_from(WORDS),
)
def test_what_has_the_word_is_found_and_what_has_not_is_not_above_it(
    documents: list[list[str]], word: str
) -> None:
    tools = [made(f"t{at}", " ".join(words)) for at, words in enumerate(documents)]
    have = {f"t{at}" for at, words in enumerate(documents) if word in words}
    assert set(found(tools, word)) == have


@pytest.mark.parametrize("count", [1, 2, 3])
def test_in_a_session_with_a_tiny_index(shop: Any, count: int) -> None:
    def extra(number: int) -> Any:
        @tool(name=f"post.send{number}", side_effect="workspace_read")
        def send() -> str:
            """Send a parcel."""
            return "sent"

        return send

    row = shop.one(
        "tool.search",
        {"query": "parcel"},
        more=tuple(extra(number) for number in range(count)),
        deferred_tools=("post.*",),
    )
    assert not row.is_error
    assert row.result.count('"name":"post.send') == count
