"""A search in a run looks through a catalog that was built once for all runs of its plan."""

from typing import Any

import pytest

from toolkeeper.runtime import catalogs


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names in every catalog that is built."""
    made: list[list[str]] = []
    real = catalogs.Catalog

    def build(tools: Any) -> Any:
        made.append([tool.name for tool in tools])
        return real(tools)

    monkeypatch.setattr(catalogs, "Catalog", build)
    return made


def test_it_is_built_at_the_first_search_and_never_again_for_the_plan(
    office: Any, kit: Any, built: list[list[str]]
) -> None:
    office.agent["deferred_tools"] = ["notes.read", "notes.add", "mail.send"]

    async def act(keeper: Any) -> None:
        for _ in range(2):
            session = await keeper.open_session(agent="chat", user="ana", provider="openai")
            for _ in range(2):
                turn = await session.begin_turn("hello")
                assert len(built) <= 1
                talk = kit.Talk("openai")
                for number in range(3):
                    row = (await talk.search(turn, "read a note", f"s{number}")).row
                    assert '"name":"notes.read"' in row.result
                await session.reopen_turn()
        assert built == [["notes.read", "notes.add", "mail.send"]]

    office.play(act)


def test_a_toggle_changes_what_it_holds_at_once_and_back(
    office: Any, kit: Any, built: list[list[str]]
) -> None:
    office.agent["deferred_tools"] = ["notes.read", "mail.send"]

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("hello")
        talk = kit.Talk("openai")
        for intent in (None, {"disabled": ["notes.read"]}, None, {"disabled": ["notes.read"]}):
            await session.set_intent(intent)
            row = (await talk.search(turn, "read a note")).row
            assert row.is_error == (intent is not None)
        assert built == [["notes.read", "mail.send"], ["mail.send"]]

    office.play(act)


def test_what_a_server_changed_is_not_found_as_what_it_was(
    office: Any, kit: Any, built: list[list[str]]
) -> None:
    listing = office.shelf("dust", "polish")
    office.agent["deferred_tools"] = ["mcp.shelf.dust", "mcp.shelf.polish"]

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("hello")
        talk = kit.Talk("openai")
        assert not (await talk.search(turn, "dust")).row.is_error
        changed = [
            *kit.shelved("polish"),
            kit.shelved("dust", description="Dust off {} now.")[0],
        ]
        await kit.rearrange(talk, turn, changed, listing)
        await session.preview()
        # The turn pins the old definition, which nobody can call any more.
        row = (await talk.search(turn, "dust")).row
        assert '"name":"mcp.shelf.dust"' not in row.result
        assert '"name":"mcp.shelf.polish"' in (await talk.search(turn, "polish")).row.result

    office.play(act)


def test_the_words_of_the_provider_are_used(office: Any, kit: Any) -> None:
    office.agent |= {"deferred_tools": ["notes.read"], "disclosure": "search"}

    async def act(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("hello")
        row = (await kit.Talk("openai").search(turn, "read a note")).row
        assert "by tool_call or by name" in row.result
        assert "tool_search" in turn.system
        assert "tool.search" not in turn.system

    office.play(act)
    office.agent["control_tools"] = ["tool.search"]

    async def alone(keeper: Any) -> None:
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("hello")
        row = (await kit.Talk("openai").search(turn, "read a note")).row
        assert "called at once, by name" in row.result

    office.play(alone)
