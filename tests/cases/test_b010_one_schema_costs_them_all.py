"""B10: one tool with a bare `anyOf` at its root makes the provider refuse the whole array.

Right: a definition that a provider would refuse gets a projection for it; it never reaches the
array raw, never harms another tool, and calls are checked against the original.
"""

from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
    canonical_text,
)
from toolkeeper_wire import Capability, NativeTools, format_for

pytestmark = pytest.mark.in_this_process

BARE = {"type": "object", "anyOf": [{"required": ["url"]}, {"required": ["text"]}]}
ODD: dict[str, Any] = {
    "any_of": BARE,
    "one_of": {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
    "all_of": {"allOf": [{"properties": {"a": {}}, "required": ["a"]}]},
    "not_this": {"type": "object", "not": {"required": ["a"]}},
    "if_then": {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
    "no_type": {"properties": {"a": {"type": "string"}}},
    "no_properties": {"type": "object"},
    "nothing": {},
    "list_of_types": {"type": ["object", "null"], "properties": {}},
    "reference": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}},
    "enumerated": {"enum": [{}, {"a": 1}]},
    "old": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
    },
    "meta": {"type": "object", "properties": {"$meta": {}}, "required": ["$meta"]},
    "loose_array": {"type": "object", "properties": {"tags": {"type": "array"}}},
}
PROVIDERS = ["generic", "openai", "openai-responses", "anthropic", "gemini"]
REFUSED = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "$ref"}
READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")


def tool(name: str, schema: dict[str, Any]) -> Tool:
    identity = ToolIdentity(SourceKind.MCP, "att", name)
    return Tool.of(identity, ToolDefinition(name, None, "Does it.", schema), READ)


HEALTHY = [
    tool(f"healthy_{n}", {"type": "object", "properties": {"q": {"type": "string"}}})
    for n in range(5)
]


def schemas(value: Any) -> list[dict[str, Any]]:
    keys = ("parameters", "input_schema", "parametersJsonSchema")
    if isinstance(value, dict):
        found = [value[key] for key in keys if isinstance(value.get(key), dict)]
        return found or [one for inner in value.values() for one in schemas(inner)]
    return [one for inner in value for one in schemas(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ODD)
def test_the_root_is_a_plain_object_and_the_others_stay_as_they_were(
    provider: str, name: str
) -> None:
    form = format_for(provider)
    tools = [*HEALTHY, tool(name, ODD[name])]
    codec = form.codec(one.identity for one in tools)
    rendered = schemas(form.tools(tools, codec))
    assert len(rendered) == 6
    assert rendered[:5] == schemas(form.tools(HEALTHY, codec))
    odd = rendered[5]
    assert odd["type"] == "object"
    assert isinstance(odd["properties"], dict)
    assert not REFUSED & odd.keys()
    assert '"exclusiveMinimum":true' not in canonical_text(odd)


@pytest.mark.parametrize(
    ("provider", "variant"), [("anthropic", "bm25"), ("openai-responses", "hosted")]
)
def test_a_deferred_definition_is_projected_too(provider: str, variant: str) -> None:
    form = format_for(provider)
    odd = tuple(tool(name, schema) for name, schema in ODD.items())
    codec = form.codec(one.identity for one in odd)
    native = NativeTools(Capability(provider, variant), odd)
    rendered = schemas(form.tools([], codec, native))
    assert len(rendered) == len(ODD)
    assert all(one["type"] == "object" and not REFUSED & one.keys() for one in rendered)


def test_the_model_is_told_what_the_projection_lost() -> None:
    form = format_for("openai")
    create = tool("create", BARE)
    (schema,) = schemas(form.tools([create], form.codec([create.identity])))
    assert '{"required":["url"]}' in schema["description"]


def test_calls_are_checked_against_the_original(home: Any) -> None:
    home.settings["classification"] = [{"tools": ["mcp.att.*"], "side_effect": "network_read"}]
    listed = [{"name": "create", "description": "Attach.", "inputSchema": BARE}]
    home.serve("att", listed, trust="trusted")
    refused, done = home.run(
        {"id": "c1", "tool": "mcp.att.create", "arguments": {}},
        {"id": "c2", "tool": "mcp.att.create", "arguments": {"url": "x"}},
        expect=1,
    )
    assert refused["code"] == "tool.arguments_invalid"
    assert done["outcome"] == "completed"
