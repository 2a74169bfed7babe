"""B40: the bridge searched and called a process-wide registry, so a session ran foreign tools.

Right: search and unwrapping see the run's own pins and nothing else; nothing global changes; the
refusal is on record.
"""

import asyncio
from typing import Any

import pytest

from toolkeeper import Toolkeeper, tool
from toolkeeper_contract import Code, Ending

NAMES = ["danger.wipe", "danger_wipe", "mcp.other.secret", "mcp__other__secret"]
QUERIES = ["wipe", "danger.wipe", "wipe everything", "secret"]


@pytest.fixture
def wide(home: Any) -> Any:
    """The program has `danger.wipe`, another agent has a server: neither is for `chat`."""
    schema = {"type": "object"}
    home.serve("other", [{"name": "secret", "description": "A secret.", "inputSchema": schema}])
    home.agent["servers"] = []
    home.settings["agents"] = {
        "chat": {
            "tools": ["notes.list", "notes.read", "notes.add", "mail.send"],
            "deferred_tools": ["notes.read", "notes.add"],
        },
        "admin": {"tools": ["danger.wipe"], "servers": ["other"]},
    }
    home.write()
    return home


def test_neither_search_nor_call_reaches_beyond_the_agents_own_tools(wide: Any) -> None:
    searches = [
        {"id": f"s{n}", "tool": "tool.search", "arguments": {"query": query}}
        for n, query in enumerate(QUERIES)
    ]
    selects = [{"id": "s9", "tool": "tool.search", "arguments": {"select": NAMES[:1]}}]
    wrapped = [
        {"id": f"w{n}", "tool": "tool.call", "arguments": {"name": name}}
        for n, name in enumerate(NAMES)
    ]
    direct = [{"id": f"d{n}", "tool": name, "arguments": {}} for n, name in enumerate(NAMES)]
    lines = wide.run(*searches, *selects, *wrapped, *direct, approvals={"*": "approve"}, expect=1)
    found, refused = lines[:5], lines[5:]
    for line in found:
        assert "Wipe everything" not in line["result"]
        assert "A secret" not in line["result"]
        assert line["outcome"] == "completed"
    assert [line["code"] for line in refused] == ["tool.not_found.not_offered"] * len(refused)
    assert len({line["result"] for line in refused}) == 1
    assert wide.effects() == []
    assert wide.called("other") == []
    assert len(wide.here("audit", "calls")) == len(lines)


def test_searching_widens_nothing(wide: Any) -> None:
    def plan() -> Any:
        return wide.here("plan", "--agent", "chat")[0]["digest"]

    before = plan()
    wide.run({"id": "c1", "tool": "tool.search", "arguments": {"query": "wipe"}})
    assert plan() == before


@tool(name="danger.wipe", side_effect="none")
def wipe() -> str:
    """Wipe everything."""
    raise AssertionError("this must not run")


@pytest.mark.parametrize(
    "intent",
    [
        {"disabled": ["danger.wipe"]},
        {"allowed": ["notes.list", "notes.read"]},
        ["notes.list", "notes.read"],
    ],
)
def test_what_this_session_was_not_given_does_not_exist_for_it(shop: Any, intent: Any) -> None:
    async def play() -> Any:
        keeper: Toolkeeper = shop.keeper(wipe, deferred_tools=("*",))
        async with keeper:
            wide = await keeper.open_session(agent="chat", user="ana")
            narrow = await keeper.open_session(agent="chat", user="ana", intent=intent)
            other = await wide.begin_turn()
            turn = await narrow.begin_turn()
            assert "danger.wipe" in other.plan.pins
            rows = []
            for name, arguments in (
                ("danger.wipe", {}),
                ("tool.call", {"name": "danger.wipe"}),
                ("tool.search", {"query": "wipe everything"}),
                ("tool.search", {"select": ["danger.wipe"]}),
            ):
                rows.append((await turn.call(turn.read("c1", name, arguments))).row)
            return rows

    direct, wrapped, searched, selected = asyncio.run(play())
    assert direct.code is wrapped.code is Code.NOT_OFFERED
    assert "Wipe everything" not in searched.result + selected.result
    assert selected.is_error


def test_what_is_switched_off_during_the_turn_is_refused_and_no_longer_found(shop: Any) -> None:
    async def play() -> Any:
        keeper: Toolkeeper = shop.keeper(deferred_tools=("*",))
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            await session.set_intent({"disabled": ["notes.read"]})
            called = await turn.call(
                turn.read("c1", "tool.call", {"name": "notes.read", "arguments": {"title": "x"}})
            )
            found = await turn.call(turn.read("c2", "tool.search", {"query": "read a note"}))
            return called.row, found.row

    called, found = asyncio.run(play())
    assert (called.outcome, called.code) == (Ending.REFUSED, Code.WITHDRAWN)
    assert "Read a note" not in found.result
    assert shop.effects == []


def test_kept_results_of_another_session_do_not_exist(shop: Any) -> None:
    from toolkeeper.runtime.configuration import Limits

    @tool(name="notes.long", side_effect="workspace_read")
    def long() -> str:
        """A long text."""
        return "x" * 1000

    async def play() -> Any:
        keeper: Toolkeeper = shop.keeper(long, limits=Limits(result_bytes=100))
        async with keeper:
            first = await (await keeper.open_session(agent="chat", user="ana")).begin_turn()
            cut = (await first.call(first.read("c1", "notes.long", {}))).row
            rows = []
            for user in ("ana", "bo"):
                turn = await (await keeper.open_session(agent="chat", user=user)).begin_turn()
                read = turn.read("c1", "tool.result", {"handle": cut.handle})
                rows.append((await turn.call(read)).row)
            own = await first.call(first.read("c2", "tool.result", {"handle": cut.handle}))
            return cut, rows, own.row

    cut, others, own = asyncio.run(play())
    assert cut.truncated
    assert not own.is_error
    assert all(row.is_error and "xxx" not in row.result for row in others)
