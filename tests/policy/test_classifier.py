"""Whose word on a tool counts, and in which order?"""

import pytest

from toolkeeper_contract import (
    Classification,
    ConfigError,
    Declaration,
    Flag,
    SideEffect,
    SourceKind,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy import WORST_CASE, ClassificationRule, classify

MCP = ToolIdentity(SourceKind.MCP, "crm", "find_people")
OURS = ToolIdentity(SourceKind.FUNCTION, "functions", "notes.add")
WORST = frozenset({Flag.DESTRUCTIVE, Flag.OPEN_WORLD})


def definition(annotations: object = None) -> ToolDefinition:
    return ToolDefinition("t", None, "does it", {"type": "object"}, None, annotations)  # type: ignore[arg-type]


def trusting(annotations: object) -> Classification:
    return classify(MCP, definition(annotations), trusted=True, annotations_trusted=True)


@pytest.mark.parametrize("annotations", [None, {}, {"title": "x"}, {"readOnlyHint": "true"}])
@pytest.mark.parametrize("believed", [True, False])
def test_a_tool_without_hints_gets_the_worst_case(annotations: object, believed: bool) -> None:
    found = classify(MCP, definition(annotations), trusted=True, annotations_trusted=believed)
    assert found == WORST_CASE


def test_an_untrusted_server_cannot_lower_its_own_class() -> None:
    hints = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
    assert classify(MCP, definition({**hints, "idempotentHint": True})) == WORST_CASE


@pytest.mark.parametrize(
    ("hints", "side_effect", "flags", "classified_by"),
    [
        (
            {"readOnlyHint": True, "openWorldHint": False},
            SideEffect.WORKSPACE_READ,
            set(),
            "annotations",
        ),
        ({"readOnlyHint": True}, SideEffect.NETWORK_READ, {Flag.OPEN_WORLD}, "annotations"),
        (
            {"readOnlyHint": False},
            SideEffect.NETWORK_WRITE,
            {Flag.DESTRUCTIVE, Flag.OPEN_WORLD},
            "annotations",
        ),
        (
            {"openWorldHint": False},
            SideEffect.WORKSPACE_WRITE,
            {Flag.DESTRUCTIVE},
            "annotations",
        ),
        (
            {"destructiveHint": False, "openWorldHint": False, "idempotentHint": True},
            SideEffect.WORKSPACE_WRITE,
            {Flag.IDEMPOTENT},
            "annotations",
        ),
        (
            {"readOnlyHint": True, "destructiveHint": True, "openWorldHint": False},
            SideEffect.WORKSPACE_WRITE,
            {Flag.DESTRUCTIVE},
            "annotation_conflict",
        ),
        (
            {"readOnlyHint": True, "destructiveHint": True, "idempotentHint": True},
            SideEffect.NETWORK_WRITE,
            {Flag.DESTRUCTIVE, Flag.OPEN_WORLD},
            "annotation_conflict",
        ),
        (
            {"readOnlyHint": 1, "openWorldHint": 0, "destructiveHint": "false"},
            SideEffect.NETWORK_WRITE,
            {Flag.DESTRUCTIVE, Flag.OPEN_WORLD},
            "worst_case",
        ),
    ],
)
def test_trusted_hints_give_the_class(
    hints: object, side_effect: SideEffect, flags: set[Flag], classified_by: str
) -> None:
    found = trusting(hints)
    assert found.side_effect is side_effect
    assert found.flags == flags
    assert found.classified_by == classified_by


def test_a_declaration_of_ours_outranks_the_annotations() -> None:
    declared = Declaration(SideEffect.WORKSPACE_WRITE, frozenset({Flag.PRIVATE}))
    found = classify(OURS, definition({"readOnlyHint": True}), declaration=declared)
    assert found.side_effect is SideEffect.WORKSPACE_WRITE
    assert found.flags == {Flag.PRIVATE}
    assert found.classified_by == "declaration"
    assert found.trusted_result


def test_a_tool_of_ours_without_a_declaration_gets_the_worst_case() -> None:
    assert classify(OURS, definition()) == WORST_CASE
    half = Declaration(None, frozenset({Flag.PRIVATE}))
    assert classify(OURS, definition(), declaration=half).flags == WORST | {Flag.PRIVATE}


def test_an_operators_rule_outranks_everything() -> None:
    rule = ClassificationRule(tools=("mcp.crm.find_*",), side_effect=SideEffect.NETWORK_READ)
    found = classify(MCP, definition({"readOnlyHint": False}), rules=[rule])
    assert found.side_effect is SideEffect.NETWORK_READ
    assert found.classified_by == "rule"
    assert found.flags == {Flag.OPEN_WORLD}


def test_the_last_rule_wins_field_by_field() -> None:
    rules = [
        ClassificationRule(tools=("mcp.*",), side_effect=SideEffect.NETWORK_READ, private=True),
        ClassificationRule(sources=("crm",), side_effect=SideEffect.MESSAGE_SEND),
        ClassificationRule(sources=("other",), side_effect=SideEffect.NONE),
        ClassificationRule(tools=("mcp.crm.find_people",), destructive=False),
    ]
    found = classify(MCP, definition(), rules=rules)
    assert found.side_effect is SideEffect.MESSAGE_SEND
    assert found.flags == {Flag.OPEN_WORLD, Flag.PRIVATE}


def test_an_untrusted_hint_may_raise_what_a_rule_lowered() -> None:
    rule = ClassificationRule(tools=("mcp.crm.*",), side_effect=SideEffect.WORKSPACE_READ)
    quiet = classify(MCP, definition(), rules=[rule])
    loud = classify(MCP, definition({"destructiveHint": True, "openWorldHint": True}), rules=[rule])
    assert quiet.flags == frozenset()
    assert loud.flags == WORST


def test_a_lowering_rule_does_not_cover_an_unaccepted_tool_of_an_untrusted_server() -> None:
    rule = ClassificationRule(
        tools=("mcp.crm.find_*",),
        side_effect=SideEffect.NETWORK_READ,
        destructive=False,
        idempotent=True,
        private=True,
        result="trusted",
    )
    found = classify(MCP, definition(), rules=[rule], accepted=False)
    assert found.side_effect is SideEffect.NETWORK_WRITE
    assert found.flags == WORST | {Flag.PRIVATE}
    assert not found.trusted_result
    assert classify(MCP, definition(), rules=[rule], accepted=True).trusted_result
    assert classify(MCP, definition(), rules=[rule], trusted=True, accepted=False).trusted_result


def test_a_raising_rule_covers_an_unaccepted_tool_too() -> None:
    rule = ClassificationRule(tools=("mcp.crm.*",), side_effect=SideEffect.FINANCIAL)
    found = classify(MCP, definition(), rules=[rule], accepted=False)
    assert found.side_effect is SideEffect.FINANCIAL
    assert found.flags == WORST


@pytest.mark.parametrize(
    ("hints", "trusted", "expected"),
    [
        ({"readOnlyHint": True, "openWorldHint": False}, True, True),
        ({"readOnlyHint": True, "openWorldHint": False}, False, False),
        ({"readOnlyHint": True}, True, False),
        ({"openWorldHint": False}, True, True),
    ],
)
def test_results_of_a_trusted_servers_closed_world_tools_are_trusted(
    hints: object, trusted: bool, expected: bool
) -> None:
    found = classify(MCP, definition(hints), trusted=trusted, annotations_trusted=True)
    assert found.trusted_result is expected


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (Declaration(SideEffect.NONE), True),
        (Declaration(SideEffect.WORKSPACE_READ), True),
        (Declaration(SideEffect.WORKSPACE_READ, frozenset({Flag.OPEN_WORLD})), False),
        (Declaration(SideEffect.NETWORK_READ), False),
        (Declaration(SideEffect.WORKSPACE_WRITE), True),
        (None, False),
    ],
)
def test_a_result_of_ours_is_trusted_unless_it_comes_from_outside(
    declared: Declaration | None, expected: bool
) -> None:
    assert classify(OURS, definition(), declaration=declared).trusted_result is expected


