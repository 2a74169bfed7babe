"""B110: the first turn after compaction has no search tool and no server's tools.

Right: tools come from intent, registry and loaded set, never from what the history still holds:
compaction leaves the request byte-identical.
"""

from typing import Any

import pytest

PROVIDERS = ["openai", "openai-responses", "anthropic", "generic"]
SEARCHING = {
    "disclosure": "search",
    "always_defined": ("notes.list",),
    "deferred_tools": ("*",),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("agent", [{}, {"disclosure": "index"}, SEARCHING])
def test_compaction_leaves_the_request_as_it_was(
    shop: Any, provider: str, agent: dict[str, Any]
) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        session = turn._session
        row = (await turn.call(turn.read("s1", "tool.search", {"query": "send a mail"}))).row
        assert not row.is_error
        called = {
            "openai": {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "s1",
                        "type": "function",
                        "function": {"name": "tool_search", "arguments": "{}"},
                    }
                ],
            },
            "openai-responses": {
                "type": "function_call",
                "call_id": "s1",
                "name": "tool_search",
                "arguments": "{}",
            },
            "anthropic": {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "s1", "name": "tool_search", "input": {}}],
            },
            "generic": {
                "role": "assistant",
                "calls": [{"id": "s1", "name": "tool_search", "arguments": {}}],
            },
        }[provider]
        whole = [{"role": "user", "content": "find it"}, called]
        before = await session.begin_turn("go on", transcript=whole)
        note = await session.compaction_note(whole)
        short = [{"role": "user", "content": "summary: we looked for the mail tool"}]
        if note:
            short.insert(0, {"role": "system", "content": note})
        after = await session.begin_turn("go on", transcript=short)
        apart = await session.begin_turn("go on", transcript=short[-1:], system=note)
        return before, after, apart

    before, after, apart = shop.turn(act, provider=provider, **agent)
    assert before.request == after.request == apart.request
    assert before.rendering == after.rendering == apart.rendering
    names = str(before.tools)
    assert "tool_search" in names
    assert ("mail_send" in names) == (agent is SEARCHING)


def test_without_any_history_the_search_and_the_servers_tools_are_there(home: Any) -> None:
    tool = {
        "name": "dust",
        "description": "Dusts.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    home.serve("shelf", [tool], annotations="trusted")
    first = home.run({"id": "c1", "tool": "mcp.shelf.dust", "arguments": {}}, expect=0)
    (before,) = home.here("plan", "--session", first[0]["session_id"], "--render")
    again = home.run(
        {"id": "c2", "tool": "mcp.shelf.dust", "arguments": {}},
        session=first[0]["session_id"],
        expect=0,
    )
    (after,) = home.here("plan", "--session", again[0]["session_id"], "--render")
    assert before == after
    assert "mcp__shelf__dust" in str(after["tools"])
