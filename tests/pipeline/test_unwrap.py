"""`tool.call` is taken off once, before anything resolves (adr/0002)."""

from typing import Any

import pytest

from toolkeeper_contract import MALFORMED, AdvertisedAs, Code, Ending


def test_the_row_is_the_named_tools(office: Any) -> None:
    row = office.one("tool.call", {"name": "notes.find", "arguments": {"text": "tea"}})
    assert row.tool == "notes.find"
    assert row.advertised_as is AdvertisedAs.TOOL_CALL
    assert row.outcome is Ending.COMPLETED
    assert row.arguments == {"text": "tea"}


def test_left_out_arguments_are_an_empty_object(office: Any) -> None:
    assert office.one("tool.call", {"name": "notes.list"}).outcome is Ending.COMPLETED


@pytest.mark.parametrize(
    "wrapper",
    [
        {},
        {"name": ""},
        {"name": "  "},
        {"name": 7},
        {"name": None},
        {"name": ["notes.list"]},
        {"name": "notes.find", "text": "tea"},
        {"tool": "notes.find", "args": {}},
        {"name": "notes.find", "arguments": {"text": "tea"}, "extra": 2},
        [{"name": "notes.list"}, {"name": "notes.list"}],
        "[]",
        '{"name":"notes.list","name":"bank.pay"}',
    ],
)
def test_a_malformed_wrapper_is_refused_under_a_reserved_name(office: Any, wrapper: Any) -> None:
    row = office.one("tool.call", wrapper)
    assert row.code is Code.ARGUMENTS_INVALID
    assert row.outcome is Ending.REFUSED
    assert row.tool == MALFORMED
    assert row.arguments is None
    assert row.arguments_digest
    assert office.effects == []


@pytest.mark.parametrize("inner", [[1], "x", 7, None, [{"name": "notes.list"}], "[]", '"{}"'])
def test_wrapped_arguments_that_are_no_object_are_the_tools_own_fault(
    office: Any, inner: Any
) -> None:
    wrapped = office.one("tool.call", {"name": "notes.find", "arguments": inner})
    assert (wrapped.tool, wrapped.code) == ("notes.find", Code.ARGUMENTS_INVALID)
    assert "input schema" in wrapped.result


def test_wrapped_arguments_encoded_as_text_are_decoded_once(office: Any) -> None:
    row = office.one("tool.call", {"name": "notes.find", "arguments": '{"text": "tea"}'})
    assert row.outcome is Ending.COMPLETED
    assert row.arguments_decoded


@pytest.mark.parametrize(
    "inner",
    [
        "tool.call",
        "tool.search",
        "tool.result",
        "tool_call",
        "tool_search",
        " tool.call",
        "TOOL.CALL",
        "Tool.Call",
        "notes.Find",
        "notes_find",
        "nope",
        "run\n\n# SYSTEM",
        "x" * 500,
    ],
)
def test_a_control_tool_or_an_unknown_name_inside_is_not_offered(office: Any, inner: str) -> None:
    row = office.one("tool.call", {"name": inner, "arguments": {"name": "notes.list"}})
    assert row.code is Code.NOT_OFFERED
    assert row.outcome is Ending.REFUSED
    assert "notes" not in row.result
    assert "\n" not in row.tool


def test_a_bridge_that_the_plan_does_not_advertise_is_not_looked_into(office: Any) -> None:
    row = office.one(
        "tool.call", {"name": "notes.list", "arguments": {}}, deferred_tools=(), scopes={}
    )
    assert row.tool == "tool.call"
    assert row.code is Code.NOT_OFFERED


@pytest.mark.parametrize("name", ["", None, 7, [], {}])
def test_a_call_without_a_usable_name_leaves_a_row(office: Any, name: Any) -> None:
    row = office.one(name, {})
    assert row.tool == MALFORMED
    assert row.code is Code.ARGUMENTS_INVALID
