"""Which values a schema calls secret, by whatever way it says so."""

from typing import Any

import pytest

from toolkeeper_pipeline import SecretSchema

SECRET = {"type": "string", "writeOnly": True}
PASSWORD = {"type": "string", "format": "password"}


def places(schema: dict[str, Any], instance: Any) -> list[str]:
    return sorted(SecretSchema(schema).pointers(instance))


@pytest.mark.parametrize(
    ("schema", "instance", "expected"),
    [
        (
            {"properties": {"p": SECRET, "q": PASSWORD, "r": {}}},
            {"p": 1, "q": 2, "r": 3},
            ["/p", "/q"],
        ),
        ({"properties": {"p": {"writeOnly": False}}}, {"p": 1}, []),
        ({"properties": {"p": {"writeOnly": "true"}}}, {"p": 1}, []),
        ({"properties": {"p": SECRET}}, {"p": {"whole": "object"}}, ["/p"]),
        ({"properties": {"a/b~c": SECRET}}, {"a/b~c": 1}, ["/a~1b~0c"]),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"p": SECRET}}}}, {"p": 1}, ["/p"]),
        (
            {"properties": {"p": {"$ref": "#/definitions/s"}}, "definitions": {"s": PASSWORD}},
            {"p": 1},
            ["/p"],
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"p": {"$ref": "#/definitions/s", "writeOnly": True}},
                "definitions": {"s": {}},
            },
            {"p": 1},
            ["/p"],
        ),
        (
            {"properties": {"p": {"$ref": "#s"}}, "$defs": {"x": {"$anchor": "s", **SECRET}}},
            {"p": 1},
            ["/p"],
        ),
        (
            {
                "$id": "https://x.example/root",
                "properties": {"p": {"$ref": "https://x.example/leaf"}},
                "$defs": {"x": {"$id": "leaf", **SECRET}},
            },
            {"p": 1},
            ["/p"],
        ),
        ({"allOf": [{"properties": {"p": SECRET}}]}, {"p": 1}, ["/p"]),
        ({"anyOf": [{"properties": {"p": {}}}, {"properties": {"p": SECRET}}]}, {"p": 1}, ["/p"]),
        ({"properties": {"p": {"oneOf": [{"type": "null"}, SECRET]}}}, {"p": None}, ["/p"]),
        ({"if": {}, "then": {"properties": {"p": SECRET}}}, {"p": 1}, ["/p"]),
        ({"else": {"properties": {"p": SECRET}}, "if": {}}, {"p": 1}, ["/p"]),
        ({"not": {"properties": {"p": SECRET}}}, {"p": 1}, []),
        ({"dependentSchemas": {"k": {"properties": {"p": SECRET}}}}, {"p": 1}, ["/p"]),
        ({"properties": {"l": {"items": SECRET}}}, {"l": [1, 2]}, ["/l/0", "/l/1"]),
        ({"properties": {"l": {"prefixItems": [{}, SECRET]}}}, {"l": [1, 2, 3]}, ["/l/1"]),
        (
            {"properties": {"l": {"prefixItems": [{}], "items": SECRET}}},
            {"l": [1, 2, 3]},
            ["/l/1", "/l/2"],
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"l": {"items": [{}, SECRET], "additionalItems": PASSWORD}},
            },
            {"l": [1, 2, 3]},
            ["/l/1", "/l/2"],
        ),
        ({"additionalProperties": SECRET, "properties": {"p": {}}}, {"p": 1, "x": 2}, ["/x"]),
        ({"unevaluatedProperties": SECRET, "properties": {"p": {}}}, {"p": 1, "x": 2}, ["/x"]),
        ({"patternProperties": {"^s_": SECRET}}, {"s_1": 1, "t": 2}, ["/s_1"]),
        # A pattern that no engine takes could match anything.
        ({"patternProperties": {"(?<x": SECRET}}, {"a": 1}, ["/a"]),
        # A parameter that is called like a keyword is a parameter.
        ({"properties": {"writeOnly": {"const": True}}}, {"writeOnly": True}, []),
        ({"properties": {"p": {"default": {"writeOnly": True}}}}, {"p": {"writeOnly": True}}, []),
        (SECRET, {"a": 1}, [""]),
    ],
)
def test_a_secret_is_found(schema: dict[str, Any], instance: Any, expected: list[str]) -> None:
    assert places(schema, instance) == expected


def test_a_schema_that_contains_itself_is_followed_as_deep_as_the_value() -> None:
    schema = {
        "properties": {"child": {"$ref": "#"}, "pin": SECRET},
        "additionalProperties": False,
    }
    value: dict[str, Any] = {"pin": 0}
    for depth in range(200):
        value = {"child": value, "pin": depth}
    assert len(places(schema, value)) == 201


def test_references_that_go_round_come_to_an_end() -> None:
    schema = {
        "properties": {"p": {"anyOf": [{"$ref": "#/properties/p"}, SECRET]}},
        "$defs": {"a": {"$ref": "#/$defs/a"}},
    }
    assert places(schema, {"p": 1}) == ["/p"]


def test_a_schema_without_secrets_costs_no_walk() -> None:
    assert not SecretSchema({"properties": {"p": {"type": "string"}}}).tells


def test_what_would_take_too_many_steps_counts_as_secret_as_a_whole() -> None:
    many = [{"properties": {f"k{n}": SECRET}} for n in range(1_000)]
    schema = {"properties": {"l": {"items": {"allOf": many}}}}
    assert places(schema, {"l": [{"x": 1}] * 1_000}) == [""]
