"""Operands that a tool or a rule names are looked at, whatever else is said of the tool."""

from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    ConfigError,
    Declaration,
    SideEffect,
    SourceKind,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy import ClassificationRule, classify, dearest

OURS = ToolIdentity(SourceKind.FUNCTION, "functions", "script.run")
THEIRS = ToolIdentity(SourceKind.MCP, "shell", "run")
DEFINITION = ToolDefinition("run", None, "", {"type": "object"})


def rule(*operands: str, **more: Any) -> ClassificationRule:
    return ClassificationRule(sources=("functions", "shell"), operands=operands, **more)


def test_declared_and_ruled_ones_are_all_looked_at() -> None:
    declaration = Declaration(SideEffect.CODE_EXECUTION, operands=("/path",))
    assert classify(OURS, DEFINITION, declaration=declaration).operands == ("/path",)
    found = classify(OURS, DEFINITION, declaration=declaration, rules=[rule("/file"), rule("/a")])
    assert found.operands == ("/path", "/file", "/a")


@pytest.mark.parametrize("side_effect", [None, SideEffect.WORKSPACE_READ])
@pytest.mark.parametrize("accepted", [True, False])
def test_of_a_server_that_is_not_trusted_they_only_tighten(
    accepted: bool, side_effect: SideEffect | None
) -> None:
    rules = [rule("/file", side_effect=side_effect)]
    assert classify(THEIRS, DEFINITION, rules=rules, accepted=accepted).operands == ("/file",)


def test_without_a_declared_class_they_stand_as_well() -> None:
    found = classify(OURS, DEFINITION, declaration=Declaration(operands=("/path",)))
    assert found.operands == ("/path",)


def test_of_several_classes_every_one_counts() -> None:
    one = Classification(SideEffect.NONE, frozenset(), "rule", operands=("/a",))
    two = Classification(SideEffect.NONE, frozenset(), "rule", operands=("/b", "/a"))
    assert dearest([one, two]).operands == ("/a", "/b")


@pytest.mark.parametrize("operand", ["", "path", "/", "//", "/a~", "/a~2", "/a//b"])
def test_what_is_no_pointer_of_an_argument_is_refused(operand: str) -> None:
    with pytest.raises(ConfigError, match="no json pointer"):
        rule(operand)
