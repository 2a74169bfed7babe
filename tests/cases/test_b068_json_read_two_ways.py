"""B68: duplicate names are read one way by the checker and another by the executor; NaN slips by.

Right: the text is parsed once, before any stage sees it, and duplicate names, numbers that are not
finite and broken Unicode are refused wherever they stand.
"""

import json
from typing import Any

import pytest

from toolkeeper import ConfigError, tool
from toolkeeper.cli.option import json_option
from toolkeeper_contract import MALFORMED, Code, Ending

AMBIGUOUS = [
    '{"to":"bo","to":"cy"}',
    '{"to":"bo","\\u0074o":"cy"}',
    '{"to":"bo","text":{"a":1,"a":2}}',
    '{"to":"bo","text":[{"a":1,"a":1}]}',
    '{"to":NaN}',
    '{"to":"bo","text":[Infinity]}',
    '{"to":-Infinity}',
    '{"to":"bo","n":1e400}',
    '{"to":"bo","n":-1e400}',
    '{"to":"\\ud800"}',
    '{"to":"\\udc00\\ud800"}',
    '{"to":"bo","\\udfff":1}',
    '{"to":"bo"} x',
    '{"to":"bo"}\x00',
    '\ufeff{"to":"bo"}',
    "{'to':'bo'}",
    '{"to":"bo",}',
    '{"to":"bo" /* and so on */}',
    '{"to":"b\no"}',
    '{"to":"bo","n":01}',
    '{"to":"bo","n":+1}',
    '{"to":"bo","n":0x1}',
]
POLICY = "version: 1\ndefaults: {message_send: allow, financial: allow}\n"


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_text_that_can_be_read_in_two_ways_is_not_read(shop: Any, text: str) -> None:
    (row,) = shop.rows(("mail.send", text), policy=POLICY)
    assert (row.tool, row.code, row.decision) == ("mail.send", Code.ARGUMENTS_INVALID, None)
    assert row.arguments is None
    assert shop.effects == []


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_nor_inside_the_wrapper(shop: Any, text: str) -> None:
    inside = f'{{"name":"mail.send","arguments":{text}}}'
    (row,) = shop.rows(("tool.call", inside), policy=POLICY)
    assert row.code is Code.ARGUMENTS_INVALID
    as_text = {"name": "mail.send", "arguments": text}
    (row,) = shop.rows(("tool.call", as_text), policy=POLICY)
    assert (row.tool, row.code) == ("mail.send", Code.ARGUMENTS_INVALID)
    assert shop.effects == []


@pytest.mark.parametrize(
    "text",
    [
        '{"name":"notes.list","name":"mail.send"}',
        '{"name":"notes.list","n\\u0061me":"mail.send","arguments":{"to":"bo"}}',
        '{"name":"mail.send","arguments":{},"arguments":{"to":"bo"}}',
    ],
)
def test_a_wrapper_that_names_two_tools_names_none(shop: Any, text: str) -> None:
    (row,) = shop.rows(("tool.call", text), policy=POLICY)
    assert (row.tool, row.code) == (MALFORMED, Code.ARGUMENTS_INVALID)
    assert shop.effects == []


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [float("-inf")], "\ud800", {"\udfff": 1}, {"a": b"x"}]
)
def test_a_parsed_value_is_held_to_the_same_rules(shop: Any, value: Any) -> None:
    for call in (
        ("mail.send", {"to": "bo", "text": value}),
        ("tool.call", {"name": "mail.send", "arguments": {"to": "bo", "text": value}}),
    ):
        (row,) = shop.rows(call, policy=POLICY)
        assert row.code is Code.ARGUMENTS_INVALID
    assert shop.effects == []


def test_a_number_that_no_bound_can_judge_does_not_pass_a_bound(shop: Any) -> None:
    paid: list[float] = []

    @tool(
        name="bank.pay",
        side_effect="network_write",
    )
    def pay(amount: float) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    policy = "version: 1\ndefaults: {network_write: allow}\n"
    for text in ('{"amount":NaN}', '{"amount":Infinity}', '{"amount":1e999}', '{"amount":"NaN"}'):
        (row,) = shop.rows(("bank.pay", text), more=(pay,), policy=policy)
        assert row.code is Code.ARGUMENTS_INVALID
    assert paid == []


def test_what_the_executor_gets_is_what_was_decided(shop: Any) -> None:
    seen: list[Any] = []

    @tool(name="echo", side_effect="none")
    def echo(value: Any = None) -> str:
        """Echo."""
        seen.append(value)
        return "ok"

    values = [1, 1.0, -0.0, 2**63, 2**64, 10**300, 1e300, 0.1, "e\u0301", "\u00e9", "\x00", None]
    for value in values:
        row = shop.one("echo", json.dumps({"value": value}), more=(echo,))
        assert row.outcome is Ending.COMPLETED
        assert row.arguments == {"value": value}
    assert [(type(value), value) for value in seen] == [(type(value), value) for value in values]


def test_the_same_from_a_script_and_the_command_line(home: Any) -> None:
    calls: list[Any] = [
        {"id": f"c{number}", "tool": "mail.send", "arguments": text}
        for number, text in enumerate(text for text in AMBIGUOUS if text.isprintable())
    ]
    calls.append(
        {"id": "w", "tool": "tool.call", "arguments": '{"name":"notes.list","name":"mail.send"}'}
    )
    lines = home.run(*calls, approvals={"*": "approve"}, expect=1)
    assert {line["code"] for line in lines} == {"tool.arguments_invalid"}
    twice = '{"to":"bo","to":"cy"}'
    home.toolkeeper("call", "--agent", "chat", "mail.send", twice, "--json", expect=1)
    assert home.here("approvals", "list", "--all") == []
    assert home.effects() == []


def test_an_edit_of_the_approver_is_read_just_as_strictly(home: Any) -> None:
    (line,) = home.run({"id": "c1", "tool": "mail.send", "arguments": {"to": "bo"}})
    processes = [
        home.start("approvals", "approve", line["approval_id"], "--edit", edit)
        for edit in ('{"to":"cy","to":"bo"}', '{"to":"\\ud800"}')
    ]
    for process in processes:
        _, complaint = process.communicate(timeout=60)
        assert process.returncode in (1, 2), complaint
        assert "Traceback" not in complaint
    (approval,) = home.here("approvals", "list")
    assert (approval["state"], approval["arguments"]) == ("pending", {"to": "bo"})


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"a":NaN}', '{"a":{"b":1,"b":1}}', "{"])
def test_a_json_option_is_read_just_as_strictly(text: str) -> None:
    with pytest.raises(ConfigError):
        json_option("--edit", text)
