"""B166: native deferral is asked for through a gateway or with an older model, and does nothing.

Right: what is on the wire is what the plan says. Where the provider is not known to search, no
defer flag is sent, the deferred tools stand in the index instead, and the reason is told.
"""

import asyncio
import json
from typing import Any

import pytest

from toolkeeper import Toolkeeper
from toolkeeper_wire import Capability, Incapable, native_search

CAN = [
    ("anthropic", None, "claude-sonnet-4-5"),
    ("anthropic", "https://api.anthropic.com", "claude-opus-5-5"),
    ("openai-responses", None, "gpt-5.4"),
    ("openai-responses", "https://api.openai.com/v1", "gpt-6-astra"),
]
CANNOT = [
    ("anthropic", "https://gateway.example", "claude-sonnet-4-5"),
    ("anthropic", "https://api.anthropic.com.gateway.example", "claude-sonnet-4-5"),
    ("anthropic", None, "claude-sonnet-4-20250514"),
    ("anthropic", None, "claude-of-tomorrow"),
    ("anthropic", None, None),
    ("openai-responses", "https://gateway.example/v1", "gpt-5.4"),
    ("openai-responses", None, "gpt-5.4-nano"),
    ("openai-responses", None, "gpt-5.2"),
    ("openai", None, "gpt-5.4"),
    ("gemini", None, "gemini-3-pro"),
    ("generic", None, "claude-sonnet-4-5"),
]
DEFERRED = ["mail_send", "notes_add", "notes_read"]


def shown(shop: Any, provider: str, endpoint: str | None, model: str | None) -> tuple[Any, Any]:
    """The plan of one turn in disclosure `native`, and the request parts that it shows."""

    async def play() -> tuple[Any, Any]:
        keeper: Toolkeeper = shop.keeper(disclosure="native")
        async with (
            keeper,
            keeper.session(
                agent="chat", user="ana", provider=provider, endpoint=endpoint, model=model
            ) as session,
        ):
            turn = await session.begin_turn()
            return turn.plan, {"tools": turn.tools, "system": turn.system}

    return asyncio.run(play())


def flagged(array: Any) -> list[str]:
    flat = [inner for one in array for inner in one.get("tools", [one])]
    return sorted(one["name"] for one in flat if one.get("defer_loading"))


@pytest.mark.parametrize(("provider", "endpoint", "model"), CAN)
def test_where_the_provider_searches_the_deferred_tools_are_flagged(
    shop: Any, provider: str, endpoint: str | None, model: str | None
) -> None:
    assert isinstance(native_search(provider, endpoint, model), Capability)
    plan, request = shown(shop, provider, endpoint, model)
    assert (plan.disclosure.asked, plan.disclosure.used) == ("native", "native")
    assert plan.disclosure.reason is None
    assert flagged(request["tools"]) == DEFERRED
    searches = [one for one in request["tools"] if "tool_search" in one.get("type", "")]
    assert len(searches) == 1
    assert not any(name in request["system"] for name in ("mail.send", "notes.add"))
    assert plan.costs.index_tokens == 0


@pytest.mark.parametrize(("provider", "endpoint", "model"), CANNOT)
def test_where_it_does_not_nothing_pretends_to(
    shop: Any, provider: str, endpoint: str | None, model: str | None
) -> None:
    found = native_search(provider, endpoint, model)
    assert isinstance(found, Incapable)
    plan, request = shown(shop, provider, endpoint, model)
    assert (plan.disclosure.asked, plan.disclosure.used) == ("native", "index")
    assert plan.disclosure.reason == found.reason
    wire = json.dumps(request["tools"])
    assert "defer_loading" not in wire
    assert "tool_search_tool" not in wire
    assert not any(name in wire for name in ("mail_send", "notes_add"))
    assert all(name in request["system"] for name in ("mail.send", "notes.add", "notes.read"))


def test_a_secret_in_the_endpoint_is_not_in_the_reason() -> None:
    found = native_search("anthropic", "https://key:hunter2@gateway.example", "claude-sonnet-4-5")
    assert isinstance(found, Incapable)
    assert "hunter2" not in found.reason
