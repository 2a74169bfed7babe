"""B24: JSON that is not an object (a list, a text, a number, null) reached the tool.

Right: refused before policy, approval and dispatch, with the schema where the model never saw it;
an empty text stands for `{}` only where nothing is required.
"""

from typing import Any

import pytest

from toolkeeper_contract import Code, Ending

pytestmark = pytest.mark.in_this_process

NOT_OBJECTS = ["[1]", '"x"', "7", "7.5", "null", "true", "[]", "[{}]", "{", "x", " ", "{}{}"]
PARSED = [[1], [], "x", 7, 7.5, None, True, [{"title": "a"}], ()]


@pytest.mark.parametrize("tool", ["notes.list", "notes.read", "notes.add", "mail.send"])
@pytest.mark.parametrize("raw", [*NOT_OBJECTS, *PARSED])
def test_anything_but_an_object_is_refused_before_policy(shop: Any, tool: str, raw: Any) -> None:
    row = shop.one(tool, raw)
    assert (row.tool, row.outcome, row.code) == (tool, Ending.REFUSED, Code.ARGUMENTS_INVALID)
    assert row.decision is None
    assert row.approval_id is None
    assert row.arguments is None
    assert len(row.arguments_digest) == 64
    assert shop.effects == []


@pytest.mark.parametrize("raw", [[1], 7, None, "x", [], True])
def test_the_same_inside_the_wrapper(shop: Any, raw: Any) -> None:
    row = shop.one("tool.call", {"name": "notes.add", "arguments": raw})
    assert (row.tool, row.code, row.decision) == ("notes.add", Code.ARGUMENTS_INVALID, None)
    assert '"title":{"type":"string"}' in row.result
    assert shop.effects == []


def test_the_schema_comes_back_unless_the_model_has_the_definition(shop: Any) -> None:
    assert '"required":["title"]' in shop.one("notes.read", "[1]").result
    assert '"properties"' not in shop.one("notes.list", "[1]").result


@pytest.mark.parametrize(
    ("tool", "code"), [("notes.list", None), ("notes.read", Code.ARGUMENTS_INVALID)]
)
def test_an_empty_text_is_an_empty_object_where_nothing_is_required(
    shop: Any, tool: str, code: Code | None
) -> None:
    assert shop.one(tool, "").code is code
    assert shop.one("tool.call", {"name": tool, "arguments": ""}).code is code


@pytest.mark.parametrize(
    "reply",
    [
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "notes_add"}}]},
        *(
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "function": {"name": "notes_add", "arguments": raw}}],
            }
            for raw in ("[1]", "null", [1], None, 7)
        ),
    ],
)
def test_the_same_in_a_providers_reply(shop: Any, reply: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        return await turn.call_all(turn.calls(reply))

    (outcome,) = shop.turn(act, provider="openai")
    assert outcome.row.code is Code.ARGUMENTS_INVALID
    assert shop.effects == []


def test_the_same_from_the_command_line_and_from_a_script(home: Any) -> None:
    line = home.toolkeeper("call", "--agent", "chat", "notes.add", "[1]", "--json", expect=1)
    assert line.object()["code"] == "tool.arguments_invalid"
    calls = [
        {"id": f"c{number}", "tool": "notes.add", "arguments": raw}
        for number, raw in enumerate(([1], None, 7, "[1]", "", True))
    ]
    lines = home.run(*calls, expect=1)
    assert {(line["tool"], line["code"]) for line in lines} == {
        ("notes.add", "tool.arguments_invalid")
    }
    assert home.effects() == []
