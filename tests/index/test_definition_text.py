"""Foreign descriptions in a tools array."""

from typing import Any

from toolkeeper_index import cleaned_definition_text, cleaned_schema


def test_a_description_is_cleaned_and_capped() -> None:
    assert cleaned_definition_text("a\u202eb\x1b[2K") == "ab"
    assert len(cleaned_definition_text("x" * 5_000_000)) == 4_096
    assert cleaned_definition_text("one two three four five", 16) == "one two three…"
    assert cleaned_definition_text("\u2060" * 5_000 + "x") == "x"


def test_every_description_in_a_schema_is_cleaned() -> None:
    schema = {
        "description": "a\u202eb",
        "properties": {
            "description": {"type": "string", "description": "c\u2060d", "title": "t\x1b[2K"},
            "title": {"anyOf": [{"description": "e\ufefff"}, True]},
        },
    }
    assert cleaned_schema(schema) == {
        "description": "ab",
        "properties": {
            "description": {"type": "string", "description": "cd", "title": "t"},
            "title": {"anyOf": [{"description": "ef"}, True]},
        },
    }
    assert schema["description"] == "a\u202eb"


def test_what_validates_stays_as_it_is() -> None:
    schema = {
        "properties": {
            "x": {
                "enum": ["a\u202eb", {"description": "c\u202ed"}],
                "default": {"description": "e\u202ef"},
                "const": "g\u202eh",
                "pattern": "i\u202ej",
                "examples": [{"title": "k\u202el"}],
            }
        },
        "required": ["x"],
    }
    assert cleaned_schema(schema) == schema


def test_depth_is_no_danger() -> None:
    schema: dict[str, Any] = {"description": "a\u202eb"}
    for _ in range(5_000):
        schema = {"items": schema}
    cleaned = cleaned_schema(schema)
    for _ in range(5_000):
        cleaned = cleaned["items"]
    assert cleaned == {"description": "ab"}


def test_odd_schemas_come_back() -> None:
    for odd in (True, None, "text", 3, [], {"properties": {"description": "no schema"}}):
        assert cleaned_schema(odd) == odd
