"""B61: an exact name in a rule is read as a prefix, or matched on the rendered text of the call.

Right: a name stands for itself; only a written `*` is a wildcard, dots and brackets are nothing
special; the arguments are never looked at; case counts; a list is a list.
"""

from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper_contract import Code, ConfigError, Effect, Principal, Question
from toolkeeper_policy import WORST_CASE, load_policy

OTHERS = ["addition", "add_user", "add.user", "madd", "Add", "ADD", "ad", "addd", "mcp.crm.add"]


def effect(rule: str, name: str, **arguments: Any) -> Effect:
    text = f"version: 1\ndefaults: {{network_write: allow}}\nrules:\n  - {{id: r, {rule}}}\n"
    policy = load_policy([("policy.yaml", text)])
    question = Question(name, "functions", WORST_CASE, "chat", Principal("ana"), arguments)
    return policy.decide(question).effect


@pytest.mark.parametrize("name", OTHERS)
def test_an_exact_name_matches_itself_alone(name: str) -> None:
    assert effect("tools: [add], effect: deny", "add") is Effect.DENY
    assert effect("tools: [add], effect: deny", name) is Effect.ALLOW


@pytest.mark.parametrize("text", ["add", "add(x)", "tool add", "add: 1"])
def test_what_the_arguments_say_matches_no_name(text: str) -> None:
    assert effect("tools: [add], effect: deny", "read", text=text, add=text) is Effect.ALLOW


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("add*", "add_user", "Add_user"),
        ("add*", "add", "madd"),
        ("*.add", "mcp.crm.add", "mcp.crm.add_user"),
        ("files.read", "files.read", "filesXread"),
        ("mcp.*.add", "mcp.crm.deep.add", "mcpXcrm.add"),
        ("a-b", "a-b", "a_b"),
    ],
)
def test_only_a_star_that_is_written_is_a_wildcard(pattern: str, fits: str, does_not: str) -> None:
    rule = f'tools: ["{pattern}"], effect: deny'
    assert effect(rule, fits) is Effect.DENY
    assert effect(rule, does_not) is Effect.ALLOW


@pytest.mark.parametrize(
    "written",
    [
        '"a, b"', '"a,b"', '["a, b"]', '["a,b"]', '["files[1].read"]', '["add?"]', '["[ad]d"]',
        '["add("]', '["^add$"]', '["add\\\\*"]', '["{add,sub}"]', '["add "]', '[""]', "[]", "add",
    ],
)  # fmt: skip
def test_what_can_be_no_list_of_names_is_an_error_with_a_line(written: str) -> None:
    for effect in ("allow", "ask", "deny"):
        text = f"version: 1\nrules:\n  - id: r\n    tools: {written}\n    effect: {effect}\n"
        with pytest.raises(ConfigError) as caught:
            load_policy([("policy.yaml", text)])
        assert caught.value.code is Code.POLICY_INVALID
        assert (caught.value.file, caught.value.line) == ("policy.yaml", 4)


def test_a_tool_of_a_name_that_no_rule_can_say_is_refused_at_discovery(home: Any) -> None:
    schema = {"type": "object"}
    names = ["files[1].read", "a, b", "add*", "add"]
    home.serve("crm", [{"name": name, "inputSchema": schema} for name in names])
    (registry,) = home.here("tools")
    assert {row["name"] for row in registry["refused_tools"]} == {"files[1].read", "a, b", "add*"}
    (add,) = [row for row in registry["tools"] if row["name"].startswith("mcp.crm.")]
    assert add["name"] == "mcp.crm.add"


def test_the_same_through_the_pipeline(shop: Any) -> None:
    @tool(name="add", side_effect="none")
    def add() -> str:
        """Add."""
        return "added"

    @tool(name="addition", side_effect="none")
    def addition(text: str = "add") -> str:
        """Know about adding."""
        return "known"

    policy = (
        "version: 1\nrules:\n  - {id: no-add, tools: [add], effect: deny}\n"
        "hardline:\n  - {id: never-add, tools: [add], effect: deny}\n"
    )
    rows = shop.rows(
        ("addition", {"text": "add"}),
        ("tool.call", {"name": "addition", "arguments": {"text": "add"}}),
        more=(add, addition),
        policy=policy,
    )
    assert [row.outcome for row in rows] == ["completed"] * 2
