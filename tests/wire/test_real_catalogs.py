"""Do the definitions of real servers' tools survive every wire format?"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
    is_tool_name,
)
from toolkeeper_wire import PROVIDERS, format_for
from toolkeeper_wire.projection import PLAIN_NAME

DATA = Path(__file__).parents[3] / "shared" / "data"
WORST = Classification(SideEffect.NETWORK_WRITE, frozenset(), "worst_case")
LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def tools(catalog: str) -> list[Tool]:
    path = DATA / f"catalog-{catalog}.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside this checkout")
    return list({one.name: one for one in _tools(path)}.values())


def _tools(path: Path) -> Iterator[Tool]:
    for row in json.loads(path.read_text(encoding="utf-8")):
        if is_tool_name(row["name"]):
            server = re.sub(r"[^A-Za-z0-9_-]", "-", row["server"])[:64]
            yield Tool.of(
                ToolIdentity(SourceKind.MCP, server, row["name"]),
                ToolDefinition(
                    row["name"], None, row.get("description") or "", row.get("inputSchema") or {}
                ),
                WORST,
            )


@pytest.mark.parametrize("catalog", ["github", "live", "livemcp"])
def test_every_real_tool_has_a_legal_name_of_its_own(catalog: str) -> None:
    found = tools(catalog)
    codec = format_for("openai").codec(one.identity for one in found)
    names = codec.names()
    assert len(set(names.values())) == len(found)
    assert all(LEGAL.fullmatch(name) for name in names.values())


@pytest.mark.parametrize("catalog", ["github", "livemcp"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_real_schema_is_a_plain_object_on_the_wire(catalog: str, provider: str) -> None:
    found = tools(catalog)
    form = format_for(provider)
    rendered = form.tools(found, form.codec(one.identity for one in found))
    if provider == "gemini":
        rendered = rendered[0]["functionDeclarations"]
    for entry in rendered:
        body = entry.get("function", entry)
        keys = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
        (schema,) = (body[key] for key in keys if key in body)
        assert schema["type"] == "object"
        assert isinstance(schema["properties"], dict)
        if provider != "mcp":
            Draft202012Validator.check_schema(schema)
        if provider in ("anthropic", "gemini"):
            assert all(PLAIN_NAME.fullmatch(name) for name in schema["properties"])
