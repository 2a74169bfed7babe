"""Which calls is a rule about, and what does it say of them?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolkeeper_contract import Classification, Effect, Flag, Question, SideEffect, any_matches


class Condition(Protocol):
    """What must hold of a call's arguments or session besides the selectors.

    `holds` answers with a literal boolean; anything else, and any exception, counts as a failure
    to evaluate, which never widens what is allowed. `text` is the condition as written.
    """

    @property
    def text(self) -> str: ...

    def holds(self, question: Question) -> bool: ...


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
    `approvers` are the only ones who may answer when this rule asks; () leaves it to the agent.
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
    approvers: tuple[str, ...] = ()
    condition: Condition | None = None
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
        return not self.scopes or not self.scopes.isdisjoint(question.principal.scopes)

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
        return {
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
