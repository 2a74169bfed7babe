"""What would a changed policy have decided about a call that the ledger recorded?

Everything that policy may look at stands on the call's row and its session, but for secrets, which
were masked. Where the answer hangs on one of those, it is undecidable: nothing is guessed.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

from toolkeeper.runtime.configuration import Configuration
from toolkeeper.runtime.supposed_call import is_trusted
from toolkeeper_contract import (
    Classification,
    Decision,
    Effect,
    Flag,
    Invocation,
    Origin,
    Provenance,
    Question,
    SessionRecord,
    SideEffect,
    ToolIdentity,
)
from toolkeeper_policy import CallView, CelCondition, Policy, Rule, source_name
from toolkeeper_policy.classification_rule import merged

_MOST_DOUBTS = 5
"""Conditions on masked arguments that are tried both ways; more are not worth the combinations."""

_OUTCOMES = (True, False, None)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A decided call of the ledger, its session, and where values came from when it was decided."""

    row: Invocation
    session: SessionRecord
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class Redecided:
    """One recorded call under the changed policy.

    `decision` is None where it cannot be said; then `doubt` says in one sentence what is missing.
    """

    call: RecordedCall
    before: Effect
    decision: Decision | None
    doubt: str | None = None

    @property
    def after(self) -> str:
        """The effect now, or `undecidable`."""
        return self.decision.effect.value if self.decision else "undecidable"

    @property
    def changed(self) -> bool:
        return self.after != self.before.value

    @property
    def loosened(self) -> bool:
        """Whether something that was denied would now be allowed."""
        return self.before is Effect.DENY and self.after == Effect.ALLOW.value


class Replay:
    """A changed policy, applied to recorded calls one by one.

    Scopes, the trust of servers and the arguments that carry data are those of `configuration`;
    class, flags, taint and the moment are those of the record.
    """

    def __init__(self, policy: Policy, configuration: Configuration) -> None:
        self._policy = policy
        self._configuration = configuration
        self._supposed: dict[tuple[tuple[str, bool | None], ...], Policy] = {}

    @property
    def asks_for_origins(self) -> bool:
        """Whether the policy asks where values came from at all."""
        return self._policy.taint == "provenance" or any(
            "origin" in rule.condition.needs.functions
            for rule in (*self._policy.rules, *self._policy.hardline)
            if isinstance(rule.condition, CelCondition)
        )

    def decide(self, call: RecordedCall) -> Redecided:
        """What the policy says of the call. The row has to hold a decision and a class."""
        row = call.row
        assert row.decision is not None
        before = row.decision.effect
        question = self.question(call)
        masked = frozenset(masked_arguments(row))
        doubtful = self._doubtful(question, masked)
        if len(doubtful) > _MOST_DOUBTS:
            return Redecided(call, before, None, _doubt([rule.id for rule in doubtful], masked))
        values = _masked_values(question.arguments, row.masked)
        found: list[Decision] = []
        for outcomes in product(_OUTCOMES, repeat=len(doubtful)):
            policy = self._with(doubtful, outcomes)
            for origin in (Origin.NOWHERE, Origin.USER):
                veiled = _Veiled(question.provenance, values, row.decision.origins, origin)
                found.append(policy.decide(replace(question, provenance=veiled)))
                if not veiled.asked:
                    break
        if len({decision.effect for decision in found}) == 1:
            return Redecided(call, before, replace(found[0], revision=self._policy.revision))
        return Redecided(call, before, None, _doubt([rule.id for rule in doubtful], masked))

    def question(self, call: RecordedCall) -> Question:
        """The question that was asked then, as far as the record tells."""
        row, session = call.row, call.session
        assert row.decision is not None
        identity = ToolIdentity.of_name(row.tool)
        source = source_name(identity)
        arguments = row.arguments if isinstance(row.arguments, Mapping) else {}
        rule = merged(self._configuration.classification, identity, arguments)
        classification = Classification(
            SideEffect(row.side_effect or SideEffect.NONE),
            frozenset(Flag(flag) for flag in row.flags),
            "recorded",
            destination=rule.destination if rule else (),
            payload=rule.payload if rule else (),
        )
        return Question(
            tool=row.tool,
            source=source,
            classification=classification,
            agent=session.agent,
            principal=self._configuration.principal(session.user),
            arguments=arguments,
            attributes=session.attributes,
            trusted=is_trusted(source, self._configuration),
            tainted="tainted" in row.decision.taint,
            private="private" in row.decision.taint,
            provenance=call.provenance,
            advertised_as=row.advertised_as.value,
            at=row.opened_at,
        )

    def _doubtful(self, question: Question, masked: frozenset[str]) -> tuple[Rule, ...]:
        """The rules for this call whose conditions look at an argument that is masked."""
        if not masked:
            return ()
        selection = self._policy.selection(question)
        return tuple(
            rule
            for rule in (*selection.rules, *selection.hardline)
            if rule.covers_caller(question) and _looks_at(rule, masked)
        )

    def _with(self, doubtful: tuple[Rule, ...], outcomes: tuple[bool | None, ...]) -> Policy:
        """The policy as if those conditions came out so; None: they fail."""
        if not doubtful:
            return self._policy
        key = tuple(zip((rule.id for rule in doubtful), outcomes, strict=True))
        policy = self._supposed.get(key)
        if policy is None:
            supposed = dict(key)

            def settled(rules: Collection[Rule]) -> tuple[Rule, ...]:
                return tuple(
                    replace(rule, condition=_Supposed(supposed[rule.id]))
                    if rule.id in supposed
                    else rule
                    for rule in rules
                )

            policy = self._supposed[key] = replace(
                self._policy,
                rules=settled(self._policy.rules),
                hardline=settled(self._policy.hardline),
            )
        return policy


