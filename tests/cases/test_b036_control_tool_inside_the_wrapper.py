"""B36: the guard against a wrapper in a wrapper knew one spelling; another proxy got through.

Right: unwrapped exactly once; a control tool inside, in any spelling, is
`tool.not_found.not_offered`: one row, no inner row, nothing run.
"""

from typing import Any

import pytest

from toolkeeper_contract import MALFORMED, Code, Ending

pytestmark = pytest.mark.in_this_process

SPELLINGS = [
    "tool.call",
    "tool.search",
    "tool.result",
    "tool_call",
    "tool_search",
    "tool_result",
    "tool-call",
    " tool.call",
    "tool.call ",
    "tool.call\n",
    "TOOL.CALL",
    "Tool.Call",
    "tool.Call",
    "tool..call",
    "control.tool.call",
    "functions.tool.call",
    "mcp.control.tool.call",
    "mcp__control__tool_call",
    "tool.call\u200b",
    "t\u043eol.call",
    "tool\uff0ecall",
    MALFORMED,
]
INNER = {"name": "mail.send", "arguments": {"to": "bo"}}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("wrapper", ["tool.call", "tool_call"])
def test_a_control_tool_inside_is_not_offered(shop: Any, wrapper: str, spelling: str) -> None:
    policy = "version: 1\ndefaults: {message_send: allow}\n"
    rows = shop.rows((wrapper, {"name": spelling, "arguments": INNER}), policy=policy)
    (row,) = rows
    assert (row.outcome, row.code) == (Ending.REFUSED, Code.NOT_OFFERED)
    assert row.decision is None
    assert "mail.send" not in row.result
    assert shop.effects == []


@pytest.mark.parametrize("inner", ["tool.search", "tool.result", "tool.call"])
@pytest.mark.parametrize("arguments", [{}, None, "junk", {"query": "mail"}, {"handle": "res_0001"}])
def test_whatever_its_arguments_are(shop: Any, inner: str, arguments: Any) -> None:
    (row,) = shop.rows(("tool.call", {"name": inner, "arguments": arguments}))
    assert row.code is Code.NOT_OFFERED


def test_a_wrapper_round_three_wrappers_is_one_row(shop: Any) -> None:
    nested: dict[str, Any] = INNER
    for _ in range(3):
        nested = {"name": "tool.call", "arguments": nested}
    (row,) = shop.rows(("tool.call", nested))
    assert row.code is Code.NOT_OFFERED
    assert shop.effects == []


def test_the_direct_control_tools_still_work(shop: Any) -> None:
    row = shop.one("tool.search", {"query": "send a mail"})
    assert (row.tool, row.outcome) == ("tool.search", Ending.COMPLETED)


@pytest.mark.parametrize("name", ["tool.call", "tool_call", "TOOL.CALL", "tool.search"])
def test_a_control_tool_that_is_not_advertised_is_not_looked_into(shop: Any, name: str) -> None:
    row = shop.one(name, INNER, deferred_tools=(), control_tools=("tool.call",))
    assert (row.code, row.tool) == (Code.NOT_OFFERED, row.tool)
    assert row.tool != "mail.send"
    assert shop.effects == []


@pytest.mark.parametrize("name", ["tool.call", "tool_call", "Tool.Call", "TOOL-SEARCH", "tool.new"])
def test_no_configured_tool_can_take_such_a_name(name: str) -> None:
    from toolkeeper import ConfigError, tool

    with pytest.raises(ConfigError) as refused:
        tool(name=name)(lambda: None)
    assert refused.value.code is Code.TOOL_NAME_RESERVED


def test_the_same_from_a_script(home: Any) -> None:
    calls = [
        {"id": f"c{number}", "tool": "tool.call", "arguments": {"name": name, "arguments": INNER}}
        for number, name in enumerate(SPELLINGS)
    ]
    lines = home.run(*calls, approvals={"*": "approve"}, expect=1)
    assert [line["code"] for line in lines] == ["tool.not_found.not_offered"] * len(SPELLINGS)
    assert len(home.here("audit", "calls")) == len(SPELLINGS)
    assert home.effects() == []
