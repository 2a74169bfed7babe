"""What a recorded session may hold besides calls: forced tools, responses, children."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import ENDED

Desktop = Any

MODEL = "claude-sonnet-4-5"


def play(desktop: Desktop, script: dict[str, Any], *words: str, code: int = 0) -> list[Any]:
    ended = desktop.record(script, *words)
    assert ended.code == code, ended.err
    assert all(tuple(line) == ENDED for line in ended.lines)
    lines: list[Any] = ended.lines
    return lines


def refused(desktop: Desktop, script: dict[str, Any]) -> str:
    before = desktop.files() | {"session.yaml"}
    ended = desktop.record(script)
    assert (ended.code, ended.out) == (2, "")
    # what cannot work leaves no store behind
    assert desktop.files() == before
    err: str = ended.err
    return err


def call(id: str, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "arguments": arguments}


def plans(desktop: Desktop) -> list[Any]:
    found: list[Any] = desktop.toolkeeper("audit", "plans", "--json").lines
    return found


def events(desktop: Desktop, name: str) -> list[Any]:
    told = desktop.toolkeeper("audit", "events", "--json").lines
    return [line for line in told if line["event"] == name]


def anthropic(*content: dict[str, Any]) -> str:
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "stop_reason": "tool_use",
            "content": list(content),
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


def use(id: str, name: str, /, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


# forced tools


def test_a_forced_tool_is_defined_and_asked_for_in_that_turn_only(desktop: Desktop) -> None:
    turns = [
        {"tool_choice": "mail.send", "calls": [call("c1", "schedule.list")]},
        {"calls": [call("c2", "schedule.list")]},
    ]
    play(desktop, {"turns": turns})
    one, two = plans(desktop)
    assert "mail.send" in one["defined_tool_names"]
    assert "mail.send" in two["deferred_tool_names"]
    began = events(desktop, "run.began")
    assert [event.get("forced") for event in began] == ["mail.send", None]


FORCED = {
    "mail.sned": "`mail.sned` cannot be forced: this session does not have it "
    "(did you mean `mail.send`?)",
    "slow.write": "`slow.write` cannot be forced",
}


@pytest.mark.parametrize("name", FORCED)
def test_a_tool_that_cannot_be_forced_is_told_before_anything_happens(
    desktop: Desktop, name: str
) -> None:
    turns = [{"calls": [call("c1", "schedule.update", id=1)]}, {"tool_choice": name}]
    err = refused(desktop, {"turns": turns})
    assert err.startswith("error: session.yaml:17: turns[1].tool_choice: ")
    assert FORCED[name] in err
    assert desktop.world == []


def test_an_override_and_the_intent_decide_what_can_be_forced(desktop: Desktop) -> None:
    off = {"disabled": ["schedule.list"]}
    forced = {"tool_choice": "schedule.list"}
    assert "cannot be forced" in refused(desktop, {"turns": [{**forced, "override": off}]})
    assert "cannot be forced" in refused(desktop, {"intent": off, "turns": [forced]})
    play(desktop, {"intent": off, "turns": [{**forced, "override": {}}]})


def test_an_intent_that_the_script_clears_is_in_nobodys_way(desktop: Desktop) -> None:
    calls = [call("c1", "schedule.update")]
    off = {"disabled": ["schedule.list"]}
    (line,) = play(desktop, {"intent": off, "turns": [{"calls": calls}]}, code=1)
    forced = {"turns": [{"tool_choice": "schedule.list"}]}
    session = ("--session", line["session_id"])
    ended = desktop.record(forced, *session)
    assert (ended.code, ended.out) == (2, "")
    play(desktop, {**forced, "intent": None}, *session)
    assert desktop.sql("SELECT count(*) FROM runs") == 2


# responses


def test_a_response_is_read_by_the_sessions_provider(desktop: Desktop) -> None:
    openai = {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": f"call_{number}",
                            "type": "function",
                            "function": {"name": name, "arguments": arguments},
                        }
                        for number, (name, arguments) in enumerate(
                            [("schedule_list", '{"day": "friday"}'), ("schedule_update", "{")]
                        )
                    ],
                }
            }
        ]
    }
    responses = [
        {"type": "function_call", "call_id": "call_0", "name": "schedule_list", "arguments": "{}"},
    ]
    parts = [{"functionCall": {"id": "call_0", "name": "schedule_list", "args": {"day": "x"}}}]
    written = {
        "openai": (openai, ["completed", "refused"]),
        "openai-responses": ({"output": responses}, ["completed"]),
        "anthropic": (json.loads(anthropic(use("call_0", "schedule_list"))), ["completed"]),
        "gemini": ({"candidates": [{"content": {"parts": parts}}]}, ["completed"]),
    }
    for provider, (body, outcomes) in written.items():
        desktop.write("r.json", json.dumps(body))
        lines = play(
            desktop,
            {"provider": provider, "turns": [{"response": "r.json"}]},
            code=0 if set(outcomes) == {"completed"} else 1,
        )
        assert [line["outcome"] for line in lines] == outcomes
        assert lines[0]["tool"] == "schedule.list"
        assert lines[0]["call_id"] == "call_0"


def test_answers_in_the_script_go_by_the_responses_call_ids(desktop: Desktop) -> None:
    desktop.write(
        "r.json",
        anthropic(
            {"type": "text", "text": "I will."},
            use("toolu_1", "schedule_update", id=1),
            use("toolu_2", "schedule_update", id=2),
            use("toolu_1", "schedule_update", id=3),
        ),
    )
    turn = {"response": "r.json", "approvals": {"toolu_1": "approve", "toolu_1#2": "deny"}}
    lines = play(desktop, {"provider": "anthropic", "turns": [turn]}, code=1)
    assert [line["outcome"] for line in lines] == ["completed", "suspended", "refused"]
    assert desktop.world == ["updated 1"]


def test_several_responses_are_steps_one_after_another_and_one_may_hold_no_call(
    desktop: Desktop,
) -> None:
    desktop.write("a.json", anthropic(use("toolu_1", "schedule_list")))
    desktop.write("b.json", anthropic({"type": "text", "text": "Done."}))
    desktop.write("c.json", anthropic(use("toolu_2", "schedule_list")))
    turn = {"response": ["a.json", "b.json", "c.json"]}
    lines = play(desktop, {"provider": "anthropic", "turns": [turn, turn]})
    assert [line["call_id"] for line in lines] == ["toolu_1", "toolu_2"] * 2


BAD_RESPONSES = {
    "another provider's": ('{"choices": []}', "this is not a response of provider `anthropic`"),
    "a tool that ran there": (
        anthropic({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        "provider `anthropic` executed a tool itself",
    ),
    "an unknown block": (anthropic({"type": "hologram"}), "has a part of an unknown type"),
    "no blocks": ('{"content": 7}', "`content` must be a list"),
    "cut": ('{"content": [', "this is not valid json"),
    "a list": ("[]", "a response is a json object, and this is none"),
    "deep": ('{"content": ' + "[" * 100_000, "this json cannot be read"),
}


@pytest.mark.parametrize("case", BAD_RESPONSES)
def test_a_response_that_is_none_is_told_before_anything_happens(
    desktop: Desktop, case: str
) -> None:
    text, message = BAD_RESPONSES[case]
    (desktop.folder / "r.json").write_text(text)
    turns = [{"calls": [call("c1", "schedule.list")]}, {"response": "r.json"}]
    err = refused(desktop, {"provider": "anthropic", "turns": turns})
    assert err.startswith("error: r.json:")
    assert message in err


def test_an_answer_for_a_call_that_the_response_lacks_is_told(desktop: Desktop) -> None:
    desktop.write("r.json", anthropic(use("toolu_1", "schedule_list")))
    turn = {"response": "r.json", "approvals": {"toolu_9": "deny"}}
    err = refused(desktop, {"provider": "anthropic", "turns": [turn]})
    assert "session.yaml:9: turns[0].approvals.toolu_9: this turn has no call `toolu_9`" in err
    assert "did you mean `toolu_1`?" in err


# children


def test_a_child_plays_its_turns_after_the_calls_with_tools_of_its_parent(
    desktop: Desktop,
) -> None:
    child = {
        "tools": ["mail.send", "schedule.list", "slow.write"],
        "turns": [
            {
                "calls": [
                    call("c1", "mail.send", to="bea", body="x"),
                    call("c2", "schedule.update", id=1),
                    call("c3", "slow.write", seconds=0),
                ],
                "approvals": {"c1": "approve"},
            }
        ],
    }
    turns = [
        {"calls": [call("c1", "schedule.list")], "child": child},
        {"calls": [call("c9", "schedule.list")]},
    ]
    lines = play(desktop, {"turns": turns}, code=1)
    assert [(line["call_id"], line["tool"], line["outcome"]) for line in lines] == [
        ("c1", "schedule.list", "completed"),
        ("c1", "mail.send", "completed"),
        ("c2", "schedule.update", "refused"),
        ("c3", "slow.write", "refused"),
        ("c9", "schedule.list", "completed"),
    ]
    parent, theirs = lines[0]["session_id"], lines[1]["session_id"]
    assert parent != theirs
    assert [line["session_id"] for line in lines] == [parent, theirs, theirs, theirs, parent]
    # deferred with the parent, defined with the child
    assert lines[1]["advertised_as"] == "definition"
    (plan,) = [each for each in plans(desktop) if each["session_id"] == theirs]
    assert set(plan["pins"]) == {"mail.send", "schedule.list"}
    assert {"name": "slow.write", "reason": "not_permitted"} in plan["filtered_tool_names"]
    opened = {event["session_id"]: event for event in events(desktop, "session.opened")}
    assert opened[theirs]["parent"] == parent


def test_a_child_may_be_another_agent_and_delegate_on_but_never_has_more(
    desktop: Desktop,
) -> None:
    desktop.configure(add="  other: {tools: [schedule.list, slow.write, broken]}\n")
    grandchild = {"turns": [{"calls": [call("c1", "schedule.list"), call("c2", "broken")]}]}
    child = {
        "agent": "other",
        "tools": ["schedule.list"],
        "turns": [{"calls": [call("c1", "slow.write", seconds=0)], "child": grandchild}],
    }
    lines = play(desktop, {"turns": [{"child": child}]}, code=1)
    assert [(line["tool"], line["outcome"]) for line in lines] == [
        ("slow.write", "refused"),
        ("schedule.list", "completed"),
        ("broken", "refused"),
    ]
    assert len({line["session_id"] for line in lines}) == 2


def test_a_child_without_a_list_gets_all_that_its_parent_pins(desktop: Desktop) -> None:
    play(desktop, {"turns": [{"child": {"turns": [{}]}}]})
    parent, child = plans(desktop)
    assert set(child["pins"]) == set(parent["pins"])
    assert child["deferred_tool_names"] == []


def test_a_child_of_an_agent_that_is_none_is_told_before_anything_happens(
    desktop: Desktop,
) -> None:
    child = {"agent": "chta", "turns": [{}]}
    turns = [{"calls": [call("c1", "schedule.update", id=1)]}, {"child": child}]
    err = refused(desktop, {"turns": turns})
    assert err.startswith("error: session.yaml:18: turns[1].child.agent: unknown agent `chta`")
    assert "did you mean `chat`?" in err


def test_a_childs_forced_tool_that_it_does_not_have_ends_the_run_with_its_line(
    desktop: Desktop,
) -> None:
    child = {"tools": ["schedule.list"], "turns": [{"tool_choice": "mail.send"}]}
    text = json.dumps({"agent": "chat", "user": "ana", "turns": [{"child": child}]}, indent=1)
    desktop.write("session.yaml", text)
    ended = desktop.toolkeeper("run", "session.yaml")
    assert ended.code == 2
    assert "session.yaml:12: turns[0].child.turns[0].tool_choice: `mail.send`" in ended.err
