"""May this call happen?

If any rule matches, the most restrictive matching rule decides; if none does, the default of the
call's class. The trust overlay may then tighten; hardline rules come last. The order of rules and
documents never matters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from toolkeeper_contract import (
    Code,
    ConfigError,
    Decision,
    Effect,
    Question,
    Scope,
    SideEffect,
    digest,
)
from toolkeeper_policy.answering import answerable, default_question, widest_scope
from toolkeeper_policy.call_view import CallView
from toolkeeper_policy.overlay import origins_asked_for, taint_of, tightened
from toolkeeper_policy.rule import Rule
from toolkeeper_policy.rule_index import RuleIndex, Selection
from toolkeeper_policy.weighing import Weighed, weigh

DEFAULTS: Mapping[SideEffect, Effect] = MappingProxyType(
    {
        SideEffect.NONE: Effect.ALLOW,
        SideEffect.WORKSPACE_READ: Effect.ALLOW,
        SideEffect.NETWORK_READ: Effect.ALLOW,
        SideEffect.WORKSPACE_WRITE: Effect.ASK,
        SideEffect.NETWORK_WRITE: Effect.ASK,
        SideEffect.MESSAGE_SEND: Effect.ASK,
        SideEffect.CODE_EXECUTION: Effect.ASK,
        SideEffect.FINANCIAL: Effect.DENY,
    }
)
"""What holds for a class that no document says anything about."""

_VERB = {Effect.ALLOW: "allows", Effect.ASK: "asks for approval of", Effect.DENY: "denies"}
_DEFAULT = {Effect.ALLOW: "allowed", Effect.ASK: "asked", Effect.DENY: "denied"}


@dataclass(frozen=True, slots=True)
class Policy:
    """Class defaults, rules and hardline rules, as one value.

    `defaults` is filled up from `DEFAULTS`. `taint` is the trust overlay's mode (`ask`,
    `provenance` or `off`). Ids are unique over `rules` and `hardline`; hardline rules deny.
    `revision` is the digest of all that, the same for the same policy however it was written.
    Raises ConfigError(config.policy_invalid) when an id stands twice or a hardline does not deny.
    """

    defaults: Mapping[SideEffect, Effect] = field(default_factory=dict)
    taint: str = "ask"
    rules: tuple[Rule, ...] = ()
    hardline: tuple[Rule, ...] = ()
    revision: str = field(init=False)
    _index: RuleIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        taken: dict[str, Rule] = {}
        # INVARIANT: sorted by id, so that the order of rules and documents never shows.
        object.__setattr__(self, "rules", _by_unique_id(self.rules, taken))
        object.__setattr__(self, "hardline", _by_unique_id(self.hardline, taken))
        for rule in self.hardline:
            if rule.effect is not Effect.DENY:
                raise _error(
                    rule, f"hardline rule `{rule.id}` does not deny", "write `effect: deny`"
                )
            if rule.expires is not None:
                # Nothing lifts a hardline, the calendar neither.
                raise _error(
                    rule,
                    f"hardline rule `{rule.id}` expires, and a hardline holds for good",
                    "move it to `rules`, or leave `expires` out",
                )
        for rule in (*self.rules, *self.hardline):
            if rule.despite_taint and rule.effect is not Effect.ALLOW:
                raise _error(
                    rule,
                    f"rule `{rule.id}` says `despite_taint` and does not allow",
                    "the trust overlay only tightens what is allowed; leave it out",
                )
        object.__setattr__(self, "defaults", MappingProxyType({**DEFAULTS, **self.defaults}))
        object.__setattr__(self, "revision", digest(self.body()))
        object.__setattr__(self, "_index", RuleIndex(self.rules, self.hardline))

    def decide(self, question: Question) -> Decision:
        """The decision on one call, hardline rules included; a failing condition denies."""
        selection = self.selection(question)
        view = CallView(question, selection.plan)
        decision = self._by_rules(selection, view)
        # INVARIANT: the overlay only tightens, and the hardline has the last word.
        denial = self._by_hardline(selection, view)
        if denial is None:
            return decision
        errors = dict.fromkeys((*denial.errors, *decision.errors))
        return replace(denial, errors=tuple(errors), origins=decision.origins)

    def check_hardline(self, question: Question) -> Decision | None:
        """The denial by a hardline rule, or None; no approval or grant lifts it."""
        selection = self.selection(question)
        return self._by_hardline(selection, CallView(question, selection.plan))

    def selection(self, question: Question) -> Selection:
        """The rules that are about this tool, whoever calls it."""
        return self._index.select(question.tool, question.source, question.classification)

    def _by_hardline(self, selection: Selection, view: CallView) -> Decision | None:
        if not selection.hardline:
            return None
        weighed = weigh(selection.hardline, view)
        denial = None
        if weighed.matched:
            denial = self._denial(weighed.matched, weighed)
            reasons = tuple(f"hardline {reason}" for reason in denial.reasons)
            denial = replace(denial, code=Code.DENIED_HARDLINE, reasons=reasons)
        elif weighed.failed:
            denial = self._rule_error(weighed)
        return None if denial is None else replace(denial, taint=taint_of(view.question))

    def hides(self, question: Question) -> bool:
        """Whether a deny without conditions covers this tool for this principal and agent.

        Arguments, attributes and the moment are not looked at, and rules that ask for them hide
        nothing. A class default hides nothing,
        since the class of a call may depend on its arguments; nor does a hardline rule, which is
        there to be met: a refusal that names it says more than a tool that is not there.
        """
        return any(
            rule.effect is Effect.DENY and rule.unconditional and rule.covers_caller(question)
            for rule in self.selection(question).rules
        )

    def body(self) -> Mapping[str, object]:
        """The canonical form of the whole policy; `revision` is its digest."""
        return {
            "defaults": {key.value: effect.value for key, effect in self.defaults.items()},
            "taint": self.taint,
            "rules": [rule.body() for rule in self.rules],
            "hardline": [rule.body() for rule in self.hardline],
        }

    def _by_rules(self, selection: Selection, view: CallView) -> Decision:
        question = view.question
        weighed = weigh(selection.rules, view)
        deciding = weighed.deciding
        if deciding and deciding[0].effect is Effect.DENY:
            decision = self._denial(deciding, weighed)
        elif weighed.failed and weighed.blocked:
            decision = self._rule_error(weighed)
        elif deciding:
            decision = self._decision(deciding[0].effect, deciding, weighed, question)
        else:
            decision = self._by_default(selection, weighed, question)
        if "origin" in selection.needs.functions:
            decision = replace(decision, origins=origins_asked_for(selection.needs, question))
        excused = any(rule.despite_taint for rule in deciding)
        final = tightened(decision, question, self.taint, excused=excused)
        if decision.effect is final.effect or final.effect is not Effect.ASK:
            return final
        return answerable(final, deciding, question, Code.DENIED_TRUST)

    def _by_default(self, selection: Selection, weighed: Weighed, question: Question) -> Decision:
        classification = question.classification
        side_effect = classification.side_effect
        effect = self.defaults[side_effect]
        reasons = [f"no rule matches, and {side_effect.value} is {_DEFAULT[effect]} by default"]
        for rule in selection.unheard:
            if rule.covers_caller(question):
                reasons.append(unheard_reason(rule, question))
        return Decision(
            effect=effect,
            rules=(),
            reasons=(*reasons, *_asides(weighed)),
            revision=self.revision,
            code=Code.DENIED_POLICY if effect is Effect.DENY else None,
            errors=tuple(rule.id for rule in weighed.failed),
            asked_by=(default_question(classification),) if effect is Effect.ASK else (),
            scope=widest_scope(classification) if effect is Effect.ASK else Scope.ONCE,
        )

    def _decision(
        self, effect: Effect, rules: Sequence[Rule], weighed: Weighed, question: Question
    ) -> Decision:
        """What rules that allow or ask decide; that nobody could answer is no question."""
        reasons = _reasons(effect, rules)
        if weighed.failed or weighed.lapsed:
            reasons = (*reasons, *_asides(weighed))
        ids = tuple([rule.id for rule in rules])
        decision = Decision(
            effect=effect,
            rules=ids,
            reasons=reasons,
            revision=self.revision,
            errors=tuple(rule.id for rule in weighed.failed),
        )
        if effect is Effect.ALLOW:
            return decision
        return answerable(replace(decision, asked_by=ids), rules, question, Code.DENIED_POLICY)

    def _denial(self, rules: Sequence[Rule], weighed: Weighed) -> Decision:
        return Decision(
            effect=Effect.DENY,
            rules=tuple([rule.id for rule in rules]),
            reasons=(*_reasons(Effect.DENY, rules), *_asides(weighed)),
            revision=self.revision,
            code=Code.DENIED_POLICY,
            errors=tuple(rule.id for rule in weighed.failed),
        )

    def _rule_error(self, weighed: Weighed) -> Decision:
        blocked = weighed.blocked
        return Decision(
            effect=Effect.DENY,
            rules=tuple(rule.id for rule in blocked),
            reasons=tuple(
                f"rule `{rule.id}` could not be evaluated: {weighed.causes[rule.id]}"
                for rule in blocked
            ),
            revision=self.revision,
            code=Code.DENIED_RULE_ERROR,
            errors=tuple(rule.id for rule in weighed.failed),
        )


def default_policy() -> Policy:
    """The policy that holds where no document is written: class defaults, taint `ask`."""
    return Policy()


def unheard_reason(rule: Rule, question: Question) -> str:
    """Why an allow rule that covers the call does not count for it."""
    names_class = rule.side_effects and SideEffect.FINANCIAL in rule.side_effects
    financial = question.classification.side_effect is SideEffect.FINANCIAL
    missing = "class `financial`" if financial and not names_class else "flag `destructive`"
    return f"rule `{rule.id}` does not count, because it does not name the {missing}"


def _reasons(effect: Effect, rules: Sequence[Rule]) -> tuple[str, ...]:
    return tuple([f"rule `{rule.id}` {_VERB[effect]} it" for rule in rules])


def _asides(weighed: Weighed) -> list[str]:
    """What a reader of the decision should know of rules that did not take part in it."""
    failed = [rule for rule in weighed.failed if rule.effect is Effect.ALLOW]
    return [
        *(f"rule `{rule.id}` does not count: {weighed.causes[rule.id]}" for rule in failed),
        *(
            f"rule `{rule.id}` has expired and no longer {_VERB[rule.effect]} it"
            for rule in weighed.lapsed
        ),
    ]


def _by_unique_id(rules: Sequence[Rule], taken: dict[str, Rule]) -> tuple[Rule, ...]:
    for rule in rules:
        first = taken.get(rule.id)
        if first is not None:
            where = f" in {first.place.file}, line {first.place.line}" if first.place else ""
            raise _error(
                rule,
                f"the rule id `{rule.id}` is taken already{where}",
                "give each rule an id of its own",
            )
        taken[rule.id] = rule
    return tuple(sorted(rules, key=lambda rule: rule.id))


def _error(rule: Rule, message: str, hint: str) -> ConfigError:
    return ConfigError(
        message,
        hint,
        code=Code.POLICY_INVALID,
        file=rule.place.file if rule.place else None,
        line=rule.place.line if rule.place else None,
    )
