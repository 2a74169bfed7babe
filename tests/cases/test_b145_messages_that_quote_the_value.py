"""B145: a message about a value says where and what was expected, never the value.

Validators print the failing instance, whole objects included; so do many libraries' errors. Ours
are built from the path, the keyword and the schema.
"""

import asyncio
import json
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, field_validator

from toolkeeper import tool
from toolkeeper.testing import keeper_of
from toolkeeper_contract import Code, Invocation
from toolkeeper_pipeline import ArgumentSchema

CANARY = "hunter2-secret"
NAMED = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


def test_the_library_would_quote_it() -> None:
    with pytest.raises(jsonschema.ValidationError) as raised:
        jsonschema.validate({"n": CANARY}, NAMED)
    assert CANARY in raised.value.message


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (NAMED, {"n": CANARY}),
        (NAMED, {CANARY: 1}),
        (NAMED, {f"key {CANARY}": 1, "n": 1}),
        ({"properties": {"n": {"enum": ["a"]}}}, {"n": CANARY}),
        ({"properties": {"n": {"const": 1}}}, {"n": CANARY}),
        ({"properties": {"n": {"pattern": "^x$"}}}, {"n": CANARY}),
        ({"properties": {"n": {"minLength": 99}}}, {"n": CANARY}),
        ({"properties": {"n": {"maxLength": 1}}}, {"n": CANARY}),
        ({"properties": {"n": {"not": {}}}}, {"n": CANARY}),
        ({"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}, {"n": CANARY}),
        ({"properties": {"n": {"oneOf": [{}, {}]}}}, {"n": CANARY}),
        ({"properties": {"n": {"uniqueItems": True}}}, {"n": [CANARY, CANARY]}),
        ({"properties": {"n": {"contains": {"type": "null"}}}}, {"n": [CANARY]}),
        ({"properties": {"n": {"items": {"type": "integer"}}}}, {"n": [CANARY]}),
        ({"properties": {"n": {"propertyNames": {"maxLength": 1}}}}, {"n": {CANARY: 1}}),
        ({"properties": {"n": {"additionalProperties": {"type": "null"}}}}, {"n": {CANARY: 1}}),
        ({"properties": {"n": {"dependentRequired": {CANARY: ["b"]}}}}, {"n": {CANARY: 1}}),
        ({"properties": {"n": {"minProperties": 9}}}, {"n": {CANARY: CANARY}}),
        ({"properties": {"n": False}}, {"n": CANARY}),
        ({"properties": {"n": {"multipleOf": 7}}}, {"n": 12345678901}),
        ({"properties": {"n": {"maximum": 7}}}, {"n": 12345678901}),
    ],
)
def test_no_fault_quotes_a_value_or_an_unknown_name(schema: Any, arguments: Any) -> None:
    faults = ArgumentSchema(schema).faults(arguments)
    assert faults
    told = repr([(fault.path, fault.expected) for fault in faults])
    assert CANARY not in told
    assert "12345678901" not in told


class Checked(BaseModel):
    pin: str

    @field_validator("pin")
    @classmethod
    def check(cls, value: str) -> str:
        raise ValueError(f"{value} is not a pin")


@tool(name="raise.value", side_effect="workspace_read")
def raises(word: str) -> str:
    """Raise with the argument in the words."""
    raise ValueError(f"cannot use {word}")


@tool(name="raise.chain", side_effect="workspace_read")
async def chains(word: str) -> str:
    """Raise with the argument in the cause."""
    try:
        raise KeyError(word)
    except KeyError as error:
        raise RuntimeError(f"because of {word}") from error


@tool(name="raise.exit", side_effect="workspace_read")
def exits(word: str) -> str:
    """End the program."""
    raise SystemExit(word)


@tool(name="raise.check", side_effect="workspace_read")
def checked(value: Checked) -> str:
    """Refuse by a check of the type's own."""
    return value.pin


@tool(name="give.unwritable", side_effect="workspace_read")
def unwritable(word: str) -> Any:
    """Return what JSON cannot carry."""
    return {"a": type("Odd", (), {"__repr__": lambda self: word})()}


TOOLS = [raises, chains, exits, checked, unwritable]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *((made.name, {"word": CANARY}) for made in (raises, chains, exits, unwritable)),
        ("raise.check", {"value": {"pin": CANARY}}),
        ("raise.value", {"word": [CANARY]}),
        ("raise.value", {CANARY: 1}),
        ("raise.value", f'{{"word": "{CANARY}"'),
        ("raise.value", f'["{CANARY}"]'),
        (CANARY, {}),
    ],
)
def test_what_the_model_reads_of_a_failure_holds_no_value(name: str, arguments: Any) -> None:
    async def run() -> Invocation:
        keeper = keeper_of(TOOLS)
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return (await turn.call(turn.read("c1", name, arguments))).row

    row = asyncio.run(run())
    assert row.result
    assert CANARY not in row.result


def test_an_instance_of_fifty_megabytes_is_refused_without_being_looked_through() -> None:
    # Well-formed, but far beyond the limit: it is neither parsed nor held against a schema.
    text = json.dumps({"word": CANARY * 3_600_000})
    assert len(text) > 50_000_000

    async def run() -> Invocation:
        keeper = keeper_of(TOOLS)
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return (await turn.call(turn.read("c1", "raise.value", text))).row

    row = asyncio.run(run())
    assert row.code is Code.ARGUMENTS_INVALID
    assert CANARY not in repr(row)
    assert len(row.result or "") < 1_000


def test_faults_of_a_large_instance_are_bounded() -> None:
    schema = ArgumentSchema({"properties": {"n": {"items": {"type": "integer"}}}})
    instance = {"n": [CANARY * 100] * 40_000}
    faults = schema.faults(instance)
    assert len(faults) <= 8
    assert CANARY not in repr(faults)
