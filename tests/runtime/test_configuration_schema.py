"""The JSON Schema that editors use."""

import json
from typing import Any

import jsonschema
import pytest
import yaml

from toolkeeper.runtime.configuration import json_schema

SMALL = "{version: 1, agents: {a: {}}"


def faults(text: str) -> list[Any]:
    return list(jsonschema.Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(text)))


def test_it_is_a_schema_of_its_dialect() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json.loads(json.dumps(json_schema())) == json_schema()


@pytest.mark.parametrize(
    "rest",
    [
        "}",
        ", servers: {s: {command: x, args: [a]}, t: {catalog: f, server: x}}}",
        ", classification: [{tools: ['a.*'], side_effect: network_read, private: true}]}",
        ", store: 'sqlite:///x.db', users: {'*': {scopes: []}}}",
    ],
)
def test_it_accepts_what_the_loader_accepts(rest: str) -> None:
    assert faults(SMALL + rest) == []


@pytest.mark.parametrize(
    "rest",
    [
        ", stroe: x}",
        ", store: null}",
        ", servers: {s: {command: x, url: y}}}",
        ", servers: {s: {}}}",
        ", servers: {s: {command: x, trust: yes}}}",
        ", servers: {s: {command: x, timeout: soon}}}",
        ", toolsets: {t: ['a?']}}",
    ],
)
def test_it_refuses_what_the_loader_refuses(rest: str) -> None:
    assert faults(SMALL + rest) != []


def test_every_key_is_described() -> None:
    schema = json_schema()
    sections = [schema, *schema["$defs"].values()]
    undescribed = [
        key
        for section in sections
        for key, value in section.get("properties", {}).items()
        if "description" not in value
    ]
    assert undescribed == []
