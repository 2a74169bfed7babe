"""Changes of the array that stand in the bytes and in no plan; providers that search themselves."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from toolkeeper import Toolkeeper, tool
from toolkeeper.runtime import Session, measure_session
from toolkeeper.runtime.rendering import Rendering
from toolkeeper.runtime.shown_changes import shown_changes
from toolkeeper.testing import keeper_of

NATIVE = {
    "anthropic": "claude-sonnet-4-5",
    "openai-responses": "gpt-5.5",
}


def functions(*names: str) -> list[Any]:
    def made(name: str) -> Any:
        def run(about: str = "") -> str:
            return about

        run.__doc__ = f"Do {name}."
        return tool(name=name, side_effect="none")(run)

    return [made(name) for name in names]


def native_keeper() -> Toolkeeper:
    return keeper_of(
        functions("alpha", "beta", "gamma"),
        disclosure="native",
        always_defined=("alpha",),
        deferred_tools=("*",),
    )


async def changes_of(keeper: Toolkeeper, session: Session) -> list[dict[str, Any]]:
    told = [
        dict(record.event.data)
        for record in await keeper.ledger.events(session_id=session.session_id)
        if record.event.name == "tools.changed"
    ]
    report = await measure_session(keeper.ledger, session.session_id)
    assert report.rewrites == len(told)
    for line in report.lines:
        assert {cause.reason for cause in line.causes} <= {
            reason for data in told for reason in data["reasons"].values()
        }
        assert None not in {cause.reason for cause in line.causes}
    return told


def found(name: str) -> list[dict[str, Any]]:
    """A conversation in which the provider's search found a tool."""
    return [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "server_tool_use",
                    "id": "srvtoolu_1",
                    "name": "tool_search_tool_bm25",
                    "input": {"query": name},
                },
                {
                    "type": "tool_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": {
                        "type": "tool_search_tool_search_result",
                        "tool_references": [{"type": "tool_reference", "tool_name": name}],
                    },
                },
            ],
        },
    ]


def without(keeper: Toolkeeper, name: str) -> None:
    agent = keeper.configuration.agents["chat"]
    left = tuple(each for each in agent.tools if each != name)
    keeper.configuration = replace(
        keeper.configuration, agents={"chat": replace(agent, tools=left)}
    )


def test_a_tombstone_comes_and_goes_with_what_the_conversation_mentions() -> None:
    async def main() -> None:
        async with native_keeper() as keeper:
            opened = await keeper.open_session(
                agent="chat", provider="anthropic", model=NATIVE["anthropic"]
            )
            await opened.begin_turn("hi")
            without(keeper, "gamma")
            session = await keeper.resumed_session(opened.session_id)
            gone = await session.begin_turn("a", transcript=found("gamma"))
            assert any(tool.get("name") == "gamma" for tool in gone.tools)
            again = await session.begin_turn("b", transcript=found("gamma"))
            assert again.rendering == gone.rendering
            await session.begin_turn("c", transcript=[{"role": "user", "content": "new"}])
            left, forgotten = await changes_of(keeper, session)
            assert left["reasons"] == {"gamma": "configuration"}
            assert (forgotten["removed"], forgotten["reasons"]) == (
                ["gamma"],
                {"gamma": "mentioned"},
            )

    asyncio.run(main())


@pytest.mark.parametrize("provider", NATIVE)
def test_a_search_of_the_providers_comes_and_goes_with_what_it_can_find(provider: str) -> None:
    async def main() -> None:
        async with native_keeper() as keeper:
            session = await keeper.open_session(
                agent="chat", provider=provider, model=NATIVE[provider]
            )
            begun = await session.begin_turn("hi")
            assert begun.plan.disclosure.used == "native"
            await session.set_intent({"enabled": False})
            none = await session.begin_turn("without tools")
            assert none.tools == []
            await session.set_intent(None)
            back = await session.begin_turn("with tools")
            assert back.tools == begun.tools
            went, came = await changes_of(keeper, session)
            assert len(went["removed"]) == len(came["added"]) > 3
            assert set(went["reasons"].values()) == {"intent", "deferral"}
            assert set(came["reasons"].values()) == {"intent", "deferral"}

    asyncio.run(main())


def test_a_change_of_disclosure_is_the_cause_of_the_providers_search() -> None:
    async def main() -> None:
        async with native_keeper() as keeper:
            opened = await keeper.open_session(
                agent="chat", provider="anthropic", model=NATIVE["anthropic"]
            )
            await opened.begin_turn("hi")
            agent = keeper.configuration.agents["chat"]
            agents = {"chat": replace(agent, disclosure="index")}
            keeper.configuration = replace(keeper.configuration, agents=agents)
            session = await keeper.resumed_session(opened.session_id)
            await session.begin_turn("by the index")
            (changed,) = await changes_of(keeper, session)
            assert changed["reasons"]["tool_search_tool_bm25"] == "disclosure"

    asyncio.run(main())


def test_another_rendering_of_the_same_plan_is_told() -> None:
    async def main() -> None:
        async with keeper_of(functions("alpha", "beta")) as keeper:
            session = await keeper.open_session(agent="chat", provider="anthropic")
            await session.begin_turn("hi")
            runs = await keeper.ledger.runs(session.session_id)
            kept = await keeper.ledger.rendering(runs[0].rendering or "")
            assert kept is not None
            older = kept.replace("Do alpha.", "Does alpha.")
            whole = keeper.ledger.rendering

            async def changed(digest: str) -> str | None:
                # As if an older version of this program had written it.
                return older if digest == runs[0].rendering else await whole(digest)

            keeper.ledger.rendering = changed  # type: ignore[method-assign]
            plan = await keeper.ledger.plan(runs[0].plan_digest)
            assert plan is not None
            codec = (await session.preview()).codec
            (event,) = await shown_changes(
                keeper.ledger, runs[0], plan, Rendering(kept + " "), codec, run_id="run"
            )
            assert (event.name, event.data["redefined"]) == ("tools.changed", ["alpha"])
            assert event.data["reasons"] == {"alpha": "rendering"}

    asyncio.run(main())
