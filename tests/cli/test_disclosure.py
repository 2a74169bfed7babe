"""Every way to disclose in recorded sessions: searches, listings, pins, a provider's own search."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import ENDED

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
    ended = desktop.record(script, *words)
    assert ended.code == code, ended.err
    assert all(tuple(line) == ENDED for line in ended.lines)
    lines: list[Any] = ended.lines
    return lines


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
