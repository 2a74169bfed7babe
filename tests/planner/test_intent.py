from typing import Any

import pytest

from toolkeeper_contract import ConfigError
from toolkeeper_planner import Intent, parse_intent


@pytest.mark.parametrize(
    "stored",
    [
        [],
        ["notes.read", "mcp.git.git_log"],
        {},
        {"enabled": None},
        {"enabled": True, "toolset": None, "allowed": None, "disabled": [], "overlays": {}},
        {"enabled": False, "overlays": {"web": True}},
        {"toolset": "research", "disabled": ["a"], "overlays": {"web": False}},
        {"allowed": ["x"], "disabled": None, "overlays": None},
    ],
)
def test_what_is_stored_reads_back_equal(stored: Any) -> None:
    intent = parse_intent(stored)
    assert intent is not None
    assert intent.as_json() == stored
    assert parse_intent(intent.as_json()) == intent


def test_nothing_stored_is_no_intent() -> None:
    assert parse_intent(None) is None


def test_a_missing_field_reads_as_following_the_agent() -> None:
    assert parse_intent({}) == Intent()


def test_an_intent_made_in_code_has_a_stored_form_without_empty_fields() -> None:
    assert Intent(disabled=("a",)).as_json() == {"disabled": ["a"]}


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("notes.read", "intent"),
        (7, "intent"),
        (True, "intent"),
        ([1], "intent[0]"),
        (["a", None], "intent[1]"),
        ([["a"]], "intent[0]"),
        ([""], "intent[0]"),
        (["a\x1b[2K"], "intent[0]"),
        (["\ud800"], "intent[0]"),
        (["a" * 300], "intent[0]"),
        ({"enable": True}, "intent.enable"),
        ({"tools": []}, "intent.tools"),
        ({"enabled": "false"}, "intent.enabled"),
        ({"enabled": 0}, "intent.enabled"),
        ({"enabled": 1}, "intent.enabled"),
        ({"toolset": ["a"]}, "intent.toolset"),
        ({"toolset": ""}, "intent.toolset"),
        ({"allowed": "a"}, "intent.allowed"),
        ({"allowed": {"a": True}}, "intent.allowed"),
        ({"allowed": [True]}, "intent.allowed[0]"),
        ({"disabled": ["a", 3]}, "intent.disabled[1]"),
        ({"overlays": ["web"]}, "intent.overlays"),
        ({"overlays": {"web": "true"}}, "intent.overlays.web"),
        ({"overlays": {"web": None}}, "intent.overlays.web"),
        ({"overlays": {"web": 1}}, "intent.overlays.web"),
    ],
)
def test_anything_else_is_refused_and_names_its_key(value: Any, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_intent(value)
    assert caught.value.key == key


def test_an_unknown_key_gets_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean `disabled`"):
        parse_intent({"disable": []})
