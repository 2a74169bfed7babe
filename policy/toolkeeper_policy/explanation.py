"""Why is a call decided as it is, and what would have decided it otherwise?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Decision, Effect, Question, is_literal, matches, nearest
from toolkeeper_policy.call_view import CallView, ViewPlan
from toolkeeper_policy.condition import needs_of_condition
from toolkeeper_policy.policy import Policy, unheard_reason
from toolkeeper_policy.rule import Rule
from toolkeeper_policy.section import quoted
from toolkeeper_policy.weighing import weigh


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule that holds for the call; `decided` says whether it is one of those that decide."""

    rule: str
    effect: Effect
    hardline: bool
    decided: bool


@dataclass(frozen=True, slots=True)
class Missed:
    """A rule that nearly matched, and the one thing that it wants otherwise."""

    rule: str
    effect: Effect
    hardline: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision, every rule that matched, and every one that nearly did, each sorted by id."""

    question: Question
    decision: Decision
    matched: tuple[Matched, ...]
    missed: tuple[Missed, ...]

    def as_json(self) -> dict[str, Any]:
        """The decision's keys, the class of the call, and the rules with their reasons."""
        body = self.decision.as_json()
        classification = self.question.classification
        return {
            "effect": body.pop("effect"),
            "tool": self.question.tool,
            **body,
            "side_effect": classification.side_effect.value,
            "flags": sorted(flag.value for flag in classification.flags),
            "classified_by": classification.classified_by,
            "matched": [
                {
                    "rule": found.rule,
                    "effect": found.effect.value,
                    "hardline": found.hardline,
                    "decided": found.decided,
                }
                for found in self.matched
            ],
            "missed": [
                {
                    "rule": found.rule,
                    "effect": found.effect.value,
                    "hardline": found.hardline,
                    "why": found.why,
                }
                for found in self.missed
            ],
        }


def explain(policy: Policy, question: Question) -> Explanation:
    """The decision on `question` and how each rule of `policy` stands to it; decides nothing."""
    decision = policy.decide(question)
    hardline = {rule.id for rule in policy.hardline}
    matched: list[Matched] = []
    missed: list[Missed] = []
    for rule in (*policy.rules, *policy.hardline):
        hard = rule.id in hardline
        faults = list(_faults(rule, question))
        if not faults:
            matched.append(Matched(rule.id, rule.effect, hard, rule.id in decision.rules))
        elif len(faults) == 1 and (_says_more(rule, faults[0]) or faults[0].near):
            missed.append(Missed(rule.id, rule.effect, hard, faults[0].why))
    return Explanation(
        question,
        decision,
        tuple(sorted(matched, key=lambda found: found.rule)),
        tuple(sorted(missed, key=lambda found: found.rule)),
    )


@dataclass(frozen=True, slots=True)
class _Fault:
    """`near` faults are worth showing even when nothing else of the rule fits."""

    selector: str
    why: str
    near: bool = False


def _faults(rule: Rule, question: Question) -> Iterator[_Fault]:
    """Everything that keeps `rule` from matching; nothing when it matches."""
    classification = question.classification
    if rule.tools and not any(matches(pattern, question.tool) for pattern in rule.tools):
        yield _tool_fault(rule, question.tool)
    if rule.sources and question.source not in rule.sources:
        yield _Fault("sources", f"it is for the sources {_listed(rule.sources)}")
    if rule.side_effects and classification.side_effect not in rule.side_effects:
        names = sorted(side_effect.value for side_effect in rule.side_effects)
        yield _Fault(
            "side_effects",
            f"it is for {_listed(names)}, and this call is `{classification.side_effect.value}`",
        )
    if rule.flags and rule.flags.isdisjoint(classification.flags):
        names = sorted(flag.value for flag in rule.flags)
        yield _Fault("flags", f"the call has none of the flags {_listed(names)}")
    if rule.agents and question.agent not in rule.agents:
        yield _Fault("agents", f"it is for the agents {_listed(sorted(rule.agents))}")
    if rule.users and question.principal.user not in rule.users:
        yield _Fault("users", f"it is for the users {_listed(sorted(rule.users))}")
    if rule.scopes and rule.scopes.isdisjoint(question.principal.scopes):
        yield _Fault("scopes", f"the user holds none of the scopes {_listed(sorted(rule.scopes))}")
    if not rule.covers_attributes(question.attributes):
        yield _attribute_fault(rule, question.attributes)
    if rule.is_over(question.at):
        yield _expiry_fault(rule, question)
    if not rule.counts_for(classification):
        yield _Fault("effect", unheard_reason(rule, question).partition(", because ")[2], near=True)
    if rule.condition is not None:
        why = _condition_fault(rule, question)
        if why is not None:
            yield _Fault("when", why, near=True)


def _tool_fault(rule: Rule, tool: str) -> _Fault:
    folded = tool.casefold().replace("_", ".").replace("-", ".")
    for pattern in rule.tools:
        if pattern.casefold().replace("_", ".").replace("-", ".") == folded:
            return _Fault(
                "tools",
                f"it names {quoted(pattern)}, which is another tool: names are exact, in case and "
                "in every character",
                near=True,
            )
    literal = [pattern for pattern in rule.tools if is_literal(pattern)]
    close = nearest(tool, literal)
    if close is not None:
        return _Fault("tools", f"it names {quoted(close)}, which is another tool", near=True)
    return _Fault("tools", f"it is for the tools {_listed(rule.tools)}")


def _attribute_fault(rule: Rule, attributes: Mapping[str, Any]) -> _Fault:
    for name in sorted(rule.attributes):
        if attributes.get(name) is None:
            return _Fault("attributes", f"the session has no attribute {quoted(name)}")
    return _Fault("attributes", "the session's attributes have other values")


def _expiry_fault(rule: Rule, question: Question) -> _Fault:
    if question.at is None:
        return _Fault("expires", "it expires, and no moment is given to tell whether it has", True)
    assert rule.expires is not None
    return _Fault("expires", f"it has expired at {rule.expires.isoformat()}", near=True)


def _condition_fault(rule: Rule, question: Question) -> str | None:
    assert rule.condition is not None
    # Only the condition: whatever else the rule asks for is told apart from it.
    bare = Rule(rule.id, rule.effect, condition=rule.condition)
    weighed = weigh((bare,), CallView(question, ViewPlan(needs_of_condition(rule.condition))))
    if weighed.failed:
        return f"its condition could not be evaluated: {weighed.causes[rule.id]}"
    return None if weighed.matched else f"its condition is false: {quoted(rule.condition.text)}"


def _says_more(rule: Rule, fault: _Fault) -> bool:
    """Whether another selector of the rule fits, so that it is about calls like this one."""
    selectors = {
        "tools": rule.tools,
        "sources": rule.sources,
        "side_effects": rule.side_effects,
        "flags": rule.flags,
        "agents": rule.agents,
        "users": rule.users,
        "scopes": rule.scopes,
        "attributes": rule.attributes,
        "when": rule.condition,
    }
    return any(bool(value) for name, value in selectors.items() if name != fault.selector)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
