"""Whatever a text holds and however small a page is: the pages are the text, and they end."""

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper.runtime.redaction import MASK, Redactor
from toolkeeper_contract import Blob, Text, ToolResult
from toolkeeper_index.envelope import encoded
from toolkeeper_pipeline.bounds import bounded, oversize
from toolkeeper_pipeline.limits import Limits
from toolkeeper_pipeline.reading import cut, page, readable

TEXTS = st.text(
    st.one_of(
        st.sampled_from("<>&a\n\r\u0301\u200d\ufe0f\U0001f468\U0001f3fb\ud800\udc00e"),
        st.characters(),
    ),
    max_size=120,
).map(readable)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)
PARTS = TEXTS.map(Text) | st.binary(max_size=9).map(lambda data: Blob(data, "a/b"))


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(1, 40), st.integers(1, 60), st.booleans())
def test_pages_are_the_text_and_come_to_an_end(
    text: str, length: int, limit: int, foreign: bool
) -> None:
    offset, pages = 0, []
    while offset < len(text):
        shown, end = page(text, offset, length, limit, encoded=foreign)
        assert end > offset
        size = len((encoded(shown) if foreign else shown).encode())
        assert size <= limit or len(shown) == 1
        assert len(shown) <= length
        pages.append(shown)
        offset = end
    assert "".join(pages) == text


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(0, 200), st.booleans())
def test_a_cut_text_fits_and_says_its_sizes(text: str, limit: int, foreign: bool) -> None:
    shown, size, total = cut(text, limit, encoded=foreign)
    write = encoded if foreign else str
    assert text.startswith(shown)
    assert size == len(write(shown).encode()) <= max(limit, 0) or size == total
    assert total == len(write(text).encode())
    assert (shown == text) == (total <= limit)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.integers(1, 5), st.integers(1, 30), st.integers(0, 40))
def test_the_walk_agrees_with_a_plain_count(
    value: object, depth: int, nodes: int, size: int
) -> None:
    def deep(item: object) -> int:
        below = item.values() if isinstance(item, dict) else item
        if not isinstance(item, dict | list):
            return 0
        return 1 + max(map(deep, below), default=0)  # type: ignore[arg-type]

    def count(item: object) -> int:
        if isinstance(item, dict):
            return 1 + sum(map(count, item.values()))
        return 1 + sum(map(count, item)) if isinstance(item, list) else 1

    def characters(item: object) -> int:
        if isinstance(item, dict):
            return sum(map(characters, item.values()))
        if isinstance(item, list):
            return sum(map(characters, item))
        return len(item) if isinstance(item, str) else 0

    within = deep(value) <= depth and count(value) <= nodes and characters(value) <= size
    assert (oversize(value, depth=depth, nodes=nodes, size=size) is None) == within


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(TEXTS.map(Text), st.binary(max_size=9).map(lambda b: Blob(b, "a/b"))), max_size=9
    ),
    st.integers(1, 9),
)
def test_what_is_left_out_is_counted(parts: list[Text | Blob], blocks: int) -> None:
    within = bounded(ToolResult(tuple(parts)), Limits(result_blocks=blocks))
    rest = parts[blocks:]
    others = [part for part in rest if isinstance(part, Blob)]
    assert within.result.parts[:blocks] == tuple(parts[:blocks])
    assert bool(within.notes) == bool(others)
    texts = [part.text for part in parts if isinstance(part, Text)]
    kept = [part.text for part in within.result.parts if isinstance(part, Text)]
    assert "\n".join(kept) == "\n".join(texts)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1), st.sampled_from("abc"))
def test_a_pointer_masks_its_value_and_leaves_the_others(
    value: dict[str, object], key: str
) -> None:
    redacted, masked = Redactor().redact(value, [f"/{key}"])
    if key in value:
        assert redacted[key] == MASK
        assert f"/{key}" in masked
    plain, _ = Redactor().redact(value)
    assert {k: v for k, v in redacted.items() if k != key} == {
        k: v for k, v in plain.items() if k != key
    }
    again, _ = Redactor().redact(redacted, [f"/{key}"])
    assert again == redacted
