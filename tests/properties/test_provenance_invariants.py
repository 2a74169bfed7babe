"""Whatever is said in whatever order, an origin is never better than what was heard."""

import json
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import Origin
from toolkeeper_policy import Heard, provenance
from toolkeeper_policy.provenance_destination import may_be_one_place, named
from toolkeeper_policy.provenance_given import packed, put_in
from toolkeeper_policy.provenance_text import (
    _PIECE,
    SEPARATOR,
    TOKEN,
    first_words,
    normalised,
    tokens,
    without,
    words_of,
)

WORD = st.text("abcXYZ019", min_size=1, max_size=6)
MARK = st.sampled_from(
    [" ", " ", " ", ", ", ". ", "-", ".", "@", "/", "'", ":", "\n", '"', " (", "_"]
)
TEXT = st.lists(st.tuples(WORD, MARK), max_size=20).map(
    lambda parts: "".join(word + mark for word, mark in parts)
)
ANY = st.text(max_size=60)
ODD = st.lists(
    st.sampled_from(["ab", "c1", "_", "A", "\u4e2d", "\u0e01", "\u00e9", "\u03a3", " ", "\n", "\0"])
    | st.sampled_from([*".,-'/@\\\"{}[]:", "'s", "\u2019", "\x7f", "\x1f", "\u00a0"]),
    max_size=24,
).map("".join)
GIVEN = st.dictionaries(
    TEXT | ODD,
    st.recursive(
        TEXT | ODD | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)
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


@given(
    texts=st.lists(st.tuples(st.sampled_from(RANK[:3]), TEXT, GIVEN), max_size=12),
    value=TEXT,
    most=st.integers(1, 8),
)
@settings(max_examples=200, deadline=None)
def test_how_many_texts_wait_changes_no_answer(
    texts: list[tuple[Origin, str, dict[str, Any]]], value: str, most: int
) -> None:
    heard, other = Heard(400), Heard(400)
    for made, waiting in ((heard, most), (other, 2_048)):
        with patch.object(provenance, "MOST_WAITING", waiting):
            for origin, text, put in texts:
                if origin is Origin.TRUSTED:
                    made.trusted(text, put)
                else:
                    getattr(made, origin.value)(text)
    assert heard.origin(value) is other.origin(value)


@given(put=GIVEN, words=st.sets(st.sampled_from(["ab", "c1", "0", "1", "x", "1e", "16", "07"])))
@settings(max_examples=400, deadline=None)
def test_arguments_are_read_alike_by_the_short_way_and_the_long_one(
    put: dict[str, Any], words: set[str]
) -> None:
    text = packed(put)
    found = put_in(text, words) if text else []
    expected = []
    for value in spoken(json.loads(text or "{}")):
        said = value if isinstance(value, str) else json.dumps(value)
        own = words & tokens(normalised(said))
        if own:
            expected.append((value, own))
    assert sorted(map(_told, found)) == sorted(map(_told, expected))


def _told(found: tuple[Any, set[str]]) -> tuple[str, list[str]]:
    return repr(found[0]), sorted(found[1])


def spoken(value: Any) -> Iterator[str | int | float]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from spoken(item)
    elif isinstance(value, list):
        for item in value:
            yield from spoken(item)
    elif value is not None and not isinstance(value, bool):
        yield value


SPELLED = st.lists(
    st.sampled_from([*"0123456789.-/ ()+ax@:", "de89", "bc1", "0x", "\u0663", "example.com", "//"]),
    max_size=40,
).map("".join)


ACCOUNT = st.from_regex(r"[a-z]{2}[0-9]{2}([ -]?[a-z0-9]){11,14}|bc1[a-z]{20}", fullmatch=True)


@given(text=SPELLED | ACCOUNT | ODD)
@settings(max_examples=600, deadline=None)
def test_what_cannot_be_a_place_names_none(text: str) -> None:
    normal = normalised(text)
    if not may_be_one_place(normal):
        kinds = {place.kind for place in named(normal)}
        assert kinds.isdisjoint({"host", "account", "phone"})


@given(text=ODD | ANY)
@settings(max_examples=300, deadline=None)
def test_the_words_of_a_text_are_the_same_however_they_are_found(text: str) -> None:
    normal = normalised(text)
    found = list(TOKEN.finditer(normal))
    words = [match.group() for match in found]
    assert words_of(text) == words
    assert tokens(normal) == set(words)
    assert first_words(normal, 3) == (tuple(words[:3]), found[0].start() if found else 0)


@given(text=ODD | TEXT, foreign=st.sets(WORD | ODD, max_size=12))
@settings(max_examples=300, deadline=None)
def test_each_run_that_is_made_of_some_words_alone_is_left_out(
    text: str, foreign: set[str]
) -> None:
    words = {word for each in foreign for word in words_of(each)}
    normal = normalised(text)

    def kept(match: re.Match[str]) -> str:
        own = set(TOKEN.findall(match.group().removesuffix("'s")))
        return SEPARATOR if own and own <= words else match.group()

    assert without(normal, words) == _PIECE.sub(kept, normal)
