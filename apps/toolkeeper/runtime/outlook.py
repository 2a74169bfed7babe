"""What would the next turn of a session show?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkeeper.runtime.configuration import Agent
from toolkeeper.runtime.earlier_turns import plan_of, rendering_of, sight_kept
from toolkeeper.runtime.loaded_set import LoadedSet, Loads, Seen, loaded_set
from toolkeeper.runtime.past import Past
from toolkeeper.runtime.sight import Sight, sight_of
from toolkeeper.runtime.wish import Wish
from toolkeeper_contract import Ledger, Plan, Principal, Registry, RunRecord, SessionRecord
from toolkeeper_planner import kept_plan, parse_intent
from toolkeeper_wire import Capability, Format, ToolChoice, native_search
from toolkeeper_wire.transcript import read_transcript

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper

_PLAIN = frozenset({"tools", "system"})


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the turn shows, and what the conversation has loaded by then."""

    sight: Sight
    loaded: LoadedSet


@dataclass(frozen=True, slots=True)
class Outlooker:
    """Plans and renders for one session at one moment.

    `past` is up to date. `granted` is what a delegating parent gives now, None for a session that
    answers to nobody.
    """

    keeper: "Toolkeeper"
    agent: Agent
    principal: Principal
    record: SessionRecord
    format: Format
    past: Past
    ledger: Ledger | None
    granted: Mapping[str, str] | None

    async def outlook(self, wish: Wish) -> Outlook:
        """Nothing is stored. ConfigError for a wish or a stored intent that cannot be read."""
        parse_intent(wish.override)
        registry = await self.keeper.refreshed(self.agent)
        loaded = await self._loaded(wish)
        kept = await self._kept(registry)
        if kept is not None:
            return Outlook(self._kept_sight(kept, registry, wish), loaded)
        return Outlook(await self._sight(registry, wish, loaded), loaded)

    async def _sight(self, registry: Registry, wish: Wish, loaded: LoadedSet) -> Sight:
        capability, why = self._capability()
        plan = self._plan(registry, wish, loaded.tools, capability, why)
        runs = self.past.runs
        before = await plan_of(self.ledger, runs[-1]) if self.ledger and runs else None
        return sight_of(
            kept_plan(before, plan),
            registry,
            self.format,
            self.past.codec,
            native=capability,
            choice=_choice(wish),
            mentioned=loaded.mentioned,
        )

    def _plan(
        self,
        registry: Registry,
        wish: Wish,
        loaded: Loads,
        capability: Capability | None,
        why: str | None,
    ) -> Plan:
        override = wish.override
        return self.keeper.planning.plan(
            registry,
            self.agent,
            self.principal,
            self.keeper.policy,
            record=replace(self.record, granted=self.granted),
            intent=parse_intent(self.record.intent if override is None else override),
            loaded=loaded,
            forced=wish.tool_choice,
            native=capability is not None,
            native_reason=why,
        )

    async def _kept(self, registry: Registry) -> Sight | None:
        """The first turn of a session that never plans anew; one with a forced tool is no model."""
        if self.agent.replan != "never" or self.ledger is None:
            return None
        for run in self.past.kept:
            if not (await rendering_of(self.ledger, run)).parts.keys() - _PLAIN:
                return await sight_kept(self.ledger, run, registry, self.past.codec)
        return None

    def _kept_sight(self, kept: Sight, registry: Registry, wish: Wish) -> Sight:
        """`kept`, with the forced tool at the end of its array where it is not in it yet."""
        choice = _choice(wish)
        if choice is None:
            return kept
        names = kept.plan.pins
        # Nothing that came later: the plan is made again from what is left of its own tools.
        tools = {
            name: tool
            for name, tool in registry.tools.items()
            if names.get(name) == tool.fingerprint
        }
        before = Registry(tools, (), registry.sources, registry.quarantined)
        capability, why = self._capability()
        plan = self._plan(before, Wish(kept.plan.intent, wish.tool_choice), (), capability, why)
        return sight_of(
            plan, before, self.format, self.past.codec, native=capability, choice=choice
        )

    async def _loaded(self, wish: Wish) -> LoadedSet:
        seen = self._seen(wish)
        if self.ledger is None:
            return LoadedSet()
        return await loaded_set(self.ledger, self.record, self.past, seen)

    def _seen(self, wish: Wish) -> Seen | None:
        if wish.transcript is None:
            return None
        name = self.agent.search.name
        names = {name, self.past.codec.names().get(name, name), *self.past.searches}
        transcript = read_transcript(
            wish.transcript, self.record.provider, search_name=names, system=wish.system
        )
        return Seen.of(transcript, wish.transcript)

    def _capability(self) -> tuple[Capability | None, str | None]:
        if self.agent.disclosure != "native":
            return None, None
        record = self.record
        answer = native_search(record.provider, record.endpoint, record.model)
        return (answer, None) if isinstance(answer, Capability) else (None, answer.reason)


def _choice(wish: Wish) -> ToolChoice | None:
    return ToolChoice.forced(wish.tool_choice) if wish.tool_choice else None


def shown_before(runs: Sequence[RunRecord], rendering: str) -> bool:
    """Whether one of these turns has stored the rendering of this digest."""
    return any(run.rendering == rendering for run in runs)
