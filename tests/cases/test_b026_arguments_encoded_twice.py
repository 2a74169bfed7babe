"""B26: a provider sent the whole argument object JSON-encoded twice; the tool got a bare string.

Right: decoded exactly once and only to an object, before hashing, approval and rows; the row says
`arguments_decoded`.
"""

import json
from typing import Any

import pytest

from toolkeeper_contract import Code, Ending, digest

pytestmark = pytest.mark.in_this_process

ONCE = json.dumps({"title": "tea"})
TWICE = json.dumps(ONCE)
THRICE = json.dumps(TWICE)


def wrapper(arguments: Any) -> dict[str, Any]:
    return {"name": "notes.read", "arguments": arguments}


@pytest.mark.parametrize(
    ("name", "arguments", "decoded"),
    [
        ("notes.read", ONCE, False),
        ("notes.read", TWICE, True),
        ("notes.read", f" {json.dumps(f' {ONCE} ')} ", True),
        ("notes.read", {"title": "tea"}, False),
        ("tool.call", wrapper({"title": "tea"}), False),
        ("tool.call", wrapper(ONCE), True),
        ("tool.call", json.dumps(wrapper(ONCE)), True),
        ("tool.call", json.dumps(json.dumps(wrapper({"title": "tea"}))), True),
    ],
)
def test_one_layer_too_many_is_taken_off(
    shop: Any, name: str, arguments: Any, decoded: bool
) -> None:
    row = shop.one(name, arguments)
    assert row.outcome is Ending.COMPLETED
    assert row.arguments == {"title": "tea"}
    assert row.arguments_digest == digest({"title": "tea"})
    assert row.arguments_decoded is decoded
    assert shop.effects == [("read", "tea")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("notes.read", THRICE),
        ("notes.read", json.dumps("[1]")),
        ("notes.read", json.dumps("tea")),
        ("notes.read", json.dumps('{"title": "tea"')),
        ("notes.read", json.dumps('{"title": "tea", "title": "mud"}')),
        ("notes.read", json.dumps('{"title": NaN}')),
        ("tool.call", wrapper(TWICE)),
        ("tool.call", wrapper("[]")),
        ("tool.call", wrapper('{"title": "tea", "title": "mud"}')),
        ("tool.call", wrapper('{"title": "\\ud800"}')),
    ],
)
def test_anything_else_is_refused(shop: Any, name: str, arguments: Any) -> None:
    row = shop.one(name, arguments)
    assert (row.tool, row.code) == ("notes.read", Code.ARGUMENTS_INVALID)
    assert shop.effects == []


def test_a_text_inside_the_arguments_stays_a_text(shop: Any) -> None:
    row = shop.one("notes.read", {"title": ONCE})
    assert row.arguments == {"title": ONCE}
    assert not row.arguments_decoded
    assert shop.effects == [("read", ONCE)]


def test_the_approval_is_for_the_decoded_object(home: Any) -> None:
    (line,) = home.run(
        {"id": "c1", "tool": "notes.add", "arguments": TWICE}, approvals={"c1": "approve"}, expect=0
    )
    assert line["outcome"] == "completed"
    (row,) = home.here("audit", "calls")
    assert row["arguments"] == {"title": "tea"}
    assert row["arguments_decoded"] is True
    (approval,) = home.here("approvals", "list", "--all")
    assert approval["arguments_digest"] == row["arguments_digest"] == digest({"title": "tea"})
    assert [effect[:2] for effect in home.effects()] == [["add", "tea"]]
