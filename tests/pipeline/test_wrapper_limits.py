"""What fits into a direct call fits into `tool.call`, and what does not ends the same way."""

import json
from typing import Any

import pytest

from toolkeeper.runtime.configuration import Limits
from toolkeeper_contract import Code

LIMITS = Limits(argument_bytes=2_000, argument_depth=8)


def nested(levels: int) -> dict[str, Any]:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"text": value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("levels", [7, 8, 9, 10])
def test_the_wrapper_costs_no_level(office: Any, levels: int) -> None:
    direct = office.one("notes.find", nested(levels), limits=LIMITS)
    wrapped = office.one(
        "tool.call", {"name": "notes.find", "arguments": nested(levels)}, limits=LIMITS
    )
    assert direct.code is wrapped.code is Code.ARGUMENTS_INVALID
    # Too deep to be read, or read and found wrong by the schema.
    assert (direct.arguments is None) is (levels > 8)
    if levels <= 8:
        assert (direct.tool, direct.result) == (wrapped.tool, wrapped.result)


@pytest.mark.parametrize("length", [1_900, 1_980, 1_985])
def test_nor_any_length(office: Any, length: int) -> None:
    arguments = {"text": "x" * length}
    assert office.one("notes.find", json.dumps(arguments), limits=LIMITS).code is None
    wrapper = {"name": "notes.find", "arguments": arguments}
    for sent in (wrapper, json.dumps(wrapper)):
        assert office.one("tool.call", sent, limits=LIMITS).code is None


@pytest.mark.parametrize("length", [2_001, 3_500, 100_000])
def test_what_is_too_long_is_refused_by_either_way(office: Any, length: int) -> None:
    arguments = {"text": "x" * length}
    for name, sent in (
        ("notes.find", arguments),
        ("tool.call", {"name": "notes.find", "arguments": arguments}),
    ):
        assert office.one(name, sent, limits=LIMITS).code is Code.ARGUMENTS_INVALID
