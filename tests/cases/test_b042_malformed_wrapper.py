"""B42: models put the target's parameters beside `name`, rename the fields or add extras.

Right: `tool.arguments_invalid` with the wrapper's own shape, whatever the mistake; no guessing,
even where the meaning seems plain.
"""

from typing import Any

import pytest

from toolkeeper_contract import MALFORMED, Code, Ending

pytestmark = pytest.mark.in_this_process

SHAPE = '{"name": "<tool name>", "arguments": {...}}'
MALFORMATIONS = [
    {"name": "notes.read", "title": "tea"},
    {"tool": "notes.read", "args": {"title": "tea"}},
    {"name": "notes.read", "arguments": {"title": "tea"}, "extra": 2},
    {"name": "notes.read", "args": {"title": "tea"}},
    {"name": "notes.read", "parameters": {"title": "tea"}},
    {"name": "notes.read", "input": {"title": "tea"}},
    {"Name": "notes.read", "Arguments": {"title": "tea"}},
    {"tool_name": "notes.read", "arguments": {"title": "tea"}},
    {"notes.read": {"title": "tea"}},
    {"function": {"name": "notes.read", "arguments": {"title": "tea"}}},
    {"arguments": {"name": "notes.read", "title": "tea"}},
    {"name": {"name": "notes.read"}, "arguments": {"title": "tea"}},
    {"name": "notes.read", "arguments": {"title": "tea"}, "": None},
    {},
]


@pytest.mark.parametrize("wrapper", MALFORMATIONS)
def test_nothing_is_guessed(shop: Any, wrapper: Any) -> None:
    rows = shop.rows(("tool.call", wrapper))
    (row,) = rows
    assert (row.tool, row.outcome, row.code) == (
        MALFORMED,
        Ending.REFUSED,
        Code.ARGUMENTS_INVALID,
    )
    assert SHAPE in row.result
    assert "tea" not in row.result
    assert shop.effects == []


def test_left_out_arguments_are_an_empty_object_and_null_is_not(shop: Any) -> None:
    assert shop.one("tool.call", {"name": "notes.list"}).outcome is Ending.COMPLETED
    refused = shop.one("tool.call", {"name": "notes.list", "arguments": None})
    assert (refused.tool, refused.code) == ("notes.list", Code.ARGUMENTS_INVALID)


def test_a_control_tools_own_arguments_are_judged_by_their_schema(shop: Any) -> None:
    for arguments in ({"q": "mail"}, {"query": "mail", "extra": 1}, {"limit": "5", "query": "x"}):
        row = shop.one("tool.search", arguments)
        assert row.tool == "tool.search"
        assert row.is_error


def test_the_same_from_a_script(home: Any) -> None:
    calls = [
        {"id": f"c{number}", "tool": tool, "arguments": wrapper}
        for number, (tool, wrapper) in enumerate(
            (tool, wrapper) for tool in ("tool.call", "tool_call") for wrapper in MALFORMATIONS
        )
    ]
    lines = home.run(*calls, approvals={"*": "approve"}, expect=1)
    assert {line["code"] for line in lines} == {"tool.arguments_invalid"}
    assert {line["advertised_as"] for line in lines} == {"tool.call"}
    assert all(SHAPE in line["result"] for line in lines)
    assert home.effects() == []
