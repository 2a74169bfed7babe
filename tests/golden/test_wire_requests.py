"""The exact bytes of a request's tools for each provider.

A change here changes what every cached prefix begins with. To renew the files after a deliberate
one: `python tests/golden/test_wire_requests.py`.
"""

from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import (
    CONTROL,
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
    canonical_bytes,
)
from toolkeeper_wire import PROVIDERS, WireResult, format_for

FILES = Path(__file__).parent / "wire"
READ = Classification(SideEffect.NETWORK_READ, frozenset(), "declaration")


def tool(kind: SourceKind, source: str, name: str, text: str, schema: dict[str, Any]) -> Tool:
    definition = ToolDefinition(name, name.title(), text, schema)
    classification = CONTROL if kind is SourceKind.CONTROL else READ
    return Tool.of(ToolIdentity(kind, source, name), definition, classification)


TEXT = {"type": "string"}
TOOLS = [
    tool(
        SourceKind.CONTROL,
        "control",
        "tool.call",
        "Call a tool.",
        {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
    ),
    tool(
        SourceKind.FUNCTION,
        "functions",
        "schedule.update",
        "Move an event.",
        {
            "type": "object",
            "properties": {
                "when": {"type": "string", "format": "date-time", "description": "The new time."},
                "id": {"type": "integer", "exclusiveMinimum": 0},
                "title": {"type": ["string", "null"], "maxLength": 80, "default": None},
            },
            "required": ["id"],
            "additionalProperties": False,
        },
    ),
    tool(
        SourceKind.MCP,
        "files",
        "attach",
        "Attach a \u202efile\u202c.\r\nBy address or as text: café, 添付.",
        {
            "type": "object",
            "anyOf": [
                {"properties": {"url": TEXT}, "required": ["url"]},
                {"properties": {"text": TEXT}, "required": ["text"]},
            ],
        },
    ),
    tool(
        SourceKind.MCP,
        "acme_developer_platform_connector",
        "search_all_product_documentation_pages",
        "Search the documentation.",
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "definitions": {"page": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
            "properties": {
                "query": {"allOf": [TEXT], "description": "Words."},
                "page": {"$ref": "#/definitions/page"},
                "tags": {"type": "array"},
                "mode": {"enum": ["all", "any"]},
                "$meta": {"type": "object"},
            },
            "required": ["query"],
        },
    ),
    tool(SourceKind.MCP, "files", "list.all", "", {}),
]


def rendered(provider: str) -> bytes:
    form = format_for(provider)
    codec = form.codec(one.identity for one in TOOLS)
    results = [WireResult("c1", codec.wire("schedule.update"), "moved")]
    results.append(WireResult("c2", codec.wire("mcp.files.attach"), "no such file", True))
    request = form.request(TOOLS, codec, "You keep a calendar.")
    return canonical_bytes({**request, "results": form.results(results)}) + b"\n"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_request_has_exactly_these_bytes(provider: str) -> None:
    assert rendered(provider) == (FILES / f"{provider}.json").read_bytes()


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for each in PROVIDERS:
        (FILES / f"{each}.json").write_bytes(rendered(each))
