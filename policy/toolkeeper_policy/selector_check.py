"""Do a policy's rules name things that exist, and do they do what they seem to say?"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from toolkeeper_contract import (
    Code,
    ConfigError,
    Effect,
    Registry,
    SourceState,
    Tool,
    did_you_mean,
    is_literal,
    matches,
)
from toolkeeper_policy.classification_rule import FUNCTIONS, source_name
from toolkeeper_policy.condition_check import remarks
from toolkeeper_policy.policy import Policy
from toolkeeper_policy.reach_check import Restricting, expired, shadowed, unmatched
from toolkeeper_policy.rule import Rule


class Severity(StrEnum):
    """An error stops the policy from being loaded; a warning is for its writer to read."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or suspicious about one rule; `line` is 1-based."""

    severity: Severity
    rule: str
    message: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None

    def error(self) -> ConfigError:
        """The finding as the error that stops a load."""
        return ConfigError(
            self.message, self.hint, code=Code.POLICY_INVALID, file=self.file, line=self.line
        )


def check_policy(
    policy: Policy,
    registry: Registry,
    sources: Collection[str],
    agents: Collection[str],
    *,
    at: datetime | None = None,
) -> tuple[Finding, ...]:
    """Everything that the rules name and nobody has, and every rule that cannot do its work;
    errors first, then by file and line.

    `sources` are the configured server ids; `at` is the moment of the check, for rules that
    expire. An unknown source is an error. Warnings: an unknown agent, a tool that nobody has, an
    allow rule that cannot count, a rule that can never match or never decide or has expired, and
    conditions that the schemas of the rule's tools speak against. Tools of a source that could not
    be listed are not missed.
    """
    restricting = Restricting((*policy.rules, *policy.hardline))
    known_sources = {*sources, FUNCTIONS}
    findings = [
        finding
        for rule in (*policy.rules, *policy.hardline)
        for finding in (
            *_sources(rule, known_sources),
            *_agents(rule, agents),
            *_tools(rule, registry, known_sources),
            *_unheard(rule, registry.tools.values()),
            *_idle_approvers(rule),
            *_reach(rule, registry, restricting, at),
        )
    ]
    return tuple(
        sorted(
            findings,
            key=lambda found: (
                found.severity.value,
                found.file or "",
                found.line or 0,
                found.rule,
                found.message,
            ),
        )
    )


def _sources(rule: Rule, known: Collection[str]) -> Iterator[Finding]:
    for name in rule.sources:
        if name not in known:
            yield _finding(
                Severity.ERROR,
                rule,
                f"rule `{rule.id}`: there is no source `{name}`",
                did_you_mean(name, known),
            )


def _agents(rule: Rule, known: Collection[str]) -> Iterator[Finding]:
    for name in sorted(rule.agents):
        if name not in known:
            yield _finding(
                Severity.WARNING,
                rule,
                f"rule `{rule.id}`: there is no agent `{name}`",
                did_you_mean(name, known),
            )


def _tools(rule: Rule, registry: Registry, sources: Collection[str]) -> Iterator[Finding]:
    unlisted = tuple(
        f"{kind}.{status.name}."
        for status in registry.sources
        if status.state is not SourceState.OK
        for kind in ("mcp", "device")
    )
    for pattern in rule.tools:
        if pattern.startswith(unlisted):
            continue
        server = _server_of(pattern)
        if server is not None and server not in sources:
            yield _finding(
                Severity.WARNING,
                rule,
                f"rule `{rule.id}`: `{pattern}` names a tool of `{server}`, which is no source",
                did_you_mean(server, sources),
            )
        elif is_literal(pattern) and pattern not in registry.tools:
            yield _finding(
                Severity.WARNING,
                rule,
                f"rule `{rule.id}`: there is no tool `{pattern}`",
                did_you_mean(pattern, registry.tools),
            )
        elif not any(matches(pattern, name) for name in registry.tools):
            yield _finding(Severity.WARNING, rule, f"rule `{rule.id}`: no tool matches `{pattern}`")


def _server_of(pattern: str) -> str | None:
    """The server that a pattern names literally; None for a function or a wildcard."""
    kind, dot, rest = pattern.partition(".")
    server, second_dot, _ = rest.partition(".")
    if kind not in ("mcp", "device") or not dot or not second_dot or "*" in server:
        return None
    return server


def _unheard(rule: Rule, tools: Iterable[Tool]) -> Iterator[Finding]:
    names = sorted(
        tool.name
        for tool in tools
        if rule.effect is Effect.ALLOW
        and rule.covers_tool(tool.name, source_name(tool.identity), tool.classification)
        and not rule.counts_for(tool.classification)
    )
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield _finding(
            Severity.WARNING,
            rule,
            f"rule `{rule.id}` does not count for `{names[0]}`{more}: financial and destructive "
            "calls are allowed only by a rule that says so",
            "name `side_effects: [financial]` or `flags: [destructive]` in the rule",
        )


def _idle_approvers(rule: Rule) -> Iterator[Finding]:
    if rule.effect is Effect.DENY and rule.approvers:
        yield _finding(
            Severity.WARNING, rule, f"rule `{rule.id}` denies, so its approvers are never asked"
        )


def _reach(
    rule: Rule, registry: Registry, restricting: Restricting, at: datetime | None
) -> Iterator[Finding]:
    tools = registry.tools.values()
    covered = [
        tool
        for tool in tools
        if rule.covers_tool(tool.name, source_name(tool.identity), tool.classification)
    ]
    for text, hint in (*expired(rule, at), *shadowed(rule, restricting), *unmatched(rule, tools)):
        yield _finding(Severity.WARNING, rule, f"rule `{rule.id}` {text}", hint)
    for text, hint in dict.fromkeys(remarks(rule, covered)):
        yield _finding(Severity.WARNING, rule, f"rule `{rule.id}`: {text}", hint)


def _finding(severity: Severity, rule: Rule, message: str, hint: str | None = None) -> Finding:
    place = rule.place
    return Finding(
        severity,
        rule.id,
        message,
        hint,
        file=place.file if place else None,
        line=place.line if place else None,
    )
