"""Invariants of projections: always a plain object, valid, and never narrower than the original
where the original's own alternatives are not concerned."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolkeeper_contract import canonical_bytes
from toolkeeper_wire import object_root
from toolkeeper_wire.gemini_schema import gemini_subset

names = st.sampled_from(["a", "b", "c", "d"])
scalars = st.sampled_from([1, 2, "x", "y", True, None])
leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 1},
        {"const": "x"},
        {"enum": ["x", "y"]},
        {},
        {"$ref": "#/$defs/s"},
    ]
)
parts = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(names, leaves, max_size=3),
        "required": st.lists(names, unique=True, max_size=2),
    },
)
schemas = st.fixed_dictionaries(
    {"$defs": st.just({"s": {"type": "string"}})},
    optional={
        "type": st.just("object"),
        "properties": st.dictionaries(names, leaves, max_size=3),
        "required": st.lists(names, unique=True, max_size=2),
        "anyOf": st.lists(parts, min_size=1, max_size=3),
        "oneOf": st.lists(parts, min_size=1, max_size=3),
        "allOf": st.lists(parts, min_size=1, max_size=2),
        "not": parts,
        "additionalProperties": st.booleans(),
    },
)
arguments = st.dictionaries(names, scalars, max_size=4)


@settings(max_examples=200)
@given(schemas, arguments)
def test_a_projection_is_a_plain_object_and_accepts_what_the_original_accepts(
    schema: dict[str, Any], given_arguments: dict[str, Any]
) -> None:
    before = copy.deepcopy(schema)
    root = object_root(schema)
    Draft202012Validator.check_schema(root)
    assert root["type"] == "object"
    assert isinstance(root["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"} & root.keys()
    assert schema == before
    # A property that stands in some alternatives only may be anything in the others.
    declared = set(schema.get("properties", {}))
    if set(given_arguments) <= declared and Draft202012Validator(schema).is_valid(given_arguments):
        assert Draft202012Validator(root).is_valid(given_arguments)


@settings(max_examples=100)
@given(schemas)
def test_projections_are_stable_and_idempotent(schema: dict[str, Any]) -> None:
    root = object_root(schema)
    assert canonical_bytes(object_root(dict(reversed(schema.items())))) == canonical_bytes(root)
    assert object_root(root) == root
    reduced = gemini_subset(root)
    assert gemini_subset(reduced) == reduced
