"""Whatever the catalog and the query: a total order, and no match below a non-match."""

import math
from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import Catalog, index_line
from toolkeeper_index.fields import Field
from toolkeeper_index.postings import K1, Postings

vocabulary = ["send", "mail", "list", "event", "天気", "file", "read", "cancel"]  # no synonyms
documents = st.lists(
    st.lists(st.sampled_from(vocabulary), min_size=1, max_size=8), min_size=1, max_size=8
)
queries = st.lists(st.sampled_from(vocabulary), min_size=1, max_size=4, unique=True)


def catalog_of(texts: list[list[str]]) -> list[Tool]:
    return [
        Tool.of(
            ToolIdentity(SourceKind.FUNCTION, "functions", f"t{at}"),
            ToolDefinition(f"t{at}", None, " ".join(text), {}),
            CONTROL,
        )
        for at, text in enumerate(texts)
    ]


def totals(postings: Postings, query: list[str]) -> list[float]:
    return postings.totals(postings.matches(word) for word in query)


class SmoothedOkapi(BM25Okapi):
    """rank-bm25 with the inverse document frequency that stays positive: the oracle."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, n in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5))


@given(documents, queries)
def test_one_field_scores_as_rank_bm25_does(texts: list[list[str]], query: list[str]) -> None:
    postings = Postings([[Counter(text)] for text in texts], [Field(1.0, 0.75)])
    expected = SmoothedOkapi(texts, k1=K1, b=0.75).get_scores(query)
    for mine, theirs in zip(totals(postings, query), expected, strict=True):
        # rank-bm25 keeps the constant factor k1 + 1, which moves no rank.
        assert math.isclose(mine * (K1 + 1), theirs, abs_tol=1e-9)


@given(documents, queries)
def test_every_match_scores_above_every_other_document(
    texts: list[list[str]], query: list[str]
) -> None:
    postings = Postings([[Counter(text)] for text in texts], [Field(1.0, 0.75)])
    for text, score in zip(texts, totals(postings, query), strict=True):
        assert (score > 0) is bool(set(text) & set(query))


@given(documents, queries, st.randoms(use_true_random=False))
def test_the_order_of_the_input_means_nothing(
    texts: list[list[str]], query: list[str], random: Random
) -> None:
    tools = catalog_of(texts)
    shuffled = list(tools)
    random.shuffle(shuffled)
    text = " ".join(query)
    assert Catalog(tools).search(text) == Catalog(shuffled).search(text)


@given(documents, st.text(max_size=40), st.integers(1, 30))
def test_any_text_gets_an_answer_within_the_limit(
    texts: list[list[str]], query: str, limit: int
) -> None:
    answer = Catalog(catalog_of(texts)).search(query, limit=limit)
    assert len(answer.tools) <= min(limit, 20)
    assert answer.is_error is (answer.tools == ())


@given(documents, st.data())
def test_a_tool_is_found_first_by_its_name(texts: list[list[str]], data: st.DataObject) -> None:
    tools = catalog_of(texts)
    wanted = data.draw(st.sampled_from(tools))
    assert Catalog(tools).search(wanted.name).tools[0] is wanted


keys = st.sampled_from(
    ["properties", "required", "allOf", "anyOf", "$ref", "enum", "description", "a"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_no_schema_is_too_odd_for_a_line_or_a_search(schema: object) -> None:
    definition = ToolDefinition("t", None, "Odd.", schema)  # type: ignore[arg-type]
    tool = Tool.of(ToolIdentity(SourceKind.FUNCTION, "functions", "t"), definition, CONTROL)
    assert index_line(tool).endswith("Odd.")
    assert Catalog([tool]).search("odd").tools == (tool,)
