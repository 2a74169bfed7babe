"""Whatever is said in whatever order, an origin is never better than what was heard."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import Origin
from toolkeeper_policy import Heard

WORD = st.text("abcXYZ019", min_size=1, max_size=6)
MARK = st.sampled_from(
    [" ", " ", " ", ", ", ". ", "-", ".", "@", "/", "'", ":", "\n", '"', " (", "_"]
)
TEXT = st.lists(st.tuples(WORD, MARK), max_size=20).map(
    lambda parts: "".join(word + mark for word, mark in parts)
)
ANY = st.text(max_size=60)
RANK = [Origin.USER, Origin.TRUSTED, Origin.UNTRUSTED, Origin.NOWHERE]


@given(before=TEXT, value=st.one_of(TEXT, ANY), after=TEXT)
@settings(max_examples=150, deadline=None)
def test_a_value_between_blanks_is_found(before: str, value: str, after: str) -> None:
    heard = Heard()
    heard.user(f"{before} \u201c{value}\u201d {after}")
    expected = Origin.USER if re.search(r"\w", value.casefold()) else Origin.NOWHERE
    if re.fullmatch(r"[\w .\n]*", value):
        assert heard.origin(value) is expected


@given(texts=st.lists(st.tuples(st.sampled_from(RANK[:3]), TEXT), max_size=8), value=TEXT)
@settings(max_examples=150, deadline=None)
def test_when_somebody_asks_changes_no_answer(texts: list[tuple[Origin, str]], value: str) -> None:
    late, early = Heard(), Heard()
    for origin, text in texts:
        for heard in (late, early):
            getattr(heard, origin.value)(text)
        early.origin(value)
    assert early.origin(value) is late.origin(value) is late.copy().origin(value)


@given(text=TEXT, value=TEXT)
@settings(max_examples=200, deadline=None)
def test_a_positive_value_stands_in_the_text_word_by_word(text: str, value: str) -> None:
    heard = Heard()
    heard.trusted(text)
    if heard.origin(value).positive:
        words = re.findall(r"\w+", text.lower())
        for word in re.findall(r"\w+", value.lower()):
            assert word in words or word.isdigit()


@given(result=TEXT, put_in=TEXT, value=TEXT)
@settings(max_examples=300, deadline=None)
def test_nothing_that_a_call_puts_in_comes_out_trusted(
    result: str, put_in: str, value: str
) -> None:
    heard, alone = Heard(), Heard()
    heard.trusted(f"{result} {put_in} {value}", {"query": put_in, "also": value})
    alone.trusted(result)
    for asked in (put_in, value, *put_in.split()):
        # What the result says by itself, inside longer words of its own, it may go on saying.
        if alone.origin(asked) is Origin.NOWHERE:
            assert heard.origin(asked) is Origin.NOWHERE


@given(text=ANY, value=ANY)
@settings(max_examples=200, deadline=None)
def test_any_text_has_an_answer(text: str, value: str) -> None:
    heard = Heard()
    heard.user(text)
    assert heard.origin(value) in (Origin.USER, Origin.NOWHERE)
    for place in heard.destinations(text + " " + value):
        assert place.origin in (Origin.USER, Origin.NOWHERE)
