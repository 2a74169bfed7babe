"""Which calls does a file of policy tests suppose, and what does it expect of each?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path as FilePath

from pydantic import ValidationError

from toolkeeper.runtime.configuration import Configuration
from toolkeeper.runtime.configuration.file_text import Documents, alone, read_document
from toolkeeper.runtime.configuration.problem import problems, raise_all
from toolkeeper.runtime.policy_case_file import CaseFile, CaseSessionFile, CasesFile
from toolkeeper.runtime.supposed_call import SupposedCall, question_of
from toolkeeper_contract import ConfigError, Decision, Effect, Registry, did_you_mean
from toolkeeper_policy import Heard, Policy, explain

_START = "write a list of cases under `cases`"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a case expects. `rule` is looked at where `names_rule`; None is the class default."""

    effect: Effect
    names_rule: bool
    rule: str | None


@dataclass(frozen=True, slots=True)
class PolicyCase:
    """One row of a table test; `line` is where it stands in `file`."""

    name: str
    file: str
    line: int | None
    call: SupposedCall
    expected: Expected


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case went: `fault` says in one sentence why it failed; None where it holds."""

    case: PolicyCase
    decision: Decision
    fault: str | None

    @property
    def passed(self) -> bool:
        return self.fault is None


@dataclass(frozen=True, slots=True)
class CaseReport:
    """All results in the file's order, and how often each rule matched, by id.

    `matched` has every rule of the policy, hardline included; 0: no case ever exercised it.
    """

    results: tuple[CaseResult, ...]
    matched: Mapping[str, int]

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        return tuple(result for result in self.results if not result.passed)

    @property
    def never_exercised(self) -> tuple[str, ...]:
        return tuple(rule for rule, times in self.matched.items() if not times)


def load_cases(path: FilePath, configuration: Configuration, policy: Policy) -> list[PolicyCase]:
    """The cases of the file at `path`.

    Raises ConfigError, or ConfigurationErrors with one error for each fault, where the file is
    malformed or names an agent or a rule that there is not.
    """
    document = read_document(path, hint="name a file of policy tests")
    documents = alone(document, _START)
    try:
        file = CasesFile.model_validate(documents.value)
    except ValidationError as error:
        raise_all(problems(error, documents, CasesFile))
        raise AssertionError("a failed validation always has an error") from None
    errors: list[ConfigError] = []
    known = [rule.id for rule in (*policy.rules, *policy.hardline)]
    cases = [
        _case(index, entry, documents, configuration, known, errors)
        for index, entry in enumerate(file.cases)
    ]
    raise_all(errors)
    return cases


def run_cases(
    cases: list[PolicyCase], registry: Registry, configuration: Configuration, policy: Policy
) -> CaseReport:
    """Decides every case. ConfigError with file and line for a tool that nobody has."""
    matched = {rule.id: 0 for rule in (*policy.rules, *policy.hardline)}
    results = []
    for case in cases:
        try:
            question = question_of(case.call, registry, configuration)
        except ConfigError as error:
            raise ConfigError(
                error.message, error.hint, code=error.code, file=case.file, line=case.line
            ) from None
        explained = explain(policy, question)
        for found in explained.matched:
            matched[found.rule] += 1
        decision = explained.decision
        results.append(CaseResult(case, decision, _fault(case.expected, decision)))
    return CaseReport(tuple(results), matched)


def _case(
    index: int,
    entry: CaseFile,
    documents: Documents,
    configuration: Configuration,
    rules: list[str],
    errors: list[ConfigError],
) -> PolicyCase:
    path = ("cases", index)
    agent = entry.agent
    if agent is None:
        if len(configuration.agents) != 1:
            errors.append(
                documents.error(
                    path,
                    "the key `agent` is missing",
                    did_you_mean("", configuration.agents),
                )
            )
        agent = next(iter(configuration.agents), "")
    elif agent not in configuration.agents:
        errors.append(
            documents.error(
                (*path, "agent"),
                f"unknown agent `{agent}`",
                did_you_mean(agent, configuration.agents),
            )
        )
    if entry.rule is not None and entry.rule not in rules:
        errors.append(
            documents.error(
                (*path, "rule"),
                f"the policy has no rule `{entry.rule}`",
                did_you_mean(entry.rule, rules),
            )
        )
    at = _moment(entry.at, documents, (*path, "at"), errors)
    said = entry.session
    call = SupposedCall(
        agent=agent,
        tool=entry.tool,
        arguments=entry.args,
        user=entry.user or "local",
        attributes=said.attributes,
        tainted=said.tainted or bool(said.untrusted),
        private=said.private,
        provenance=_heard(said),
        at=at,
    )
    expected = Expected(Effect(entry.expect), "rule" in entry.model_fields_set, entry.rule)
    document = documents.document(path)
    return PolicyCase(
        entry.name or f"case {index + 1}", document.file, document.line(path), call, expected
    )


def _heard(session: CaseSessionFile) -> Heard:
    heard = Heard()
    heard.user(session.said)
    heard.trusted(session.trusted)
    heard.untrusted(session.untrusted)
    return heard


def _moment(
    text: str | None,
    documents: Documents,
    path: tuple[str | int, ...],
    errors: list[ConfigError],
) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        errors.append(
            documents.error(
                path,
                "this is not a moment with its zone",
                "write it like `2026-12-01T09:00:00+01:00`",
            )
        )
        return None
    return moment


def _fault(expected: Expected, decision: Decision) -> str | None:
    by = " by " + ", ".join(f"`{rule}`" for rule in decision.rules) if decision.rules else ""
    if decision.effect is not expected.effect:
        wanted = expected.effect.value
        return f"expected {wanted}, but it is {decision.effect.value}{by or ' by default'}"
    if not expected.names_rule:
        return None
    if expected.rule is None:
        return f"expected no rule to decide, but it is decided{by}" if by else None
    if expected.rule not in decision.rules:
        return f"expected `{expected.rule}` to decide, but it is decided{by or ' by default'}"
    return None
