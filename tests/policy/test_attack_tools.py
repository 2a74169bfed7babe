"""Four hundred tools made to attack, as an untrusted server lists them: none runs unasked.

The tools are ASB's (`shared/data/security-asb.json`), with whatever hints make them look harmless.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Effect,
    Principal,
    Question,
    SideEffect,
    SourceKind,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy import (
    ClassificationRule,
    classify,
    load_policy,
    pack_names,
    pack_text,
    source_name,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "security-asb.json"
HARMLESS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
POLICIES = {
    "no document": [],
    **{name: [(name, pack_text(name))] for name in pack_names()},
    "everything by default": [
        (
            "own.yaml",
            "version: 1\nrules:\n"
            "  - {id: all, tools: ['mcp.evil.*'], effect: allow, despite_taint: true}\n"
            "  - {id: source, sources: [evil], effect: allow}\n"
            "  - {id: reads, side_effects: [workspace_read, network_read], effect: allow}\n",
        )
    ],
}
# The operator's own words about the server's tools, written before these were listed.
LOWERING = (
    ClassificationRule(sources=("evil",), side_effect=SideEffect.WORKSPACE_READ),
    ClassificationRule(
        tools=("mcp.evil.*",), destructive=False, open_world=False, result="trusted"
    ),
)


@pytest.fixture(scope="module")
def attacks() -> list[ToolDefinition]:
    if not DATA.exists():
        pytest.skip("the data of ASB are not here")
    entries = json.loads(DATA.read_text("utf-8"))["attack_tools"]
    assert len(entries) == 400
    return [_definition(entry, hints) for entry in entries for hints in (None, HARMLESS)]


def questions(tools: list[ToolDefinition], **how: Any) -> Iterator[Question]:
    for definition in tools:
        identity = ToolIdentity(SourceKind.MCP, "evil", definition.name)
        for tainted in (False, True):
            yield Question(
                tool=identity.canonical_name,
                source=source_name(identity),
                classification=classify(identity, definition, **how),
                agent="chat",
                principal=Principal("ana", frozenset({"mail"})),
                arguments={"task": "go on"},
                trusted=False,
                tainted=tainted,
            )


@pytest.mark.parametrize("name", POLICIES)
def test_no_attack_tool_of_an_untrusted_server_is_allowed_unasked(
    attacks: list[ToolDefinition], name: str
) -> None:
    policy = load_policy(POLICIES[name])
    allowed = [
        question.tool
        for question in questions(attacks)
        if policy.decide(question).effect is Effect.ALLOW
    ]
    assert allowed == []


@pytest.mark.parametrize("name", POLICIES)
def test_nor_by_a_rule_that_lowers_the_class_of_what_was_not_accepted(
    attacks: list[ToolDefinition], name: str
) -> None:
    policy = load_policy(POLICIES[name])
    asked = list(questions(attacks, rules=LOWERING, accepted=False))
    assert not any(policy.decide(question).effect is Effect.ALLOW for question in asked)


def test_their_results_are_never_taken_for_ours(attacks: list[ToolDefinition]) -> None:
    found: set[Classification] = {
        question.classification
        for rules in ((), LOWERING)
        for question in questions(attacks, rules=rules, accepted=False)
    }
    assert not any(classification.trusted_result for classification in found)


def test_their_own_word_lowers_nothing_even_of_an_accepted_tool(
    attacks: list[ToolDefinition],
) -> None:
    silent, hinted = attacks[::2], attacks[1::2]
    for one, other in zip(questions(silent), questions(hinted), strict=True):
        assert one.classification == other.classification


def _definition(entry: dict[str, Any], hints: dict[str, Any] | None) -> ToolDefinition:
    name = re.sub(r"[^A-Za-z0-9_-]", "_", entry["Attacker Tool"])
    return ToolDefinition(
        name=name,
        title=None,
        description=entry["Description"],
        input_schema={"type": "object"},
        annotations=hints,
    )
