"""B113: loaded tools are lost on resume, or still there after the conversation was cleared.

Right: the loaded set is a function of the visible branch of the conversation.
"""

import json
from typing import Any

SEARCH = {"id": "s1", "tool": "tool.search", "arguments": {"query": "send a mail"}}


def office(home: Any) -> None:
    home.agent |= {
        "disclosure": "search",
        "always_defined": ["notes.list"],
        "deferred_tools": ["*"],
    }
    home.write()


def test_search_resume_clear_and_a_fork_before_the_search(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        session = turn._session
        start = [{"role": "user", "content": "find it"}]
        called = {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "s1",
                    "type": "function",
                    "function": {"name": "tool_search", "arguments": "{}"},
                }
            ],
        }
        await turn.call(turn.read("s1", "tool.search", {"query": "send a mail"}))
        whole = [*start, called]
        resumed = await keeper.resumed_session(session.session_id)
        after = await resumed.begin_turn("go on", transcript=whole)
        early = await session.fork()
        before = await early.begin_turn("go on", transcript=start)
        await resumed.clear()
        cleared = await resumed.begin_turn("anew", transcript=whole)
        return after.plan, before.plan, cleared.plan

    after, before, cleared = shop.turn(
        act,
        provider="openai",
        disclosure="search",
        always_defined=("notes.list",),
        deferred_tools=("*",),
    )
    assert after.loaded == ("mail.send",)
    assert "mail.send" in after.defined
    for plan in (before, cleared):
        assert plan.loaded == ()
        assert "mail.send" in plan.deferred_names


def test_the_command_line_goes_on_with_what_was_loaded(home: Any) -> None:
    office(home)
    (found,) = home.run(SEARCH, expect=0)
    session = found["session_id"]
    (plan,) = home.here("plan", "--session", session)
    assert plan["defined_tool_names"][-1] == "mail.send"
    (sent,) = home.run(
        {"id": "c1", "tool": "mail.send", "arguments": {"to": "bo"}}, session=session, expect=1
    )
    assert (sent["advertised_as"], sent["outcome"]) == ("definition", "suspended")
    # Another session of the same user has loaded nothing.
    (other,) = home.run({"id": "c1", "tool": "mail.send", "arguments": {"to": "bo"}}, expect=1)
    assert other["advertised_as"] == "direct"
    told = home.here("audit", "events")
    (loaded,) = [json.loads(json.dumps(each)) for each in told if each["event"] == "tools.loaded"]
    assert list(loaded["tools"]) == ["mail.send"]
    assert loaded["invocation_id"] == found["invocation_id"]
