"""Which conditions and rules look right and cannot do their work?"""

from datetime import UTC, datetime
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Flag,
    Registry,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy import Severity, check_policy, load_policy


def tool(name: str, schema: Any, side_effect: SideEffect, *flags: Flag) -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.FUNCTION, "functions", name),
        ToolDefinition(name, None, "does it", schema),
        Classification(side_effect, frozenset(flags), "declaration"),
    )


SEND = {
    "type": "object",
    "properties": {
        "to": {"type": "array", "items": {"type": "string"}},
        "body": {"type": "string"},
        "cc": {"type": "string"},
        "n": {"type": "integer"},
        "country": {"enum": ["CH", "DE"]},
        "any": {},
    },
    "required": ["to", "body", "n", "country"],
}
TOOLS = [
    tool("mail.send", SEND, SideEffect.MESSAGE_SEND),
    tool("mail.open", {"type": "object"}, SideEffect.NETWORK_WRITE),
    tool("mail.ref", {"$ref": "#/$defs/a", "$defs": {"a": SEND}}, SideEffect.NETWORK_WRITE),
    tool("pay", SEND, SideEffect.FINANCIAL, Flag.DESTRUCTIVE),
]
REGISTRY = Registry({found.name: found for found in TOOLS})
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def messages(*rules: str, at: datetime | None = NOW) -> list[tuple[str, str | None]]:
    body = "".join(f"  - {{id: r{n}, {rule}}}\n" for n, rule in enumerate(rules))
    policy = load_policy([("p.yaml", f"version: 1\nrules:\n{body}")])
    found = check_policy(policy, REGISTRY, [], ["chat"], at=at)
    assert all(one.severity is Severity.WARNING and one.line for one in found)
    return [(one.message, one.hint) for one in found]


def one(rule: str) -> tuple[str, str]:
    ((message, hint),) = messages(rule)
    return message, hint or ""


def test_conditions_that_fit_the_schemas_have_no_findings() -> None:
    assert (
        messages(
            "tools: [mail.send], when: 'args.to.all(a, a.endsWith(args.body))', effect: deny",
            'tools: [mail.send], when: args.n > 3.5 && args.country == "CH", effect: ask',
            'tools: [mail.send], when: has(args.cc) && args.cc == "x", effect: ask',
            'tools: [mail.send], when: args.cc == "x", effect: allow',
            'tools: [mail.send], when: args.any == 3 || args.any == "x", effect: allow',
            "tools: [mail.open, mail.ref], when: args.whatever == 1, effect: deny",
            "tools: ['mail.*'], when: args.to == args.to, effect: allow",
            "tools: [mail.send], when: call.hour < 8, effect: ask",
            "side_effects: [financial], flags: [destructive], effect: ask",
        )
        == []
    )


def test_an_argument_that_no_tool_has_is_a_warning_with_the_nearest() -> None:
    message, hint = one("tools: [mail.send], when: args.too == 1, effect: deny")
    assert message == "rule `r0`: no tool of this rule has the argument `too`"
    assert hint == "did you mean `to`?"


def test_an_optional_argument_without_a_question_for_it_is_a_warning() -> None:
    message, hint = one('tools: [mail.send], when: args.cc == "x", effect: deny')
    assert "where `cc` is left out" in message
    assert "has(args.cc)" in hint


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("args.n == '7'", "`n` is a number and never equals `7`"),
        ("args.body in [1]", "`body` is a text and never equals `1`"),
        ("true == args.to", "`to` is a list and never equals `True`"),
        ("args.to.endsWith('x')", "`endsWith` does not work on `to`, which is a list"),
        ("args.body.all(x, true)", "`all` does not work on `body`, which is a text"),
        ("domain(args.to) == 'x'", "`domain` does not work on `to`"),
        ("args.country == 'CHE'", "`country` is never `CHE`"),
        ("args.n == 1 && args.n == 2", "cannot equal two values at once"),
        ("1 == 2", "looks at nothing of the call"),
    ],
)
def test_what_the_types_speak_against_is_a_warning(condition: str, message: str) -> None:
    assert message in one(f'tools: [mail.send], when: "{condition}", effect: ask')[0]


def test_an_expired_rule_is_a_warning_that_says_what_no_longer_holds() -> None:
    assert (
        "allows nothing any more"
        in one(
            "tools: [pay], side_effects: [financial], "
            "flags: [destructive], expires: 2026-05-31, effect: allow"
        )[0]
    )
    assert "are decided without it" in one("tools: [pay], expires: 2026-05-31, effect: deny")[0]
    assert messages("tools: [pay], expires: 2026-06-01, effect: deny") == []
    assert messages("tools: [pay], expires: 2026-05-31, effect: deny", at=None) == []


def test_a_rule_under_a_stricter_one_can_never_decide() -> None:
    ((message, _),) = messages(
        "tools: [mail.send], users: [ana], effect: allow", "tools: ['mail.*'], effect: deny"
    )
    assert message == "rule `r0` can never decide: rule `r1` denies all the calls that it is for"
    for wide in (
        "tools: ['mail.*'], agents: [chat], effect: deny",
        "tools: ['mail.*'], when: args.to == args.to, effect: deny",
        "tools: ['mail.*'], expires: 2027-01-01, effect: deny",
        "tools: ['mail.*'], attributes: {a: 1}, effect: deny",
        "tools: ['mail.o*'], effect: deny",
    ):
        assert messages("tools: [mail.send], users: [ana], effect: allow", wide) == []


def test_a_rule_whose_tools_all_have_another_class_is_a_warning() -> None:
    message, hint = one("tools: [mail.send], side_effects: [financial], effect: deny")
    assert "no tool that it names has its side effects and flags" in message
    assert "toolkeeper tools" in hint


def test_the_same_condition_under_another_effect_is_a_contradiction_that_is_told() -> None:
    when = "when: args.n == 1"
    ((message, _),) = messages(
        f"tools: [mail.send], {when}, effect: allow", f"tools: [mail.send], {when}, effect: ask"
    )
    assert "rule `r0` can never decide: rule `r1` asks for all the calls" in message


def test_tools_of_another_source_are_a_warning() -> None:
    policy = load_policy([("p", "rules: [{id: x, tools: [pay], sources: [git], effect: ask}]\n")])
    (found,) = check_policy(policy, REGISTRY, ["git"], ["chat"])
    assert "no tool that it names is of its sources" in found.message
