"""B163: history holds a native reference to a tool that is no longer sent; requests are refused.

Right: what native results in the conversation name stays in the array as a deferred tombstone, a
call to it is not offered, and history is not edited.
"""

import asyncio
import copy
from typing import Any

import pytest

from toolkeeper import Toolkeeper
from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
    canonical_text,
)
from toolkeeper_wire import (
    Capability,
    Format,
    NameCodec,
    NativeTools,
    RecordedCall,
    Step,
    format_for,
    tombstones,
)

READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")
CAPABILITIES = {
    "anthropic": Capability("anthropic", "bm25"),
    "openai-responses": Capability("openai-responses", "hosted"),
}


def tool(name: str, server: str = "git") -> Tool:
    identity = ToolIdentity(SourceKind.MCP, server, name)
    return Tool.of(identity, ToolDefinition(name, None, "Does it.", {}), READ)


STAYS = tool("status")
TRANSIENT = tool("transient")
LONG = tool("t" * 100, "s" * 60)


def answer(provider: str, wire: str) -> dict[str, Any]:
    """A provider's answer whose native search found one tool."""
    if provider == "anthropic":
        reference = {"type": "tool_reference", "tool_name": wire}
        content = {"type": "tool_search_tool_search_result", "tool_references": [reference]}
        block = {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": content}
        return {"role": "assistant", "content": [block]}
    found = {"type": "function", "name": wire, "parameters": {}}
    return {"output": [{"type": "tool_search_output", "execution": "server", "tools": [found]}]}


def names(array: Any) -> list[str]:
    """The names of an array's tools, those inside namespaces too."""
    return [
        name
        for one in array
        for name in (names(one["tools"]) if "tools" in one else [one.get("name", "")])
    ]


def entry(array: Any, name: str) -> Any:
    flat = [inner for one in array for inner in one.get("tools", [one])]
    (found,) = [one for one in flat if one.get("name") == name]
    return found


def next_array(form: Format, referenced: tuple[str, ...], present: list[Tool]) -> Any:
    """The next turn's array in a process that never saw the vanished tools."""
    gone = tombstones(referenced, [one.name for one in present])
    codec = form.codec(one.identity for one in present).extended(gone)
    return form.tools([], codec, NativeTools(CAPABILITIES[form.name], tuple(present), gone))


@pytest.mark.parametrize("provider", CAPABILITIES)
@pytest.mark.parametrize("vanished", [TRANSIENT, LONG])
def test_a_vanished_tool_stays_as_a_deferred_tombstone(provider: str, vanished: Tool) -> None:
    form = format_for(provider)
    codec = NameCodec.of([STAYS.identity, vanished.identity])
    wire = codec.wire(vanished.name)
    response = answer(provider, wire)
    before = copy.deepcopy(response)
    referenced = form.found(response, codec)
    assert referenced == (vanished.name,)
    array = next_array(form, referenced, [STAYS])
    assert wire in names(array)
    buried = entry(array, wire)
    assert buried["defer_loading"] is True
    assert buried["description"] == "This tool is not available any more."
    schema = buried.get("input_schema", buried.get("parameters"))
    assert schema == {"type": "object", "properties": {}}
    assert response == before


@pytest.mark.parametrize("provider", CAPABILITIES)
def test_a_tombstone_is_the_same_whatever_the_tool_once_was(provider: str) -> None:
    form = format_for(provider)
    first = next_array(form, ("mcp.git.transient", "mcp.x.y"), [STAYS])
    again = next_array(form, ("mcp.x.y", "mcp.git.transient", "mcp.x.y"), [STAYS])
    assert canonical_text(first) == canonical_text(again)


@pytest.mark.parametrize("provider", CAPABILITIES)
def test_a_tool_that_comes_back_takes_the_place_of_its_tombstone(provider: str) -> None:
    form = format_for(provider)
    array = next_array(form, (TRANSIENT.name,), [STAYS, TRANSIENT])
    assert names(array).count("mcp__git__transient") == 1
    assert entry(array, "mcp__git__transient")["description"] == "Does it."


@pytest.mark.parametrize("provider", CAPABILITIES)
def test_a_call_of_a_vanished_tool_stays_in_a_replayed_conversation(provider: str) -> None:
    form = format_for(provider)
    gone = tombstones([TRANSIENT.name], [])
    codec = form.codec([STAYS.identity]).extended(gone)
    native = NativeTools(CAPABILITIES[provider], (STAYS,), gone)
    talk = [Step((RecordedCall("c1", TRANSIENT.name, {}, "done"),))]
    assert "mcp__git__transient" in canonical_text(form.history(talk, codec, native))
    assert "mcp__git__transient" in names(form.tools([], codec, native))


def test_a_session_buries_what_its_conversation_still_mentions(shop: Any) -> None:
    transcript = [{"role": "user", "content": "tea"}, answer("anthropic", "notes_read")]

    async def play() -> tuple[Any, Any, Any]:
        keeper: Toolkeeper = shop.keeper(disclosure="native")
        async with (
            keeper,
            keeper.session(
                agent="chat", user="ana", provider="anthropic", model="claude-opus-4-5"
            ) as session,
        ):
            first = await session.begin_turn()
            override = {"disabled": ["notes.read"]}
            second = await session.begin_turn(override=override, transcript=transcript)
            outcome = await second.call(second.read("c1", "notes_read", {"title": "tea"}))
            return first.tools, second.tools, outcome.row

    before, after, row = asyncio.run(play())
    assert entry(before, "notes_read")["description"] == "Read a note."
    assert entry(after, "notes_read")["description"] == "This tool is not available any more."
    assert row.outcome == "refused"
    assert shop.effects == []


def test_a_call_to_a_tombstone_is_not_offered(shop: Any) -> None:
    for name in ("mcp.git.transient", "mcp__git__transient"):
        assert shop.one(name, {}).code == "tool.not_found.not_offered"
