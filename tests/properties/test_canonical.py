"""Canonical bytes give back the very value that they were made of."""

import json

from hypothesis import given
from hypothesis import strategies as st

from toolkeeper_contract import canonical_bytes, canonical_value

NUMBERS = (
    st.integers(-(2**70), 2**70)
    | st.integers(-(2**64) - 2, -(2**63) + 2)
    | st.integers(2**63 - 2, 2**64 + 2)
    | st.floats(allow_nan=False, allow_infinity=False)
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.from_regex(r"\A[0-9]{17,21}\Z")
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


def spelled(value):
    return json.dumps(value, sort_keys=True)


@given(VALUES)
def test_the_value_comes_back_with_its_types(value):
    again = canonical_value(canonical_bytes(value))
    assert spelled(again) == spelled(value)
    assert canonical_bytes(again) == canonical_bytes(value)


def test_what_is_too_deep_for_one_reader_comes_back():
    deep = 1
    for _ in range(600):
        deep = [deep]
    again = canonical_value(canonical_bytes(deep))
    for _ in range(600):
        (again,) = again
    assert again == 1
