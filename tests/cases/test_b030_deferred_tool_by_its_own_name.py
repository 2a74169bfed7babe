"""B30: a model calls a deferred tool by its own name, and is told that there is no such tool.

Right: resolved against everything that the plan pins, through the same pipeline as by `tool.call`;
what is not pinned is `tool.not_found.not_offered`, with one and the same text.
"""

from typing import Any

import pytest

from toolkeeper_contract import AdvertisedAs, Caps, Code, Ending

WAYS = ["notes.read", "notes_read"]


@pytest.mark.parametrize("name", WAYS)
def test_the_deferred_tool_runs_under_its_canonical_and_its_wire_name(shop: Any, name: str) -> None:
    row = shop.one(name, {"title": "tea"})
    assert (row.tool, row.outcome) == ("notes.read", Ending.COMPLETED)
    assert row.advertised_as is AdvertisedAs.DIRECT


def test_a_deferred_write_is_asked_about_all_the_same(shop: Any) -> None:
    direct = shop.one("notes.add", {"title": "tea"})
    wrapped = shop.one("tool.call", {"name": "notes.add", "arguments": {"title": "tea"}})
    for row in (direct, wrapped):
        assert (row.tool, row.outcome, row.decision.effect) == ("notes.add", "suspended", "ask")
    assert shop.effects == []


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "openai-responses"])
def test_a_providers_reply_reaches_it_too(shop: Any, provider: str) -> None:
    arguments = {"title": "tea"}
    reply: dict[str, Any] = {
        "openai": {
            "choices": [
                {
                    "message": {
                        "tool_calls": [
                            {
                                "id": "c1",
                                "type": "function",
                                "function": {"name": "notes_read", "arguments": '{"title":"tea"}'},
                            }
                        ]
                    }
                }
            ]
        },
        "anthropic": {
            "content": [{"type": "tool_use", "id": "c1", "name": "notes_read", "input": arguments}]
        },
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "parts": [{"functionCall": {"name": "notes_read", "args": arguments}}]
                    }
                }
            ]
        },
        "openai-responses": {
            "output": [
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "notes_read",
                    "arguments": '{"title":"tea"}',
                }
            ]
        },
    }

    async def act(turn: Any, keeper: Any) -> Any:
        return await turn.call_all(turn.calls(reply[provider]))

    (outcome,) = shop.turn(act, provider=provider)
    assert (outcome.row.tool, outcome.row.outcome) == ("notes.read", Ending.COMPLETED)


@pytest.mark.parametrize(
    "name", ["notes.gone", "notes.Read", "NOTES.READ", " notes.read", "notes.read ", "read", "*"]
)
def test_what_is_not_pinned_is_not_offered(shop: Any, name: str) -> None:
    direct = shop.one(name, {"title": "tea"})
    wrapped = shop.one("tool.call", {"name": name, "arguments": {"title": "tea"}})
    for row in (direct, wrapped):
        assert (row.outcome, row.code) == (Ending.REFUSED, Code.NOT_OFFERED)
        assert "read" not in row.result
    assert direct.result == wrapped.result
    assert shop.effects == []


def test_a_searchable_tool_runs_too_and_a_skipped_one_does_not(shop: Any) -> None:
    # Room for `tool.call` and one line: the rest can only be searched for, or is skipped.
    caps = Caps(definitions=4, index_entries=1)
    controls = ("tool.call", "tool.search")
    searchable = shop.one("mail.send", {"to": "bo"}, caps=caps, control_tools=controls)
    assert searchable.outcome is Ending.SUSPENDED
    skipped = shop.one("mail.send", {"to": "bo"}, caps=caps, control_tools=("tool.call",))
    assert skipped.code is Code.NOT_OFFERED


def test_the_same_from_a_script_and_after_a_resume(home: Any) -> None:
    read, add = home.run(
        {"id": "c1", "tool": "notes_read", "arguments": {"title": "tea"}},
        {"id": "c2", "tool": "notes.add", "arguments": {"title": "tea"}},
        expect=1,
    )
    assert (read["tool"], read["outcome"], read["advertised_as"]) == (
        "notes.read",
        "completed",
        "direct",
    )
    home.here("approvals", "approve", add["approval_id"])
    done = home.toolkeeper("resume", "--all", "--json", expect=0).object()
    assert (done["outcome"], done["advertised_as"]) == ("completed", "direct")
