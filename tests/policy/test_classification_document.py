"""What may stand under `classification`, and how does a mistake show?"""

import pytest

from toolkeeper_contract import Code, ConfigError, SideEffect, parse_document
from toolkeeper_policy import ClassificationRule, read_classification


def read(text: str) -> tuple[ClassificationRule, ...]:
    document = parse_document(text, "toolkeeper.yaml")
    return read_classification(document, ("classification",), document.value["classification"])


def test_every_field_is_read() -> None:
    rules = read(
        """\
classification:
  - {tools: ["mcp.crm.find_*"], side_effect: network_read, private: true, result: untrusted}
  - sources: [mail, functions]
    destructive: false
    idempotent: true
    open_world: false
    destination: [to]
    payload: [body, $meta]
"""
    )
    assert rules == (
        ClassificationRule(
            tools=("mcp.crm.find_*",),
            side_effect=SideEffect.NETWORK_READ,
            private=True,
            result="untrusted",
        ),
        ClassificationRule(
            sources=("mail", "functions"),
            destructive=False,
            idempotent=True,
            open_world=False,
            destination=("to",),
            payload=("body", "$meta"),
        ),
    )


def test_nothing_is_no_rules() -> None:
    assert read("classification:\n") == ()


@pytest.mark.parametrize(
    ("rule", "message", "hint"),
    [
        ("{tools: [a], sideeffect: none}", "unknown key `sideeffect`", "`side_effect`"),
        ("{tools: [a], side_effect: reads}", "`reads` is not a known side_effect", "known: "),
        ("{tools: [a], destructive: 'no'}", "must be true or false, not a string", None),
        ("{tools: [a]}", "says nothing", "side_effect"),
        ("{side_effect: none}", "names no tools", "`tools`"),
        ("{tools: [tool.search], private: true}", "control tool", "class of the tool"),
        ("{tools: ['a b'], private: true}", "no tool name can have", "wildcard"),
        ("{sources: ['a.b'], private: true}", "cannot be a source", "functions"),
        ("{tools: [a], result: maybe}", "`maybe` is not a known result", "`trusted`"),
        ("{tools: [a], destination: ['a b']}", "cannot be an argument's name", None),
        ("nothing", "must be a mapping, not a string", None),
    ],
)
def test_a_mistake_is_refused_with_its_line(rule: str, message: str, hint: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        read(f"classification:\n  - {rule}\n")
    error = caught.value
    assert message in error.message
    assert (error.code, error.file, error.line) == (Code.CONFIG_INVALID, "toolkeeper.yaml", 2)
    if hint is not None:
        assert hint in (error.hint or "")


def test_something_else_than_a_list_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be a list"):
        read("classification: {tools: [a]}\n")
