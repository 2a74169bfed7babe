"""B32: the error for a tool that is off tells the model to call it directly, and it loops.

Right: advice comes from the session's pins alone. Off, denied, out of scope and unknown names get
one and the same final answer, with no hint to try again.
"""

from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper_contract import Code, Ending

pytestmark = pytest.mark.in_this_process

POLICY = """
version: 1
rules: [{id: no-terminal, tools: [danger.terminal], effect: deny}]
"""


@tool(name="danger.terminal", side_effect="code_execution")
def terminal(command: str = "") -> str:
    """Run a command."""
    raise AssertionError("it ran")


@tool(name="office.payroll", side_effect="workspace_read", scopes=["payroll"])
def payroll() -> str:
    """Read the payroll."""
    raise AssertionError("it ran")


def answers(shop: Any, name: str, **options: Any) -> list[Any]:
    """The rows of three attempts by the wrapper and three by the tool's own name."""

    async def act(turn: Any, keeper: Any) -> list[Any]:
        rows = []
        for number in range(3):
            wrapped = turn.read(f"w{number}", "tool.call", {"name": name, "arguments": {}})
            rows.append((await turn.call(wrapped)).row)
            rows.append((await turn.call(turn.read(f"d{number}", name, {}))).row)
        return rows

    found: list[Any] = shop.turn(act, more=(terminal, payroll), **options)
    return found


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("danger.terminal", {"policy": POLICY}),
        ("office.payroll", {}),
        ("danger.nothing", {}),
        ("notes.Read", {}),
    ],
)
def test_off_denied_and_unknown_names_get_the_same_final_answer(
    shop: Any, name: str, options: dict[str, Any]
) -> None:
    rows = answers(shop, name, **options)
    assert {row.outcome for row in rows} == {Ending.REFUSED}
    assert {row.code for row in rows} == {Code.NOT_OFFERED}
    (text,) = {row.result for row in rows}
    assert text == answers(shop, "surely.unknown")[0].result
    for word in ("retry", "again", "instead", "directly", "tool.call", "tool.search", name):
        assert word not in text


def test_a_tool_that_the_user_switched_off_in_the_turn_gets_it_too(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        session = turn._session
        await session.set_intent({"disabled": ["notes.read"]})
        return [
            (await turn.call(turn.read(f"c{number}", name, {"title": "a"}))).row
            for number, name in enumerate(("notes.read", "notes_read", "surely.unknown"))
        ]

    off, wire, unknown = shop.turn(act)
    assert (off.code, wire.code, unknown.code) == (
        Code.WITHDRAWN,
        Code.WITHDRAWN,
        Code.NOT_OFFERED,
    )
    assert off.result == wire.result == unknown.result


def test_a_search_advises_nothing_that_is_off(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        await turn._session.set_intent({"disabled": ["notes.read"]})
        search = turn.read("s1", "tool.search", {"query": "read a note"})
        return (await turn.call(search)).row

    row = shop.turn(act)
    assert '"notes.read"' not in row.result


def test_the_same_from_the_command_line(home: Any) -> None:
    lines = home.run(
        *(
            {"id": f"c{number}", "tool": "tool.call", "arguments": {"name": name}}
            for number, name in enumerate(["notes.read", "notes.read", "notes.read", "no.such"])
        ),
        override={"disabled": ["notes.read"]},
        expect=1,
    )
    assert {(line["code"], line["result"]) for line in lines} == {
        ("tool.not_found.not_offered", lines[0]["result"])
    }
