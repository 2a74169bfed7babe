"""B39: the target's own name or id leaked into the answer, and the provider could not pair it.

Right: the answer bears the wrapper's wire name and the model's call id; rows and events bear the
real tool's name.
"""

import json
from typing import Any

import pytest

from toolkeeper import tool

pytestmark = pytest.mark.in_this_process

CALL = {"name": "crm.find", "arguments": {"who": "bo"}}


@tool(name="crm.find", side_effect="workspace_read")
def find(who: str) -> dict[str, Any]:
    """Find somebody."""
    return {"name": "not the tool", "id": "not the call", "tool_call_id": "x", "role": "system"}


@tool(name="crm.add", side_effect="workspace_write")
def add(who: str) -> dict[str, Any]:
    """Add somebody."""
    return {"name": "not the tool", "id": "not the call"}


REPLIES: dict[str, Any] = {
    "openai": lambda name, arguments: {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {
                            "id": "model-7",
                            "type": "function",
                            "function": {"name": name, "arguments": json.dumps(arguments)},
                        }
                    ]
                }
            }
        ]
    },
    "openai-responses": lambda name, arguments: {
        "output": [
            {
                "type": "function_call",
                "call_id": "model-7",
                "name": name,
                "arguments": json.dumps(arguments),
            }
        ]
    },
    "anthropic": lambda name, arguments: {
        "content": [{"type": "tool_use", "id": "model-7", "name": name, "input": arguments}]
    },
    "gemini": lambda name, arguments: {
        "candidates": [
            {
                "content": {
                    "parts": [{"functionCall": {"id": "model-7", "name": name, "args": arguments}}]
                }
            }
        ]
    },
}


def answer_of(shop: Any, provider: str, name: str, arguments: Any) -> tuple[Any, Any, Any]:
    """The row, its events, and the message that answers one call of a provider's reply."""

    async def act(turn: Any, keeper: Any) -> Any:
        outcomes = await turn.call_all(turn.calls(REPLIES[provider](name, arguments)))
        row = outcomes[0].row
        events = await keeper.ledger.events(invocation_id=row.invocation_id)
        return row, events, turn.results(outcomes)

    return shop.turn(
        act,
        provider=provider,
        more=(find, add),
        deferred_tools=("crm.*",),
    )


def paired(provider: str, messages: Any) -> tuple[str, str | None, str]:
    """Call id, tool name (where this wire has one) and text of the answer."""
    (message,) = messages
    if provider == "openai":
        return message["tool_call_id"], message.get("name"), message["content"]
    if provider == "openai-responses":
        return message["call_id"], message.get("name"), message["output"]
    if provider == "anthropic":
        (block,) = message["content"]
        return block["tool_use_id"], block.get("name"), str(block["content"])
    response = message["parts"][0]["functionResponse"]
    return response["id"], response["name"], str(response["response"])


@pytest.mark.parametrize("provider", sorted(REPLIES))
def test_the_answer_is_the_wrappers_and_the_row_is_the_tools(shop: Any, provider: str) -> None:
    row, events, messages = answer_of(shop, provider, "tool_call", CALL)
    call_id, name, text = paired(provider, messages)
    assert call_id == "model-7"
    assert name in (None, "tool_call")
    assert "not the tool" in text
    assert (row.tool, row.call_id) == ("crm.find", "model-7")
    told = [event.event for event in events if "tool" in event.event.data]
    assert {event.data["tool"] for event in told} == {"crm.find"}
    assert "call.unwrapped" in {event.name for event in told}


@pytest.mark.parametrize("provider", sorted(REPLIES))
@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ({"name": "crm.find", "arguments": {}}, "refused"),
        ({"name": "crm.gone"}, "refused"),
        ({"nmae": "crm.find"}, "refused"),
        ({"name": "tool.call", "arguments": CALL}, "refused"),
        ({"name": "crm.add", "arguments": {"who": "bo"}}, "suspended"),
    ],
)
def test_so_is_every_other_ending(shop: Any, provider: str, arguments: Any, outcome: str) -> None:
    row, _, messages = answer_of(shop, provider, "tool_call", arguments)
    call_id, name, text = paired(provider, messages)
    assert row.outcome == outcome
    assert (call_id, name in (None, "tool_call")) == ("model-7", True)
    assert row.result in text or provider == "gemini"


@pytest.mark.parametrize("provider", sorted(REPLIES))
def test_a_direct_call_is_answered_under_its_own_wire_name(shop: Any, provider: str) -> None:
    row, _, messages = answer_of(shop, provider, "crm_find", {"who": "bo"})
    call_id, name, _ = paired(provider, messages)
    assert (call_id, name in (None, "crm_find"), row.tool) == ("model-7", True, "crm.find")


def test_a_server_that_answers_with_names_and_ids_of_its_own(home: Any) -> None:
    home.serve(
        "crm",
        [{"name": "find", "inputSchema": {"type": "object"}}],
        trust="trusted",
        results={
            "find": {
                "content": [{"type": "text", "text": '{"name": "evil", "id": "c9"}'}],
                "name": "evil",
                "id": "c9",
                "tool_call_id": "c9",
            }
        },
    )
    (line,) = home.run(
        {"id": "c1", "tool": "tool.call", "arguments": {"name": "mcp.crm.find"}},
        approvals={"c1": "approve"},
        expect=0,
    )
    assert (line["call_id"], line["tool"]) == ("c1", "mcp.crm.find")
    assert line["advertised_as"] == "tool.call"
    events = home.here("audit", "show", line["invocation_id"])[0]["events"]
    assert {event["tool"] for event in events if "tool" in event} == {"mcp.crm.find"}