def test_a_rule_can_say_that_results_are_untrusted() -> None:
    rule = ClassificationRule(sources=("functions",), result="untrusted")
    declared = Declaration(SideEffect.WORKSPACE_READ)
    found = classify(OURS, definition(), declaration=declared, rules=[rule])
    assert not found.trusted_result
    assert found.classified_by == "declaration"


def test_rules_match_exactly_and_case_sensitively() -> None:
    for pattern in ("mcp.crm.find", "MCP.crm.find_people", "crm.find_people", "find_people"):
        rule = ClassificationRule(tools=(pattern,), side_effect=SideEffect.NONE)
        assert classify(MCP, definition(), rules=[rule]) == WORST_CASE


def test_a_control_tool_is_never_classified_otherwise() -> None:
    control = ToolIdentity(SourceKind.CONTROL, "control", "tool.call")
    rule = ClassificationRule(tools=("*",), side_effect=SideEffect.FINANCIAL)
    assert classify(control, definition(), rules=[rule]).side_effect is SideEffect.NONE


def test_a_rule_without_tools_is_refused() -> None:
    with pytest.raises(ConfigError, match="names no tools"):
        ClassificationRule(side_effect=SideEffect.NONE)
    with pytest.raises(ConfigError, match="control tool"):
        ClassificationRule(tools=("tool.call",), side_effect=SideEffect.NONE)
    with pytest.raises(ConfigError, match="not a trust"):
        ClassificationRule(tools=("a",), result="yes")


def test_the_arguments_that_count_are_the_operators_word_and_never_of_what_was_not_accepted() -> (
    None
):
    rules = (
        ClassificationRule(tools=("mcp.crm.*",), destination=("to",)),
        ClassificationRule(tools=("mcp.crm.push",), payload=("body", "title")),
    )
    identity = ToolIdentity(SourceKind.MCP, "crm", "push")
    definition = ToolDefinition("push", None, "", {"type": "object"})
    accepted = classify(identity, definition, rules=rules)
    assert (accepted.destination, accepted.payload) == (("to",), ("body", "title"))
    later = classify(identity, definition, rules=rules, accepted=False)
    assert (later.destination, later.payload) == ((), ())
    other = classify(ToolIdentity(SourceKind.MCP, "crm", "pull"), definition, rules=rules)
    assert (other.destination, other.payload) == (("to",), ())
