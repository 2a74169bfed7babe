"""B56: a batch of calls was executed while policy and audit looked at one object.

Right: every shape that is not one single call is refused at each entry point, by the same rule, and
no part of it is run.
"""

from typing import Any

import pytest

from toolkeeper_contract import MALFORMED, Code

pytestmark = pytest.mark.in_this_process

ONE = {"name": "notes.list", "arguments": {}}
TWO = {"name": "mail.send", "arguments": {"to": "bo"}}
BATCHES = [[ONE, TWO], [ONE], [[ONE, TWO]], {"0": ONE, "1": TWO}, {"calls": [ONE, TWO]}]
POLICY = "version: 1\ndefaults: {message_send: allow, workspace_write: allow}\n"


@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_in_the_wrapper_is_malformed_and_nothing_of_it_runs(shop: Any, batch: Any) -> None:
    (row,) = shop.rows(("tool.call", batch), policy=POLICY)
    assert (row.tool, row.code) == (MALFORMED, Code.ARGUMENTS_INVALID)
    assert shop.effects == []


@pytest.mark.parametrize(
    "name", [["notes.list", "mail.send"], ["mail.send"], [ONE, TWO], "notes.list,mail.send"]
)
def test_several_names_are_no_name(shop: Any, name: Any) -> None:
    for call in ((name, {}), ("tool.call", {"name": name, "arguments": {"to": "bo"}})):
        (row,) = shop.rows(call, policy=POLICY)
        assert row.tool == MALFORMED
        assert row.code in (Code.ARGUMENTS_INVALID, Code.NOT_OFFERED)
    assert shop.effects == []


@pytest.mark.parametrize("arguments", [[ONE, TWO], [{}], [{"to": "bo"}, {"to": "cy"}]])
def test_a_list_of_arguments_is_no_arguments(shop: Any, arguments: Any) -> None:
    for call in (
        ("mail.send", arguments),
        ("tool.call", {"name": "mail.send", "arguments": arguments}),
    ):
        (row,) = shop.rows(call, policy=POLICY)
        assert (row.tool, row.code) == ("mail.send", Code.ARGUMENTS_INVALID)
    assert shop.effects == []


@pytest.mark.parametrize(
    "text", ['{"to":"bo"}{"to":"cy"}', '{"to":"bo"}\n{"to":"cy"}', '[{"to":"bo"},{"to":"cy"}]']
)
def test_several_json_values_are_no_arguments(shop: Any, text: str) -> None:
    (row,) = shop.rows(("mail.send", text), policy=POLICY)
    assert row.code is Code.ARGUMENTS_INVALID
    assert shop.effects == []


def test_a_list_inside_a_providers_list_of_calls_is_one_refused_call(shop: Any) -> None:
    call = {"id": "c1", "function": {"name": "mail_send", "arguments": '{"to":"bo"}'}}
    reply = {"role": "assistant", "tool_calls": [[call, call]]}

    async def act(turn: Any, keeper: Any) -> Any:
        return await turn.call_all(turn.calls(reply))

    (outcome,) = shop.turn(act, provider="openai", policy=POLICY)
    assert (outcome.row.tool, outcome.row.code) == (MALFORMED, Code.ARGUMENTS_INVALID)
    assert shop.effects == []


def test_the_same_from_a_script_and_the_command_line(home: Any) -> None:
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(POLICY)
    home.write()
    calls = [
        {"id": f"c{number}", "tool": "tool.call", "arguments": batch}
        for number, batch in enumerate(BATCHES)
    ]
    calls.append({"id": "c8", "tool": ["notes.list", "mail.send"], "arguments": {"to": "bo"}})
    calls.append({"id": "c9", "tool": "mail.send", "arguments": [{"to": "bo"}, {"to": "cy"}]})
    lines = home.run(*calls, expect=1)
    assert {line["code"] for line in lines} == {"tool.arguments_invalid"}
    home.toolkeeper("call", "--agent", "chat", "mail.send", '[{"to":"bo"}]', expect=1)
    assert home.effects() == []
    assert len(home.here("audit", "calls")) == len(calls) + 1
