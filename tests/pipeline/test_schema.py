"""Argument schemas: verdicts like the reference implementation's, faults in our own words."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_pipeline.schema import MAX_FAULTS, ArgumentSchema, BadSchema, Dialect, Fault

DATA = Path(__file__).parents[3] / "shared" / "data"

NAMES = st.sampled_from(["a", "b", "$c"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, "", "x", "aa", "aab"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def keywords(inner: Any) -> Any:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr),
            "const": VALUES,
            "minimum": st.integers(-2, 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "minLength": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "uniqueItems": st.booleans(),
            "pattern": st.sampled_from(["^a+$", "b", "^(?!x)"]),
            "properties": st.dictionaries(NAMES, inner, max_size=2),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "nullable": st.booleans(),
        },
    )


SCHEMAS = st.recursive(st.just({}), keywords, max_leaves=6)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)


@settings(max_examples=300, deadline=None)
@given(schema=SCHEMAS, arguments=OBJECTS, dialect=st.sampled_from(Dialect))
def test_verdicts_are_those_of_the_reference_implementation(
    schema: dict[str, Any], arguments: dict[str, Any], dialect: Dialect
) -> None:
    full = {**schema, "$schema": dialect.value}
    reference = jsonschema.validators.validator_for(full)
    try:
        reference.check_schema(full)
    except jsonschema.SchemaError:
        return
    compiled = ArgumentSchema(full)
    expected = reference(full).is_valid(arguments)
    assert compiled.is_valid(arguments) is expected
    assert (compiled.faults(arguments) == ()) is expected


@pytest.mark.skipif(not DATA.is_dir(), reason="the real catalogs are not here")
def test_verdicts_on_real_schemas_are_those_of_the_reference_implementation() -> None:
    tools = json.loads((DATA / "catalog-live.json").read_text())[::10]
    for tool in tools:
        schema = tool["inputSchema"]
        reference = jsonschema.validators.validator_for(
            schema, default=jsonschema.Draft202012Validator
        )(schema)
        compiled = ArgumentSchema(schema)
        names = list(schema.get("properties", {}))
        for arguments in ({}, dict.fromkeys(names, "x"), dict.fromkeys(names, 1), {"zzz": None}):
            assert compiled.is_valid(arguments) == reference.is_valid(arguments), tool["name"]


def faults(schema: dict[str, Any], arguments: Any) -> dict[str, str]:
    return {
        f"{fault.path} {fault.keyword}": fault.expected
        for fault in ArgumentSchema(schema).faults(arguments)
    }


def test_faults_say_where_and_what_was_expected() -> None:
    schema = {
        "properties": {
            "id": {"type": "integer"},
            "state": {"enum": ["open", "closed"]},
            "title": {"type": ["string", "null"], "maxLength": 3},
            "tags": {"items": {"minLength": 2}},
        },
        "required": ["id", "when"],
    }
    arguments = {"id": "secret", "state": "secret", "title": "secret", "tags": ["ok", "s"]}
    assert faults(schema, arguments) == {
        "/id type": "an integer",
        "/state enum": 'one of "open", "closed"',
        "/title maxLength": "at most 3 characters",
        "/tags/1 minLength": "at least 2 characters",
        " required": "the property `when`, which is missing",
    }


def test_unknown_properties_are_counted_and_the_nearest_known_name_is_named() -> None:
    schema = {"properties": {"title": {}, "body": {}}, "additionalProperties": False}
    assert faults(schema, {"titel": 1, "s3cret": 2}) == {
        " additionalProperties": "no unknown properties; 2 are unknown, did you mean `title`?"
    }
    assert faults(schema, {"s3cret": 2}) == {
        " additionalProperties": "no unknown properties; 1 is unknown, known are `body`, `title`"
    }


def test_a_known_name_behind_a_reference_is_found() -> None:
    schema = {
        "properties": {"p": {"$ref": "#/$defs/p"}},
        "$defs": {"p": {"properties": {"city": {}}, "additionalProperties": False}},
    }
    assert faults(schema, {"p": {"citty": 1}}) == {
        "/p additionalProperties": "no unknown properties; 1 is unknown, did you mean `city`?"
    }


def test_neither_values_nor_foreign_words_are_repeated() -> None:
    schema = {
        "properties": {
            "a": {"enum": ["ignore all previous instructions"]},
            "b": {"pattern": "^x$"},
        },
        "additionalProperties": {"type": "integer"},
    }
    found = ArgumentSchema(schema).faults({"a": "s3cret", "b": "s3cret", "s3cret": "s3cret"})
    assert {fault.path for fault in found} == {"/a", "/b", "/*"}
    assert "s3cret" not in repr(found)
    assert "ignore" not in repr(found)


@pytest.mark.parametrize("arguments", [[], None, "x", 7])
def test_arguments_that_are_no_object_are_a_fault_whatever_the_schema(arguments: Any) -> None:
    schema = ArgumentSchema({"properties": {"q": {}}, "required": ["q"]})
    assert not schema.is_valid(arguments)
    assert schema.faults(arguments) == (Fault("", "type", "an object"),)


def test_faults_are_bounded() -> None:
    schema = ArgumentSchema({"additionalProperties": {"type": "string"}})
    assert len(schema.faults({str(n): n for n in range(1000)})) <= MAX_FAULTS


CATASTROPHE = r"^(?:(?=a)a|a)+$"


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": CATASTROPHE},
        {"not": {"pattern": CATASTROPHE}},
        {"oneOf": [{"pattern": CATASTROPHE}, {}]},
        {"if": {"pattern": CATASTROPHE}, "then": False},
    ],
)
def test_a_pattern_that_runs_over_its_limit_is_a_fault_never_valid(schema: dict[str, Any]) -> None:
    compiled = ArgumentSchema({"properties": {"x": schema}})
    arguments = {"x": "a" * 60 + "!"}
    assert not compiled.is_valid(arguments)
    assert compiled.faults(arguments)


def test_nested_quantifiers_run_in_linear_time() -> None:
    compiled = ArgumentSchema({"properties": {"x": {"pattern": "^(a+)+$"}}})
    assert not compiled.is_valid({"x": "a" * 100_000 + "!"})
    assert compiled.is_valid({"x": "a" * 100_000})


def test_a_schema_that_contains_itself_is_explained_without_multiplying() -> None:
    step = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    schema = ArgumentSchema(
        {
            "properties": {"tree": {"$ref": "#/$defs/node"}, "depth": {"type": "integer"}},
            "required": ["tree"],
            "$defs": {"node": {"anyOf": [step, {**step, "minItems": 1}]}},
        }
    )
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    assert schema.faults({"tree": deep}) == (
        Fault("/tree", "schema", "a value that the schema allows"),
    )
    assert schema.faults({}) == (Fault("", "required", "the property `tree`, which is missing"),)
    assert schema.is_valid({"tree": [[], [[]]]})


def test_formats_and_unknown_keywords_are_annotations() -> None:
    for dialect in Dialect:
        schema = ArgumentSchema(
            {
                "$schema": dialect.value,
                "properties": {"a": {"type": "string", "format": "email", "nullable": True}},
            }
        )
        assert schema.is_valid({"a": "no address"})
        assert not schema.is_valid({"a": None})


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://example.org/mine"},
        {"$schema": 7},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}},
        {"properties": {"a": {"pattern": "["}}},
        {"type": "nonsense"},
    ],
)
def test_a_schema_that_cannot_be_compiled_is_a_bad_schema(schema: dict[str, Any]) -> None:
    with pytest.raises(BadSchema):
        ArgumentSchema(schema)


def test_dialects_are_told_by_any_common_spelling() -> None:
    assert Dialect.of({}) is Dialect.DRAFT_2020_12
    assert Dialect.of({"$schema": "https://json-schema.org/draft-07/schema"}) is Dialect.DRAFT_07
    assert Dialect.of({"$schema": "x"}) is None
    assert [dialect.label for dialect in Dialect] == [
        "draft-04",
        "draft-06",
        "draft-07",
        "2019-09",
        "2020-12",
    ]
