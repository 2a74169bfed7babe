"""Arguments are read once, strictly."""

import importlib
import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import Code
from toolkeeper_pipeline.call import Call
from toolkeeper_pipeline.limits import Limits
from toolkeeper_pipeline.receive import receive
from toolkeeper_pipeline.states import ShapeFault

receiving = importlib.import_module("toolkeeper_pipeline.receive")
LIMITS = Limits(argument_bytes=1_000, argument_depth=8)


def arguments_of(arguments: object) -> object:
    return receive(Call("c1", "x", arguments), LIMITS).arguments


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '"x"',
        "7",
        "null",
        "true",
        "",
        "  ",
        "{",
        '{"a":1}{"b":2}',
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":2}}',
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":-Infinity}',
        '{"a":1e999}',
        '{"a":"\\ud800"}',
        '{"\\udfff":1}',
        "\ufeff{}",
        "{'a':1}",
        '{"a":1,}',
        '{"a":' + "9" * 400 + "}",
        '{"a":' + "[" * 9 + "]" * 9 + "}",
        '{"a":"' + "x" * 1_000 + '"}',
        '{"a":' * 2_000,
        '"[1]"',
        '"\\"{}\\""',
        "[" * 100_000,
    ],
)
def test_text_that_is_not_one_readable_object_is_a_fault(text: str) -> None:
    fault = arguments_of(text)
    assert isinstance(fault, ShapeFault)
    assert fault.code is Code.ARGUMENTS_INVALID
    assert len(fault.raw_digest) == 64
    assert len(fault.text) < 200


@pytest.mark.parametrize(
    "value",
    [
        [1],
        "x",
        7,
        None,
        True,
        {1: 2},
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": "\ud800"},
        {"\ud800": 1},
        {"a": object()},
        {"a": {1, 2}},
        {"a": 10**400},
        {"a": (1, 2)},
        {"a": b"x"},
    ],
)
def test_a_parsed_value_is_held_to_the_same_rules(value: object) -> None:
    assert isinstance(arguments_of(value), ShapeFault)


def test_an_object_arrives_as_it_was_sent() -> None:
    text = '{"a": 1, "b": 1.0, "c": [null, true, "\\u00e9"], "": {}}'
    assert arguments_of(text) == {"a": 1, "b": 1.0, "c": [None, True, "é"], "": {}}
    assert arguments_of({"a": [1, {"b": None}]}) == {"a": [1, {"b": None}]}


def test_an_object_encoded_twice_is_decoded_once() -> None:
    received = receive(Call("c1", "x", '"{\\"q\\": \\"x\\"}"'), LIMITS)
    assert received.arguments == {"q": "x"}
    assert received.decoded
    assert not receive(Call("c1", "x", '{"q": "x"}'), LIMITS).decoded


def test_a_fault_never_quotes_the_input() -> None:
    fault = arguments_of('{"password": "hunter2"')
    assert isinstance(fault, ShapeFault)
    assert "hunter2" not in fault.text


def test_a_number_is_read_as_far_as_a_double_goes() -> None:
    for number in (2**1024 - 1, -(2**1024) + 1, 10**300):
        assert arguments_of(f'{{"a": {number}}}') == {"a": number}
    for number in (2**1024, -(2**1024), 10**310, -(10**400)):
        for sent in (f'{{"a": {number}}}', {"a": number}):
            fault = arguments_of(sent)
            assert isinstance(fault, ShapeFault)
            assert "out of range" in fault.text


def test_what_the_caller_changes_afterwards_changes_nothing() -> None:
    inner = {"c": 2}
    sent = {"a": {"b": [1, inner]}, "d": "x"}
    arguments = arguments_of(sent)
    inner["c"] = 3
    sent["d"] = "y"
    assert arguments == {"a": {"b": [1, {"c": 2}]}, "d": "x"}


_TEXTS = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.text('ab\u00e9\u4e2d\ud800\\"/u', max_size=8)
    | st.sampled_from([10**299, 10**308, 2**1024 - 1, 2**1024, -(2**1024), -(10**310), 1e308]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\ud800", max_size=3), inner)
    ),
    max_leaves=6,
)


@given(_TEXTS, st.booleans(), st.integers(4, 40), st.integers(1, 4), st.booleans())
@settings(max_examples=400, deadline=None)
def test_no_fault_escapes_because_a_text_looks_plain(
    value: Any, ascii_only: bool, size: int, depth: int, twice: bool
) -> None:
    limits = Limits(argument_bytes=size * 5, argument_depth=depth)
    text = json.dumps({"a": value} if depth % 2 else value, ensure_ascii=ascii_only)
    other = json.dumps(text) if twice else text.replace("\\ud", "\\uD")
    for each in (text, other, text.replace("a", "\\u0061")):
        call = Call("c1", "x", each)
        with patch.object(receiving, "_is_plain", return_value=False):
            expected = receive(call, limits)
        assert receive(call, limits) == expected