@dataclass(frozen=True, slots=True)
class _Supposed:
    """A condition whose outcome is supposed; None: it cannot be evaluated."""

    outcome: bool | None
    text: str = "supposed"
    zone: str = "UTC"

    def holds(self, view: CallView) -> bool:
        if self.outcome is None:
            raise ValueError
        return self.outcome


@dataclass(slots=True)
class _Veiled:
    """Where values came from, for arguments of which some are masked.

    A masked value was not positive where the decision says so; else it came from `supposed`, and
    `asked` is noted.
    """

    known: Provenance | None
    masked: Mapping[str, str]
    recorded: Mapping[str, str]
    supposed: Origin
    asked: bool = field(default=False, init=False)

    def origin(self, value: Any) -> Origin:
        if isinstance(value, str) and value in self.masked:
            told = Origin(self.recorded.get(self.masked[value], Origin.USER))
            if not told.positive:
                return told
            # Of a positive one it would still have to be known how long it was.
            self.asked = True
            return self.supposed
        return self.known.origin(value) if self.known else Origin.NOWHERE


def masked_arguments(row: Invocation) -> Iterator[str]:
    """The names of the arguments in which something was masked."""
    for pointer in row.masked:
        _, _, path = pointer.partition("/")
        yield path.partition("/")[0].replace("~1", "/").replace("~0", "~")


def _looks_at(rule: Rule, masked: frozenset[str]) -> bool:
    if rule.condition is None:
        return False
    if not isinstance(rule.condition, CelCondition):
        return True
    needs = rule.condition.needs
    # That a masked argument is there is known; `has` asks for no more.
    return "args" in needs.wholes or any(("args", name) in needs.paths for name in masked)


def _masked_values(arguments: Mapping[str, Any], pointers: Collection[str]) -> dict[str, str]:
    """The pointer of each masked text; a mask that stands twice is known by neither."""
    found: dict[str, str] = {}
    for pointer in pointers:
        value: Any = arguments
        for part in islice(pointer.split("/"), 1, None):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list | tuple) and key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            else:
                value = None
        if isinstance(value, str):
            found[value] = "" if value in found else pointer
    return found


def _doubt(rules: list[str], masked: Collection[str]) -> str:
    arguments = ", ".join(f"`{name}`" for name in sorted(masked))
    what = "the argument" if len(masked) == 1 else "the arguments"
    if not rules:
        return f"it hangs on where {what} {arguments} came from, which was masked"
    named = ", ".join(f"`{rule}`" for rule in rules)
    return f"{named} looks at {what} {arguments}, which was masked"
