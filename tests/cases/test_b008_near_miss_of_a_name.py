"""B08: a near miss (`get_roles` beside `get_role`) is called in place of the real tool.

Right: a name is looked up exactly or not at all: no folding, no dropped prefix, no nearest match.
Names of discovered tools always carry their server.
"""

from typing import Any

import pytest

from toolkeeper_contract import SourceKind, ToolIdentity
from toolkeeper_wire import PROVIDERS, RecordedCall, Step, format_for

ROLE = ToolIdentity(SourceKind.MCP, "hr", "get_role")
ROLES = ToolIdentity(SourceKind.MCP, "new", "get_roles")
OURS = ToolIdentity(SourceKind.FUNCTION, "functions", "notes.add")
NEAR = [
    "get_role",
    "get_roles",
    "hr__get_role",
    "mcp__hr__get_roles",
    "mcp__hr__get_rol",
    "mcp__HR__get_role",
    "MCP__hr__get_role",
    "mcp__hr__get-role",
    "mcp_hr_get_role",
    "mcp.hr.get_role ",
    " mcp__hr__get_role",
    "mcp__hr__get_role\n",
    "mcp__hr__get_role\u200b",
    "mcp__hr__get_role\u202e",
    "mcp__hr__g\u0435t_role",  # one Cyrillic letter
    "functions.mcp__hr__get_role",
    "Notes_add",
    "notes-add",
    "add",
    "",
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", NEAR)
def test_a_near_miss_is_no_tool(provider: str, name: str) -> None:
    codec = format_for(provider).codec([ROLE, ROLES, OURS])
    assert codec.canonical(name) is None


@pytest.mark.parametrize("provider", ["generic", "openai", "openai-responses", "anthropic"])
@pytest.mark.parametrize("name", NEAR)
def test_a_near_miss_in_history_never_turns_into_the_tool(provider: str, name: str) -> None:
    form = format_for(provider)
    codec = form.codec([ROLE, ROLES, OURS])
    (message, *_) = form.history([Step((RecordedCall("c", name, {}, "not offered"),))], codec)
    (call,) = message.get("tool_calls", message.get("content") or [message])
    assert codec.canonical(call.get("function", call)["name"]) is None


def test_the_names_carry_their_server() -> None:
    codec = format_for("openai").codec([ROLE, ROLES])
    assert codec.wire("mcp.hr.get_role") == "mcp__hr__get_role"
    assert codec.wire("mcp.new.get_roles") == "mcp__new__get_roles"


def test_a_near_miss_is_not_offered(shop: Any) -> None:
    for name in ("notes_lists", "note_list", "Notes_list", "list", "notes_list "):
        assert shop.one(name, {}).code == "tool.not_found.not_offered"
    assert shop.one("notes_list", {}).outcome == "completed"
    assert shop.effects == [("list", 10)]
