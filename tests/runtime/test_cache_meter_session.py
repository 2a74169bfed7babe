"""The meter over recorded sessions: what is told of every change, and what changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from toolkeeper import RunError, Toolkeeper, tool
from toolkeeper.runtime import CacheLine, measure_session
from toolkeeper.runtime.configuration import Agent
from toolkeeper.testing import keeper_of
from toolkeeper_contract import Caps

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")


def functions(*names: str) -> list[Any]:
    def made(name: str) -> Any:
        def run(about: str = "") -> str:
            return about

        run.__doc__ = f"Do {name}."
        return tool(name=name, side_effect="none")(run)

    return [made(name) for name in names]


def after(
    keeper: Toolkeeper, main: Callable[[Toolkeeper], Awaitable[Any]]
) -> tuple[list[CacheLine], Any]:
    """The lines of the session whose id `main` returns, and its events."""

    async def run() -> tuple[list[CacheLine], Any]:
        async with keeper:
            session_id = await main(keeper)
            events = await keeper.ledger.events(session_id=session_id)
            return list((await measure_session(keeper.ledger, session_id)).lines), events

    return asyncio.run(run())


def changed(events: Any) -> list[tuple[str, Any]]:
    return [
        (record.event.name, record.event.data)
        for record in events
        if record.event.name in ("tools.changed", "index.changed")
    ]


def test_a_forced_tool_is_the_cause_of_its_coming_and_of_its_going() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="anthropic")
        for forced in (None, "epsilon", "epsilon", None):
            await session.begin_turn("hi", tool_choice=forced)
        return session.session_id

    lines, events = after(keeper_of(functions(*NAMES), deferred_tools=("epsilon",)), main)
    assert [line.rewrite for line in lines] == [False, True, False, True]
    for line in (lines[1], lines[3]):
        of_tools = {cause.name: cause.reason for cause in line.causes if cause.part == "tools"}
        assert of_tools["epsilon"] == "forced"
    assert {name for name, _ in changed(events)} == {"tools.changed", "index.changed"}


def test_a_forced_choice_alone_changes_no_byte_of_the_prefix() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="openai")
        for forced in (None, "alpha", None):
            await session.begin_turn("hi", tool_choice=forced)
        return session.session_id

    lines, events = after(keeper_of(functions("alpha")), main)
    assert [line.rewrite for line in lines] == [False, False, False]
    assert changed(events) == []


def configured(keeper: Toolkeeper, **fields: Any) -> None:
    """The configuration is edited while the program is away."""
    agent: Agent = replace(keeper.configuration.agents["chat"], **fields)
    keeper.configuration = replace(keeper.configuration, agents={"chat": agent})


@pytest.mark.parametrize(
    "fields",
    [
        {"toolsets": {"research": ("alpha",)}},
        {"caps": Caps(index_tokens=1_900)},
        {"always_defined": ("alpha",)},
    ],
    ids=["toolsets", "caps", "always defined"],
)
def test_what_the_model_does_not_see_rewrites_nothing(fields: dict[str, Any]) -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="anthropic")
        before = (await session.begin_turn("hi")).plan
        configured(keeper, **fields)
        session = await keeper.resumed_session(session.session_id)
        assert (await session.begin_turn("hi")).plan.digest != before.digest
        return session.session_id

    lines, events = after(keeper_of(functions(*NAMES), deferred_tools=("beta", "gamma")), main)
    assert [line.rewrite for line in lines] == [False, False]
    assert changed(events) == []


def test_another_order_in_the_configuration_is_a_move() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="gemini")
        await session.begin_turn("hi")
        configured(keeper, tools=("beta", "gamma", "delta", "epsilon", "alpha"))
        session = await keeper.resumed_session(session.session_id)
        await session.begin_turn("hi")
        return session.session_id

    lines, events = after(keeper_of(functions(*NAMES)), main)
    assert [line.rewrite for line in lines] == [False, True]
    (cause,) = lines[1].causes
    assert (cause.change, cause.name, cause.position, cause.was, cause.reason) == (
        "moved",
        "alpha",
        4,
        0,
        "configuration",
    )
    assert lines[1].broke == cause
    ((name, data),) = changed(events)
    assert (name, data["moved"]) == ("tools.changed", ["alpha"])


def test_another_way_to_disclose_is_told_of_every_line_and_of_the_search() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="anthropic")
        await session.begin_turn("hi")
        configured(keeper, disclosure="search", listing="names")
        session = await keeper.resumed_session(session.session_id)
        await session.begin_turn("hi")
        return session.session_id

    lines, events = after(keeper_of(functions(*NAMES), deferred_tools=("beta", "gamma")), main)
    told = dict(changed(events))
    assert told["tools.changed"]["reasons"] == {"tool.search": "disclosure"}
    assert lines[1].rewrite
    assert {cause.reason for cause in lines[1].causes} == {"disclosure"}
    assert {cause.name for cause in lines[1].causes} >= {"tool.search", "beta", "gamma"}


def test_each_step_that_made_calls_is_a_request() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat")
        turn = await session.begin_turn("hi")
        for step in range(3):
            await turn.call_all([turn.read(f"c{step}{n}", "alpha", {}) for n in range(2)])
        await session.begin_turn("and?")
        return session.session_id

    lines, _ = after(keeper_of(functions("alpha")), main)
    assert [(line.turn, line.request) for line in lines] == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert [line.first for line in lines] == [True, False, False, False]
    assert {line.kept_bytes == line.prefix_bytes for line in lines[1:]} == {True}


def test_a_fork_stands_beside_the_last_request_before_it() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="anthropic")
        await session.begin_turn("hi")
        fork = await session.fork()
        await session.set_intent({"disabled": ["alpha"]})
        await session.begin_turn("here it goes on otherwise")
        await fork.begin_turn("there it stays")
        return fork.session_id

    lines, events = after(keeper_of(functions("alpha", "beta")), main)
    (line,) = lines
    assert (line.first, line.rewrite) == (False, False)
    assert line.kept_bytes == line.prefix_bytes > 0
    assert changed(events) == []


def test_a_fork_to_another_provider_begins_anew() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat", provider="anthropic")
        await session.begin_turn("hi")
        fork = await session.fork(provider="openai")
        await fork.begin_turn("there")
        return fork.session_id

    lines, _ = after(keeper_of(functions("alpha")), main)
    assert [(line.first, line.kept_bytes, line.rewrite) for line in lines] == [(True, 0, False)]


def test_a_session_without_a_turn_has_no_request() -> None:
    async def main(keeper: Toolkeeper) -> str:
        return (await keeper.open_session(agent="chat")).session_id

    assert after(keeper_of(functions("alpha")), main)[0] == []


def test_a_lost_rendering_is_an_error_and_not_an_empty_prefix() -> None:
    async def main(keeper: Toolkeeper) -> str:
        session = await keeper.open_session(agent="chat")
        turn = await session.begin_turn("hi")
        whole = keeper.ledger.rendering

        async def lost(digest: str) -> str | None:
            return None if digest == turn.rendering else await whole(digest)

        keeper.ledger.rendering = lost  # type: ignore[method-assign]
        return session.session_id

    with pytest.raises(RunError, match="the ledger lacks the rendering"):
        after(keeper_of(functions("alpha")), main)
