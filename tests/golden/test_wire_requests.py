"""The exact bytes of what each provider gets: plain, with search, native, choices, history.

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
from toolkeeper_index import control_tool
from toolkeeper_wire import (
    ANY_TOOL,
    AUTO,
    NO_TOOL,
    PROVIDERS,
    Capability,
    Entry,
    Format,
    NativeTools,
    RecordedCall,
    Said,
    Step,
    ToolChoice,
    WireResult,
    format_for,
    tombstones,
)

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


CORE = TOOLS[:2]
"""The defined tools where the others are deferred."""

NATIVE = {
    "anthropic": Capability("anthropic", "bm25"),
    "openai-responses": Capability("openai-responses", "hosted"),
}
GONE = tombstones(["mcp.files.list.all", "mcp.old.thing", "mcp.files.removed"], [])
TALK: list[Entry] = [
    Said("user", "Move the review, and attach the plan."),
    Step(
        (
            RecordedCall("c1", "schedule.update", {"when": "2026-12-04", "id": 7}, "moved"),
            RecordedCall("c1", "mcp.files.attach", '{"url": "x:', "not read", True),
        ),
        "One moment.",
    ),
    Step((RecordedCall("call 2", "mcp.old.thing", {}, None),)),
    Said("assistant", "Done."),
]
SEARCH_ANSWER = "1 tool matches. It can be called at once."


def plain(form: Format) -> dict[str, Any]:
    codec = form.codec(one.identity for one in TOOLS)
    results = [WireResult("c1", codec.wire("schedule.update"), "moved")]
    results.append(WireResult("c2", codec.wire("mcp.files.attach"), "no such file", True))
    request = form.request(TOOLS, codec, "You keep a calendar.")
    return {**request, "results": form.results(results)}


def search(form: Format) -> dict[str, Any]:
    """The disclosure `search`: the turn that searched, and the next one with what it loaded."""
    tool_search = control_tool("tool.search")
    codec = form.codec(one.identity for one in (tool_search, *TOOLS))
    answer = WireResult("s1", codec.wire("tool.search"), SEARCH_ANSWER)
    return {
        "first": form.request([tool_search, *CORE], codec, ""),
        "answer": form.results([answer]),
        "next": form.request([tool_search, *CORE, TOOLS[2]], codec, ""),
    }


def native(form: Format) -> dict[str, Any]:
    tools = NativeTools(NATIVE[form.name], tuple(TOOLS[2:]), GONE)
    codec = form.codec(one.identity for one in TOOLS).extended(GONE)
    request = form.request(CORE, codec, "", native=tools, choice=AUTO, cached=True)
    return {**request, "history": form.history(TALK, codec, tools)}


def choices(form: Format) -> dict[str, Any]:
    codec = form.codec(one.identity for one in TOOLS)
    every = {"auto": AUTO, "none": NO_TOOL, "required": ANY_TOOL}
    every["forced"] = ToolChoice.forced(TOOLS[3].name)
    found = {name: form.request(TOOLS, codec, "", choice=choice) for name, choice in every.items()}
    return {name: {**request, "tools": []} for name, request in found.items()}


def history(form: Format) -> dict[str, Any]:
    codec = form.codec(one.identity for one in TOOLS)
    return {"messages": form.history(TALK, codec)}


PARTS = {
    "": (plain, PROVIDERS),
    "-search": (search, PROVIDERS),
    "-native": (native, tuple(NATIVE)),
    "-choice": (choices, tuple(name for name in PROVIDERS if name != "mcp")),
    "-history": (history, tuple(name for name in PROVIDERS if name != "mcp")),
}
FILES_OF = {
    f"{provider}{part}.json": (provider, render)
    for part, (render, providers) in PARTS.items()
    for provider in providers
}


def rendered(file: str) -> bytes:
    provider, render = FILES_OF[file]
    return canonical_bytes(render(format_for(provider))) + b"\n"


@pytest.mark.parametrize("file", FILES_OF)
def test_the_request_has_exactly_these_bytes(file: str) -> None:
    assert rendered(file) == (FILES / file).read_bytes()


def test_no_file_lies_here_that_nothing_renders() -> None:
    assert {file.name for file in FILES.iterdir()} == set(FILES_OF)


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for each in FILES_OF:
        (FILES / each).write_bytes(rendered(each))
