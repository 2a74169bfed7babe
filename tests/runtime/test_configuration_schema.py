"""The JSON Schema that editors use."""

import json
from typing import Any

import jsonschema
import pytest
import yaml

from toolkeeper.runtime.configuration import json_schema

SMALL = "{version: 1, agents: {a: {}}"


def faults(text: str) -> list[Any]:
    value: dict[str, Any] = {}
    for pair in yaml.compose(text).value:  # a later `agents` takes the place of the small one
        value[pair[0].value] = yaml.safe_load(yaml.serialize(pair[1]))
    return list(jsonschema.Draft202012Validator(json_schema()).iter_errors(value))


def test_a_file_that_only_includes_needs_no_agents_of_its_own() -> None:
    assert faults("{version: 1, include: [office.yaml]}") == []
    assert faults("{version: 1}") != []


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
        ", agents: {a: {disclosure: search}, b: {disclosure: native, listing: none}}}",
        ", agents: {a: {disclosure: native, listing: none, control_tools: []}}}",
        ", include: [x.yaml], override: {agents: {b: {listing: names}}, servers: {s: {cwd: x}}}}",
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
        ", agents: {a: {disclosure: search, control_tools: [tool.call]}}}",
        ", agents: {a: {listing: none, control_tools: []}}}",
        ", include: [x.yaml], override: {version: 1}}",
        ", include: [x.yaml], override: {agents: {b: {listing: all}}}}",
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
