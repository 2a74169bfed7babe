"""Which calls is a rule about, and what does it say of them?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from toolkeeper_contract import (
    Classification,
    Effect,
    Flag,
    Question,
    Scope,
    SideEffect,
    any_matches,
    matches,
)
from toolkeeper_policy.call_view import CallView

Scalar = str | int | float | bool


class Condition(Protocol):
    """What must hold of a call's arguments or session besides the selectors.

    `holds` answers with a literal boolean; anything else, and any exception, counts as a failure
    to evaluate, which never widens what is allowed. `text` is the condition as written, `zone` the
    name of the zone in which it reads the time of day.
    """

    @property
    def text(self) -> str: ...

    @property
    def zone(self) -> str: ...

    def holds(self, view: CallView) -> bool: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is written."""

    file: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Rule:
    """Selectors, an effect, and who may approve.

    An empty selector says nothing. Of a selector with several values one has to fit (the
    principal holds one of `scopes`, the call has one of `flags`); all selectors have to fit.
    `tools` are canonical names or written globs, `sources` server ids or `functions`.
    `attributes` are values that the session's attributes must have: one of those listed for each
    name; in a text, a written `*` stands for anything, so that `*` alone asks only for presence.
    `approvers` are the only ones who may answer when this rule asks; () leaves it to the agent.
    `approval_scope` is the widest scope of their answer, None that of the call's class.
    `exclude_requester`: the session's own user may not answer.
    From `expires` on the rule says nothing any more. `despite_taint` lets an allow rule stand
    whatever the session has read.
    """

    id: str
    effect: Effect
    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    side_effects: frozenset[SideEffect] = frozenset()
    flags: frozenset[Flag] = frozenset()
    agents: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    attributes: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    approvers: tuple[str, ...] = ()
    condition: Condition | None = None
    expires: datetime | None = None
    despite_taint: bool = False
    approval_scope: Scope | None = None
    exclude_requester: bool = False
    place: Place | None = field(default=None, compare=False)

    def covers_tool(self, tool: str, source: str, classification: Classification) -> bool:
        """Whether the selectors that look at the tool fit."""
        if self.side_effects and classification.side_effect not in self.side_effects:
            return False
        if self.flags and self.flags.isdisjoint(classification.flags):
            return False
        if self.sources and source not in self.sources:
            return False
        return not self.tools or any_matches(self.tools, tool)

    def covers_caller(self, question: Question) -> bool:
        """Whether the selectors that look at the agent and its principal fit."""
        if self.agents and question.agent not in self.agents:
            return False
        if self.users and question.principal.user not in self.users:
            return False
        if self.scopes and self.scopes.isdisjoint(question.principal.scopes):
            return False
        return not self.attributes or self.covers_attributes(question.attributes)

    def covers_attributes(self, attributes: Mapping[str, Any]) -> bool:
        """Whether the session has all the attributes that the rule wants."""
        return all(
            any(_is_wanted(wanted, attributes.get(name)) for wanted in options)
            for name, options in self.attributes.items()
        )

    def is_over(self, at: datetime | None) -> bool:
        """Whether the rule has expired at the moment `at`.

        Where no moment is known, a rule that allows counts as expired and one that restricts does
        not: not knowing never widens.
        """
        if self.expires is None:
            return False
        if at is None or at.tzinfo is None:
            return self.effect is Effect.ALLOW
        return at >= self.expires

    @property
    def unconditional(self) -> bool:
        """Whether nothing but its selectors for tools and callers decides if it matches."""
        return self.condition is None and not self.attributes and self.expires is None

    def counts_for(self, classification: Classification) -> bool:
        """Whether an allow rule is explicit enough for the dearest calls.

        To allow a financial or a destructive call, a rule must name that class or that flag; a
        call that is both needs both named.
        """
        if self.effect is not Effect.ALLOW:
            return True
        if (
            classification.side_effect is SideEffect.FINANCIAL
            and SideEffect.FINANCIAL not in self.side_effects
        ):
            return False
        return Flag.DESTRUCTIVE not in classification.flags or Flag.DESTRUCTIVE in self.flags

    def body(self) -> Mapping[str, Any]:
        """The canonical form, for the policy's digest: the order of lists means nothing."""
        body: dict[str, Any] = {
            "id": self.id,
            "effect": self.effect.value,
            "tools": sorted(self.tools),
            "sources": sorted(self.sources),
            "side_effects": sorted(self.side_effects),
            "flags": sorted(self.flags),
            "agents": sorted(self.agents),
            "users": sorted(self.users),
            "scopes": sorted(self.scopes),
            "approvers": sorted(self.approvers),
            "when": None if self.condition is None else self.condition.text,
        }
        if self.condition is not None:
            body["zone"] = self.condition.zone
        if self.attributes:
            body["attributes"] = {
                name: sorted(options, key=repr) for name, options in self.attributes.items()
            }
        if self.expires is not None:
            body["expires"] = self.expires.astimezone(UTC).isoformat()
        if self.despite_taint:
            body["despite_taint"] = True
        if self.approval_scope is not None:
            body["approval_scope"] = self.approval_scope.value
        if self.exclude_requester:
            body["exclude_requester"] = True
        return body


def _is_wanted(wanted: Scalar, value: Any) -> bool:
    if value is None:
        return False
    if wanted == "*":
        return True
    if isinstance(wanted, str):
        return isinstance(value, str) and matches(wanted, value)
    # In Python true is one.
    return isinstance(wanted, bool) is isinstance(value, bool) and bool(wanted == value)
