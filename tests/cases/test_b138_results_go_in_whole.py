"""B138: one cap at the executor's exit, whatever source a result comes from.

Five megabytes of a server's text went into the context whole, because the limits were those of the
built-in tools.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = Path(__file__).parent / "servers" / "heavy_server.py"
ROOM = 5_000 + 1_000
"""Bytes that may be read of any result: the cap, and room for the envelope and the notes."""

FUNCTIONS = '''
from toolkeeper import Code, ToolError, tool
from toolkeeper_contract import Blob, Text, ToolResult

@tool(name="own.text", side_effect="none")
def text() -> str:
    """Much text."""
    return "w\\u00f6rd " * 1_000_000

@tool(name="own.rows", side_effect="none")
def rows() -> list[dict[str, str]]:
    """Many rows."""
    return [{"name": "x" * 50} for _ in range(50_000)]

@tool(name="own.bytes", side_effect="none")
def give_bytes() -> bytes:
    """Many bytes."""
    return bytes(50_000_000)

@tool(name="own.fail", side_effect="none")
def fail() -> str:
    """Fail at length."""
    raise ToolError(Code.FAILED, "w\\u00f6rd " * 1_000_000)

@tool(name="own.say_error", side_effect="none")
def say_error() -> ToolResult:
    """Say that it failed, at length."""
    return ToolResult((Text("w\\u00f6rd " * 1_000_000),), is_error=True)

TOOLS = [text, rows, give_bytes, fail, say_error]
'''
OWN = ["own.text", "own.rows", "own.bytes", "own.fail", "own.say_error"]
SERVED = [
    f"mcp.heavy.{name}"
    for name in ("text", "blocks", "nodes", "picture", "blob", "broken", "resources", "error")
]


@pytest.fixture
def heavy(home: Any) -> Any:
    home.servers["heavy"] = {"command": sys.executable, "args": [str(HEAVY)]}
    home.agent = {
        "tools": OWN,
        "deferred_tools": [],
        "servers": ["heavy"],
        "caps": {"definitions": 40},
        "limits": {"result_bytes": 5_000},
    }
    home.settings = {"functions": ["heavy_tools:TOOLS"], "policy": ["policy.yaml"]}
    home.write()
    (home.folder / "heavy_tools.py").write_text(FUNCTIONS)
    (home.folder / "policy.yaml").write_text(
        "version: 1\ntaint: off\nrules:\n"
        "  - {id: all, tools: ['*'], flags: [destructive], effect: allow}\n"
    )
    return home


def test_every_result_is_capped_and_the_rest_kept(heavy: Any) -> None:
    calls = [{"id": name, "tool": name, "arguments": {}} for name in (*OWN, *SERVED)]
    lines = {line["call_id"]: line for line in heavy.run(*calls)}
    for name, line in lines.items():
        assert len(line["result"].encode()) <= ROOM, name
        assert line["bytes"] <= 5_000, name
    # An error result is a result; what an error of ours says is not kept, since nothing ran on.
    assert {name for name, line in lines.items() if line["is_error"]} == {
        "own.fail", "own.say_error", "mcp.heavy.error", "mcp.heavy.blob",
    }  # fmt: skip
    for name in ("own.text", "own.rows", "own.say_error", "mcp.heavy.text", "mcp.heavy.blocks",
                 "mcp.heavy.error"):  # fmt: skip
        assert lines[name]["truncated"], name
        assert lines[name]["handle"], name
    for name in ("mcp.heavy.text", "mcp.heavy.blocks", "mcp.heavy.picture", "mcp.heavy.error"):
        assert lines[name]["result"].startswith("<EXTERNAL_UNTRUSTED "), name
    assert "too large to be kept" in lines["own.bytes"]["result"]
    assert lines["mcp.heavy.blob"]["code"] == "tool.failed.result_invalid"

    session = lines["own.text"]["session_id"]
    read_on = [
        {"id": name, "tool": "tool.result", "arguments": {"handle": lines[name]["handle"], **more}}
        for name, more in (
            ("own.text", {"offset": 2_000_000}),
            ("mcp.heavy.text", {"offset": 2_000_000, "limit": 10**9}),
            ("mcp.heavy.picture", {}),
            ("mcp.heavy.blocks", {"offset": 105_000}),
        )
    ]
    pages = {line["call_id"]: line for line in heavy.run(*read_on, session=session)}
    assert all(len(page["result"].encode()) <= ROOM for page in pages.values())
    assert pages["own.text"]["result"].startswith("wörd ")
    assert pages["mcp.heavy.text"]["result"].startswith("<EXTERNAL_UNTRUSTED ")
    assert "block 9999\n</EXTERNAL_UNTRUSTED" in pages["mcp.heavy.blocks"]["result"]
    assert "[image/png, 1,008 bytes]" in pages["mcp.heavy.picture"]["result"]


def test_what_is_no_text_is_named_and_measured(heavy: Any) -> None:
    (line, broken) = heavy.run(
        {"id": "r", "tool": "mcp.heavy.resources", "arguments": {}},
        {"id": "b", "tool": "mcp.heavy.broken", "arguments": {}},
    )
    body = line["result"].splitlines()[1:-1]
    assert body[:2] == ["file:///notes.md:", "# notes"]
    assert body[2] == "file:///a.bin:"
    assert body[3].startswith("[application/x-thing, 4 bytes, handle res_")
    assert body[4] == "b: file:///b.csv (text/csv, 1,234 bytes)"
    assert body[5].startswith("[audio/wav, 12 bytes, handle res_")
    assert line["handle"] in body[3]
    assert not line["truncated"]
    assert "%%% no base64" in broken["result"]


@pytest.mark.sqlite_file
def test_the_ledger_holds_no_more_than_is_kept(heavy: Any) -> None:
    heavy.agent["limits"]["result_kept_bytes"] = 20_000
    heavy.write()
    lines = heavy.run(*({"id": name, "tool": name, "arguments": {}} for name in (*OWN, *SERVED)))
    assert "more bytes are not kept" in lines[0]["result"]
    sizes = sum(each.stat().st_size for each in heavy.folder.glob("ledger.db*"))
    assert sizes < 3_000_000
    assert json.dumps(lines)
