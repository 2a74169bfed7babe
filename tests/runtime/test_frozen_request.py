"""What a turn shows stays as it is, whatever its caller does with it."""

import asyncio
from typing import Any

import pytest

from toolkeeper import Turn, tool
from toolkeeper.runtime import measure
from toolkeeper.testing import keeper_of
from toolkeeper_contract import canonical_text


def functions() -> list[Any]:
    def made(name: str) -> Any:
        def run(about: str = "") -> str:
            return about

        run.__doc__ = f"Do {name}."
        return tool(name=name, side_effect="none")(run)

    return [made(name) for name in ("alpha", "beta", "gamma")]


def turn_of(provider: str, model: str | None = None, **agent: Any) -> Turn:
    async def main() -> Turn:
        async with keeper_of(functions(), **agent) as keeper:
            session = await keeper.open_session(agent="chat", provider=provider, model=model)
            return await session.begin_turn("hi")

    return asyncio.run(main())


def test_a_caller_that_changes_what_it_got_changes_no_later_request() -> None:
    turn = turn_of("anthropic")
    shown = canonical_text(turn.request)
    turn.tools.append({"name": "mine"})
    turn.tools[0]["description"] = "mine"
    turn.request["tools"].clear()
    turn.request["system"] = "mine"
    turn.cached_request["tools"][0]["input_schema"]["properties"].clear()
    assert canonical_text(turn.request) == shown
    assert canonical_text(turn.tools) == canonical_text(turn.request["tools"])


def test_the_cache_marker_stands_on_the_last_tool_that_is_not_deferred() -> None:
    turn = turn_of(
        "anthropic",
        "claude-sonnet-4-5",
        disclosure="native",
        always_defined=("alpha",),
        deferred_tools=("*",),
    )
    marked = [one for one in turn.cached_request["tools"] if "cache_control" in one]
    plain = [one for one in turn.tools if not one.get("defer_loading")]
    assert [one["name"] for one in marked] == [plain[-1]["name"]]
    assert marked[0]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-responses", "gemini"])
def test_a_marker_is_no_other_prefix(provider: str) -> None:
    turn = turn_of(provider, deferred_tools=("gamma",))
    report = measure([turn.request, turn.cached_request, turn.request])
    assert report.rewrites == 0
    assert (turn.cached_request == turn.request) == (provider != "anthropic")
