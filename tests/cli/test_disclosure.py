"""Recorded sessions in every way to disclose: searches, responses, forced tools and children."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import LINE

Desktop = Any

MODEL = "claude-sonnet-4-5"
DEFERRING = (
    "undeclared]\n    deferred_tools: [mail.send]\n",
    "undeclared]\n    always_defined: [schedule.list]\n    deferred_tools: ['*']\n",
)


def deferring(desktop: Desktop, *lines: str) -> None:
    """The agent defines `schedule.list` alone; `lines` are further keys of it."""
    desktop.configure(DEFERRING, add="".join(f"    {line}\n" for line in lines))


def play(desktop: Desktop, script: dict[str, Any], *words: str, code: int = 0) -> list[Any]:
    desktop.write("session.yaml", json.dumps({"agent": "chat", "user": "ana", **script}))
    ended = desktop.toolkeeper("run", "session.yaml", "--json", *words)
    assert ended.code == code, ended.err
    assert all(tuple(line) == LINE for line in ended.lines)
    lines: list[Any] = ended.lines
    return lines


def refused(desktop: Desktop, script: dict[str, Any], *words: str) -> str:
    before = desktop.files() | {"session.yaml"}
    desktop.write("session.yaml", json.dumps({"agent": "chat", "user": "ana", **script}, indent=1))
    ended = desktop.toolkeeper("run", "session.yaml", "--json", *words)
    assert (ended.code, ended.out) == (2, "")
    # what cannot work leaves no store behind
    assert desktop.files() == before
    err: str = ended.err
    return err


def call(id: str, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "arguments": arguments}


def ways(lines: list[Any]) -> list[tuple[str, str, str]]:
    return [(line["call_id"], line["advertised_as"], line["outcome"]) for line in lines]


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


def native_search(*names: str) -> tuple[dict[str, Any], dict[str, Any]]:
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    return (
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "tool_search_tool_bm25",
            "input": {"query": "mail"},
        },
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {
                "type": "tool_search_tool_search_result",
                "tool_references": references,
            },
        },
    )


# searches


def test_a_search_that_loads_says_so_and_the_next_turn_defines_what_it_found(
    desktop: Desktop,
) -> None:
    deferring(desktop, "disclosure: search")
    turns = [
        {
            "calls": [
                call("c1", "slow.read", seconds=0),
                call("c2", "tool.search", query="read slowly", limit=1),
                call("c3", "slow.read", seconds=0),
            ]
        },
        {"calls": [call("c4", "slow.read", seconds=0)]},
    ]
    lines = play(desktop, {"turns": turns})
    assert ways(lines) == [
        ("c1", "direct", "completed"),
        ("c2", "definition", "completed"),
        ("c3", "search", "completed"),
        ("c4", "definition", "completed"),
    ]
    one, two = plans(desktop)
    assert (one["loaded_tool_names"], two["loaded_tool_names"]) == ([], ["slow.read"])
    assert two["defined_tool_names"] == [*one["defined_tool_names"], "slow.read"]
    (loaded,) = events(desktop, "tools.loaded")
    assert list(loaded["tools"]) == ["slow.read"]
    (changed,) = events(desktop, "tools.changed")
    assert (changed["added"], changed["reasons"]["slow.read"]) == (["slow.read"], "loaded")
    planned = events(desktop, "session.planned")
    assert [event["loaded_tool_names"] for event in planned] == [[], ["slow.read"]]
    assert [event["disclosure"]["used"] for event in planned] == ["search", "search"]


def test_what_does_not_fit_stays_callable_with_a_reason(desktop: Desktop) -> None:
    deferring(desktop, "disclosure: search", "caps: {definitions: 4}")
    turns = [
        {"calls": [call("c1", "tool.search", query="read slowly", limit=1)]},
        {"calls": [call("c2", "slow.read", seconds=0)]},
    ]
    lines = play(desktop, {"turns": turns})
    assert ways(lines)[1] == ("c2", "search", "completed")
    last = plans(desktop)[-1]
    assert last["loaded_tool_names"] == []
    assert last["loaded_overflow"] == [{"name": "slow.read", "reason": "definition_cap"}]


def test_what_was_loaded_is_loaded_still_when_the_session_goes_on_in_another_process(
    desktop: Desktop,
) -> None:
    deferring(desktop, "disclosure: search")
    first = play(desktop, {"turns": [{"calls": [call("c1", "tool.search", query="slowly")]}]})
    id = first[0]["session_id"]
    shown = desktop.process("plan", "--session", id, "--json").line
    assert shown["loaded_tool_names"]
    assert set(shown["loaded_tool_names"]) <= set(shown["defined_tool_names"])
    desktop.write(
        "on.yaml", json.dumps({"turns": [{"calls": [call("c2", "slow.read", seconds=0)]}]})
    )
    ended = desktop.process("run", "on.yaml", "--session", id, "--json")
    assert ways(ended.lines) == [("c2", "definition", "completed")]
    assert plans(desktop)[-1]["digest"] == shown["digest"]


@pytest.mark.parametrize("name", ["find_tools", "tool_search", "tool.find", "Look-Up"])
def test_a_renamed_search_bears_its_name_everywhere(desktop: Desktop, name: str) -> None:
    deferring(desktop, "disclosure: search", f"search: {{name: {name}}}", "listing: none")
    turns = [{"calls": [call("c1", name, query="read slowly"), call("c2", "slow.read", seconds=0)]}]
    lines = play(desktop, {"turns": turns})
    assert [line["tool"] for line in lines] == [name, "slow.read"]
    assert ways(lines)[1] == ("c2", "search", "completed")
    (plan,) = plans(desktop)
    assert name in plan["defined_tool_names"]
    assert "tool.search" not in plan["defined_tool_names"]


def test_no_tool_can_be_called_like_the_search(desktop: Desktop) -> None:
    deferring(desktop, "search: {name: slow-read}")
    ended = desktop.toolkeeper("plan", "--agent", "chat")
    assert (ended.code, ended.out) == (2, "")
    assert "toolkeeper.yaml:6: agents.chat.tools[4]: `slow.read` cannot stand here" in ended.err
    # a function that no list names is in the registry all the same
    desktop.configure(add="    search: {name: Slow_Write}\n")
    ended = desktop.toolkeeper("plan", "--agent", "chat")
    assert (ended.code, ended.out) == (2, "")
    assert "`slow.write` is a tool, so the search cannot be called `Slow_Write`" in ended.err


@pytest.mark.parametrize(
    ("listing", "shown"),
    [("index", "mail.send(to, body)"), ("names", "mail.send"), ("none", None)],
)
def test_a_listing_shows_lines_names_or_nothing(
    desktop: Desktop, listing: str, shown: str | None
) -> None:
    deferring(desktop, f"listing: {listing}")
    words = ("plan", "--agent", "chat", "--user", "ana")
    plan = desktop.toolkeeper(*words, "--json").line
    system = desktop.toolkeeper(*words, "--render").line["system"]
    assert plan["listing"] == listing
    placed = plan["searchable_tool_names" if shown is None else "deferred_tool_names"]
    assert "mail.send" in placed
    assert ("mail.send" in system) is (shown is not None)
    assert shown is None or shown in system
    assert ("mail.send(" in system) is (listing == "index")


# pin rules


def test_a_pin_rule_moves_tools_to_the_front_for_sessions_with_the_attribute(
    desktop: Desktop,
) -> None:
    deferring(desktop, 'pin: [{when: {website: "*"}, tools: ["slow.*", broken]}]')
    words = ("plan", "--agent", "chat", "--json")
    plain = desktop.toolkeeper(*words).line
    pinned = desktop.toolkeeper(*words, "--attributes", '{"website": "example.com"}').line
    assert "slow.read" in plain["deferred_tool_names"]
    assert pinned["defined_tool_names"][:2] == ["slow.read", "broken"]
    for attributes in ("{}", '{"website": null}', '{"page": "x"}'):
        assert desktop.toolkeeper(*words, "--attributes", attributes).line == plain


PINS = {
    "[{when: {website: x}, tools: [schedule.lst]}]": "unknown tool `schedule.lst`",
    "[{when: {website: x}, tools: [slow.write]}]": "`slow.write` is no tool of this agent",
    "[{when: {website: x}, tools: [tool.call]}]": "`tool.call` is a control tool",
    "[{when: {}, tools: [broken]}]": "must not be empty",
    "[{when: {website: {a: 1}}, tools: [broken]}]": "must be text, a number or",
    "[{when: {website: x}}]": "the key `tools` is missing",
}


@pytest.mark.parametrize("pin", PINS)
def test_a_pin_rule_that_cannot_be_meant_is_told_with_its_line(desktop: Desktop, pin: str) -> None:
    desktop.configure(add=f"    pin: {pin}\n")
    ended = desktop.toolkeeper("plan", "--agent", "chat")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: toolkeeper.yaml:8: agents.chat.pin[0]")
    assert PINS[pin] in ended.err


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


# the provider's own search


def test_what_the_provider_found_is_called_as_found_and_stays_deferred(desktop: Desktop) -> None:
    deferring(desktop, "disclosure: native")
    desktop.write(
        "r.json",
        anthropic(*native_search("slow_read"), use("toolu_1", "slow_read", seconds=0)),
    )
    script = {"provider": "anthropic", "model": MODEL}
    turns = [{"response": "r.json"}, {"calls": [call("c2", "slow.read", seconds=0)]}]
    lines = play(desktop, {**script, "turns": turns})
    assert ways(lines) == [("toolu_1", "search", "completed"), ("c2", "search", "completed")]
    one, two = plans(desktop)
    assert one["disclosure"] == {"asked": "native", "used": "native", "reason": None}
    assert one["digest"] == two["digest"]
    assert "slow.read" in two["deferred_tool_names"]
    assert one["costs"]["index_tokens"] == 0
    shown = desktop.toolkeeper("plan", "--session", lines[0]["session_id"], "--render").line
    deferred = [tool["name"] for tool in shown["tools"] if tool.get("defer_loading")]
    assert "slow_read" in deferred
    assert "slow_write" not in deferred


def test_without_a_model_that_can_the_same_script_gets_an_index(desktop: Desktop) -> None:
    deferring(desktop, "disclosure: native")
    turns = [{"calls": [call("c1", "tool.call", name="slow.read", arguments={"seconds": 0})]}]
    for more in ({}, {"model": "claude-2"}, {"model": MODEL, "endpoint": "https://e.example"}):
        play(desktop, {"provider": "anthropic", **more, "turns": turns})
        disclosure = plans(desktop)[-1]["disclosure"]
        assert disclosure["used"] == "index"
        assert disclosure["reason"]
        assert events(desktop, "session.planned")[-1]["disclosure"] == disclosure


@pytest.mark.parametrize(
    "other", [{"model": "claude-2"}, {"endpoint": "https://e.example"}, {"provider": "openai"}]
)
def test_a_session_keeps_its_model_and_its_endpoint(
    desktop: Desktop, other: dict[str, str]
) -> None:
    turns = [{"calls": [call("c1", "schedule.list")]}]
    script = {"provider": "anthropic", "model": MODEL, "turns": turns}
    (line,) = play(desktop, script)
    desktop.write("on.yaml", json.dumps({**script, **other}))
    ended = desktop.toolkeeper("run", "on.yaml", "--session", line["session_id"])
    assert (ended.code, ended.out) == (2, "")
    assert next(iter(other)) in ended.err
    play(desktop, script, "--session", line["session_id"])


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
