"""Which mistakes show only beside the registry?"""

from toolkeeper_contract import (
    Classification,
    Code,
    Flag,
    Registry,
    SideEffect,
    SourceKind,
    SourceState,
    SourceStatus,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy import Finding, Severity, check_policy, load_policy


def tool(kind: SourceKind, source: str, name: str, side_effect: SideEffect, *flags: Flag) -> Tool:
    return Tool.of(
        ToolIdentity(kind, source, name),
        ToolDefinition(name, None, "does it", {"type": "object"}),
        Classification(side_effect, frozenset(flags), "declaration"),
    )


TOOLS = [
    tool(SourceKind.FUNCTION, "functions", "notes.add", SideEffect.WORKSPACE_WRITE),
    tool(SourceKind.FUNCTION, "functions", "pay", SideEffect.FINANCIAL),
    tool(SourceKind.MCP, "git", "reset", SideEffect.WORKSPACE_WRITE, Flag.DESTRUCTIVE),
]
REGISTRY = Registry(
    {found.name: found for found in TOOLS},
    sources=(
        SourceStatus("down", SourceState.UNAVAILABLE, "it does not start"),
        SourceStatus("git", SourceState.OK),
    ),
)


def findings(*rules: str) -> tuple[Finding, ...]:
    body = "".join(f"  - {{id: r{at}, {rule}}}\n" for at, rule in enumerate(rules))
    policy = load_policy([("policy.yaml", f"version: 1\nrules:\n{body}")])
    return check_policy(policy, REGISTRY, ["git", "down"], ["chat"])


def test_a_policy_that_names_what_exists_has_no_findings() -> None:
    assert (
        findings(
            "tools: [notes.add, 'mcp.git.*'], agents: [chat], effect: ask",
            "sources: [git, functions, down], effect: ask",
            "tools: [mcp.down.anything, 'mcp.down.*'], effect: deny",
            "tools: [pay], side_effects: [financial], effect: allow",
        )
        == ()
    )


def test_an_unknown_source_is_an_error_with_the_nearest_name() -> None:
    (found,) = findings("sources: [gitt], effect: deny")
    assert found.severity is Severity.ERROR
    assert (found.rule, found.file, found.line) == ("r0", "policy.yaml", 3)
    assert found.hint == "did you mean `git`?"
    error = found.error()
    assert (error.code, error.line) == (Code.POLICY_INVALID, 3)
    assert str(error).startswith("policy.yaml:3: rule `r0`: there is no source `gitt`")


def test_names_that_nobody_has_are_warnings() -> None:
    found = findings(
        "tools: [notes.ad], effect: deny",
        "tools: ['mail.*'], effect: deny",
        "tools: [mcp.gti.reset], effect: deny",
        "agents: [chatt], effect: deny",
    )
    assert {one.severity for one in found} == {Severity.WARNING}
    assert [one.message for one in found] == [
        "rule `r0`: there is no tool `notes.ad`",
        "rule `r1`: no tool matches `mail.*`",
        "rule `r2`: `mcp.gti.reset` names a tool of `gti`, which is no source",
        "rule `r3`: there is no agent `chatt`",
    ]
    assert found[0].hint == "did you mean `notes.add`?"


def test_an_allow_rule_that_cannot_count_is_a_warning() -> None:
    found = findings("tools: [pay, mcp.git.reset], effect: allow")
    assert [one.message.split(":")[0] for one in found] == [
        "rule `r0` does not count for `mcp.git.reset` and 1 more"
    ]


def test_errors_come_before_warnings() -> None:
    found = findings("tools: [nobody], effect: deny", "sources: [nowhere], effect: deny")
    assert [one.severity for one in found] == [Severity.ERROR, Severity.WARNING]
