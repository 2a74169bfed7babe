"""B55: a call with no usable tool name skipped policy and audit and was forwarded.

Right: refused, and there is a row all the same, under a reserved name, with the raw input as its
digest only; nothing returns before the recorder.
"""

from typing import Any

import pytest

from toolkeeper_contract import MALFORMED, Code, Ending

pytestmark = pytest.mark.in_this_process

NAMELESS = [None, "", " ", "\n\t", 7, 1.5, True, [], {}, ["notes.list"], {"name": "notes.list"}]
SECRET = {"token": "hunter2-hunter2"}


@pytest.mark.parametrize("name", NAMELESS)
def test_a_call_without_a_usable_name_is_refused_on_a_row(shop: Any, name: Any) -> None:
    (row,) = shop.rows((name, SECRET))
    assert (row.tool, row.outcome, row.code) == (MALFORMED, Ending.REFUSED, Code.ARGUMENTS_INVALID)
    assert row.arguments is None
    assert len(row.arguments_digest) == 64
    assert "hunter2" not in str(row)


@pytest.mark.parametrize("name", NAMELESS)
def test_so_is_a_wrapper_without_one(shop: Any, name: Any) -> None:
    (row,) = shop.rows(("tool.call", {"name": name, "arguments": SECRET}))
    assert (row.tool, row.outcome, row.code) == (MALFORMED, Ending.REFUSED, Code.ARGUMENTS_INVALID)
    assert "hunter2" not in str(row)


@pytest.mark.parametrize("wrapper", [{}, "", "{}", "[]", None, 7, {"arguments": SECRET}])
def test_so_is_an_empty_wrapper(shop: Any, wrapper: Any) -> None:
    (row,) = shop.rows(("tool.call", wrapper))
    assert (row.tool, row.code) == (MALFORMED, Code.ARGUMENTS_INVALID)


@pytest.mark.parametrize(
    "name", ["tool.malformed", "no such tool", "x" * 5_000, "a\x00b", "a\ud800b", "../notes", "*"]
)
def test_a_name_that_no_tool_has_is_refused_on_a_row(shop: Any, name: str) -> None:
    for call in ((name, SECRET), ("tool.call", {"name": name, "arguments": SECRET})):
        (row,) = shop.rows(call)
        assert row.outcome is Ending.REFUSED
        assert row.code in (Code.NOT_OFFERED, Code.ARGUMENTS_INVALID)
        assert len(row.tool) <= 210
        assert row.tool.isascii()
        assert "hunter2" not in str(row)


@pytest.mark.parametrize(
    ("provider", "reply"),
    [
        ("openai", {"role": "assistant", "tool_calls": [{"id": "c1"}]}),
        ("openai", {"role": "assistant", "tool_calls": [{}]}),
        ("openai", {"role": "assistant", "tool_calls": [None]}),
        ("openai", {"role": "assistant", "tool_calls": ["notes.list"]}),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": ""}}]}),
        ("openai", {"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": 7}}]}),
        ("anthropic", {"content": [{"type": "tool_use", "id": "c1", "input": {}}]}),
        ("anthropic", {"content": [{"type": "tool_use", "id": "c1", "name": None}]}),
        ("gemini", {"candidates": [{"content": {"parts": [{"functionCall": {"args": {}}}]}}]}),
        ("gemini", {"candidates": [{"content": {"parts": [{"functionCall": {"name": ""}}]}}]}),
        ("openai-responses", {"output": [{"type": "function_call", "call_id": "c1"}]}),
        ("openai-responses", {"output": [{"type": "function_call", "name": ""}]}),
    ],
)
def test_a_providers_nameless_call_is_refused_and_answered(
    shop: Any, provider: str, reply: Any
) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        outcomes = await turn.call_all(turn.calls(reply))
        return outcomes, turn.results(outcomes), await keeper.ledger.invocations()

    outcomes, messages, rows = shop.turn(act, provider=provider)
    assert [outcome.row.code for outcome in outcomes] == [Code.ARGUMENTS_INVALID]
    assert len(rows) == len(messages) == 1


def test_the_same_from_a_script_in_a_real_ledger(home: Any) -> None:
    calls: list[Any] = [{"id": f"n{n}", "tool": name} for n, name in enumerate(NAMELESS)]
    calls += [
        {"id": f"w{n}", "tool": "tool.call", "arguments": {"name": name, "arguments": SECRET}}
        for n, name in enumerate(NAMELESS)
    ]
    calls.append({"id": "none", "arguments": SECRET})
    lines = home.run(*calls, approvals={"*": "approve"}, expect=1)
    assert {(line["tool"], line["code"]) for line in lines} == {
        (MALFORMED, "tool.arguments_invalid")
    }
    rows = home.here("audit", "calls")
    assert [row["call_id"] for row in rows] == [call["id"] for call in calls]
    assert "hunter2" not in str(home.here("audit", "events"))
    assert home.effects() == []


def test_the_same_from_the_command_line(home: Any) -> None:
    line = home.toolkeeper("call", "--agent", "chat", " ", "{}", "--json", expect=1).object()
    assert (line["tool"], line["code"]) == (MALFORMED, "tool.arguments_invalid")
