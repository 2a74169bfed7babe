"""The difference between two definitions is told in bounds, and drives nobody's terminal."""

from typing import Any

import pytest

from toolkeeper.runtime.definition_change import MAX_CHARACTERS, MAX_PLACES, change
from toolkeeper_contract import ToolDefinition

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}, "n": {"maximum": 1}}}


def definition(**fields: Any) -> ToolDefinition:
    values = {"title": None, "description": "Sends.", "input_schema": SCHEMA, **fields}
    return ToolDefinition(name="send", **values)


def properties(**more: Any) -> dict[str, Any]:
    return {**SCHEMA, "properties": {**SCHEMA["properties"], **more}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {}),
        ({"title": "x"}, {"title": {"was": None, "now": "x"}}),
        ({"input_schema": properties(bcc={})}, {"input_schema": {"added": ["/properties/bcc"]}}),
        (
            {"input_schema": properties(to={"type": "array"})},
            {"input_schema": {"changed": ["/properties/to/type"]}},
        ),
        (
            {"input_schema": {"type": "object"}},
            {"input_schema": {"removed": ["/properties"]}},
        ),
        # Equal to Python, and not to a reader of a schema.
        (
            {"input_schema": properties(n={"maximum": True})},
            {"input_schema": {"changed": ["/properties/n/maximum"]}},
        ),
        (
            {"input_schema": properties(n={"maximum": 1.0})},
            {"input_schema": {"changed": ["/properties/n/maximum"]}},
        ),
        (
            {"input_schema": properties(**{"a/b~c": {}})},
            {"input_schema": {"added": ["/properties/a~1b~0c"]}},
        ),
        ({"output_schema": {}}, {"output_schema": {"changed": [""]}}),
        ({"annotations": {"readOnlyHint": True}}, {"annotations": {"changed": [""]}}),
    ],
)
def test_each_field_that_differs_is_told(fields: Any, expected: Any) -> None:
    assert change(definition(), definition(**fields)) == expected


def test_of_a_new_tool_its_words_are_told() -> None:
    new = definition(title="Send", description="Sends.")
    assert change(None, new) == {
        "title": {"was": None, "now": "Send"},
        "description": {"was": None, "now": "Sends."},
    }


def test_long_and_hostile_words_are_cut_and_cleaned() -> None:
    told = change(definition(), definition(description="\x1b[2J\u202e" + "x" * 5000))
    now = told["description"]["now"]
    assert now == "x" * MAX_CHARACTERS + "..."


def test_many_differences_are_counted_and_not_listed() -> None:
    told = change(
        definition(), definition(input_schema=properties(**{f"p{n}": {} for n in range(90)}))
    )
    assert len(told["input_schema"]["added"]) == MAX_PLACES
    assert told["input_schema"]["more"] == 90 - MAX_PLACES
