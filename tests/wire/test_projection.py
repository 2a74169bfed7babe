"""What becomes of a schema that a provider would refuse?"""

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolkeeper_wire import object_root
from toolkeeper_wire.dialect import modern
from toolkeeper_wire.gemini_schema import gemini_subset
from toolkeeper_wire.projection import PLAIN_NAME

TEXT = {"type": "string"}
OLD = "http://json-schema.org/draft-04/schema#"


def test_a_plain_object_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"q": TEXT, "n": {"anyOf": [TEXT, {"type": "null"}]}},
        "required": ["q"],
        "additionalProperties": False,
    }
    assert object_root(schema) == schema


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": ["object", "null"]}])
def test_missing_properties_become_empty(schema: dict[str, Any]) -> None:
    assert object_root(schema) == {"type": "object", "properties": {}}


def test_a_missing_type_and_an_undescribed_requirement_are_filled_in() -> None:
    assert object_root({"properties": {"q": TEXT}, "required": ["q", "x"]}) == {
        "type": "object",
        "properties": {"q": TEXT, "x": {}},
        "required": ["q", "x"],
    }


def test_alternatives_at_the_root_are_told_in_words() -> None:
    root = object_root({"type": "object", "anyOf": [{"required": ["url"]}, {"required": ["text"]}]})
    assert root == {
        "type": "object",
        "properties": {},
        "description": "The arguments must also fit this JSON Schema: "
        '{"anyOf":[{"required":["url"]},{"required":["text"]}]}',
    }


def test_properties_of_all_alternatives_are_kept_and_united() -> None:
    root = object_root(
        {
            "oneOf": [
                {"$ref": "#/$defs/mail"},
                {
                    "properties": {"kind": {"const": "call"}, "to": {"type": "integer"}},
                    "required": ["kind", "to", "number"],
                },
            ],
            "$defs": {
                "mail": {
                    "properties": {"kind": {"const": "mail"}, "to": TEXT},
                    "required": ["kind", "to"],
                }
            },
        }
    )
    assert root["properties"] == {
        "kind": {"enum": ["mail", "call"]},
        "to": {"anyOf": [TEXT, {"type": "integer"}]},
    }
    assert root["required"] == ["kind", "to"]
    assert "oneOf" not in root


def test_all_of_demands_everything() -> None:
    root = object_root(
        {
            "description": "Two parts.",
            "allOf": [
                {"properties": {"a": TEXT}, "required": ["a"]},
                {"allOf": [{"properties": {"b": TEXT}, "required": ["b"]}]},
            ],
            "if": {"required": ["a"]},
            "then": {"properties": {"c": TEXT}},
            "not": {"required": ["z"]},
        }
    )
    assert sorted(root["properties"]) == ["a", "b", "c"]
    assert root["required"] == ["a", "b"]
    assert root["description"].startswith("Two parts. The arguments must also fit")
    assert not {"allOf", "if", "then", "not"} & root.keys()


def test_a_reference_at_the_root_is_followed() -> None:
    schema = {
        "$ref": "#/definitions/Args",
        "definitions": {"Args": {"type": "object", "properties": {"q": TEXT}, "required": ["q"]}},
    }
    root = object_root(schema)
    assert root["properties"] == {"q": TEXT}
    assert root["required"] == ["q"]
    assert "$ref" not in root


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {
            "anyOf": [{"$ref": "#/$defs/a"}] * 9,
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 9}},
        },
    ],
)
def test_loops_come_to_an_end(schema: dict[str, Any]) -> None:
    root = object_root(schema)
    assert root["type"] == "object"
    Draft202012Validator.check_schema(root)


def test_a_reference_into_a_dropped_part_is_left_open() -> None:
    root = object_root(
        {
            "properties": {"a": {"$ref": "#/anyOf/0", "title": "A"}, "b": {"$ref": "#/$defs/x"}},
            "anyOf": [{"required": ["a"]}],
            "$defs": {"x": TEXT},
        }
    )
    assert root["properties"] == {"a": {"title": "A"}, "b": {"$ref": "#/$defs/x"}}


def test_alternatives_too_long_to_tell_are_not_told() -> None:
    root = object_root({"anyOf": [{"required": [f"name_{at}"]} for at in range(100)]})
    assert root["description"] == "Which arguments go together is checked when the tool is called."


def test_a_property_that_a_provider_cannot_name_is_told_in_words() -> None:
    schema = {
        "type": "object",
        "properties": {"q": TEXT, "$meta": TEXT, "x" * 65: TEXT},
        "required": ["q", "$meta"],
        "additionalProperties": False,
    }
    root = object_root(schema, PLAIN_NAME)
    assert root["properties"] == {"q": TEXT}
    assert root["required"] == ["q"]
    assert "additionalProperties" not in root
    assert f"Further arguments: `$meta` (required), `{'x' * 65}`." == root["description"]
    assert object_root(schema)["properties"] == schema["properties"]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"minimum": 0, "exclusiveMinimum": True}, {"exclusiveMinimum": 0}),
        ({"maximum": 9, "exclusiveMaximum": False}, {"maximum": 9}),
        ({"exclusiveMinimum": 3}, {"exclusiveMinimum": 3}),
        (
            {"type": "array", "items": [TEXT, True], "additionalItems": False},
            {"type": "array", "prefixItems": [TEXT, {}], "items": False},
        ),
        ({"type": "array"}, {"type": "array", "items": {}}),
        (
            {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
        ),
        ({"$ref": "#", "minLength": 3, "title": "t"}, {"$ref": "#", "title": "t"}),
        ({"id": "x", "type": "string"}, {"type": "string"}),
        ({"default": {"exclusiveMinimum": True}}, {"default": {"exclusiveMinimum": True}}),
    ],
)
def test_words_of_older_drafts_are_translated(
    part: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = modern({"$schema": OLD, "properties": {"p": part, "id": TEXT, "items": True}})
    assert found == {"properties": {"p": expected, "id": TEXT, "items": {}}}


def test_beside_a_reference_newer_drafts_keep_what_they_say() -> None:
    part = {"$ref": "#/$defs/x", "minLength": 3}
    assert modern({"properties": {"p": part}})["properties"]["p"] == part


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"const": "a"}, {"enum": ["a"]}),
        ({"enum": ["a", None]}, {}),
        ({"type": "string", "format": "uri", "pattern": "x"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        (
            {"allOf": [{"type": "string"}], "description": "d"},
            {"type": "string", "description": "d"},
        ),
        ({"$ref": "#/definitions/x", "description": "d"}, {"$ref": "#/$defs/x"}),
        ({"$ref": "#anchor"}, {}),
        ({"$ref": "#/nowhere"}, {}),
        ({"patternProperties": {"x": TEXT}, "default": 1}, {}),
    ],
)
def test_gemini_gets_what_it_knows(part: dict[str, Any], expected: dict[str, Any]) -> None:
    found = gemini_subset({"properties": {"p": part}, "definitions": {"x": TEXT}})
    assert found == {"properties": {"p": expected}, "$defs": {"x": TEXT}}


def test_the_original_is_never_changed() -> None:
    original = {"properties": {"a": {"const": 1}}, "anyOf": [{"required": ["a"]}]}
    gemini_subset(object_root(original))
    assert original == {"properties": {"a": {"const": 1}}, "anyOf": [{"required": ["a"]}]}


def test_names_that_fit_are_matched_whole() -> None:
    assert re.fullmatch(PLAIN_NAME, "a.b-c")
    assert PLAIN_NAME.fullmatch("a\n") is None
