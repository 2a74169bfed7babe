"""What does one conversation with one agent look like?"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.profile import limits_of, profile_of
from toolkeeper.runtime.sight import Sight, sight_of
from toolkeeper.runtime.turn import Turn
from toolkeeper_contract import (
    Event,
    Plan,
    Principal,
    Registry,
    RunRecord,
    SessionRecord,
)
from toolkeeper_index import boundary_token
from toolkeeper_pipeline import Controls, Run
from toolkeeper_planner import Intent, expand, parse_intent, planned_event
from toolkeeper_wire import Format

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper


class Session:
    """A session stores what the user toggled, and never a list of tools.

    Made by `Toolkeeper.session`. Turns are begun one after another; each gets a plan that holds to
    its end.
    """

    def __init__(self, keeper: "Toolkeeper", record: SessionRecord, format: Format) -> None:
        self._keeper = keeper
        self._record = record
        self._format = format
        self._agent = keeper.agent(record.agent)
        self._principal = keeper.configuration.principal(record.user)
        self._codec = format.codec(())

    @property
    def session_id(self) -> str:
        return self._record.session_id

    @property
    def record(self) -> SessionRecord:
        """What the ledger keeps of this session."""
        return self._record

    @property
    def principal(self) -> Principal:
        return self._principal

    async def set_intent(self, intent: Any) -> None:
        """Stores what the user toggled (null follows the agent). ConfigError for a malformed one.

        Takes effect at the next turn, and at once for what it takes away.
        """
        parse_intent(intent)
        await self._keeper.ledger.set_intent(self.session_id, intent)
        self._record = replace(self._record, intent=intent)

    async def preview(self, override: Any = None) -> Sight:
        """What the next turn would show; nothing is stored."""
        registry = await self._keeper.refreshed(self._agent)
        plan = self._planned(registry, self._effective(override))
        return sight_of(plan, registry, self._format, self._codec)

    async def begin_turn(self, user_message: str = "", *, override: Any = None) -> Turn:
        """Plans, stores the plan, and freezes what the model is shown until the turn ends.

        `override` is a toggle for this turn alone; it beats the stored intent and is not stored.
        """
        intent = self._effective(override)
        sight = await self.preview(override)
        plan = sight.plan
        number = self._record.turn + 1
        run_id = self._keeper.ids.new("run")
        record = RunRecord(run_id, self.session_id, number, plan.digest, self._keeper.clock.now())
        began = Event("run.began", {"turn": number, "plan": plan.digest}, run_id)
        planned = planned_event(plan, sources=sight.registry.sources, turn=number, run_id=run_id)
        await self._keeper.ledger.begin_run(record, plan, (began, planned))
        self._record = replace(self._record, turn=number)
        self._codec = sight.codec
        run = self.run_under(run_id, plan, self._live(override, intent), index=sight.system)
        return Turn(self._keeper, run, self._format, sight, number=number)

    def run_under(
        self, run_id: str, plan: Plan, enabled: Callable[[str], bool], *, index: str = ""
    ) -> Run:
        """The circumstances of the calls of one run."""
        limits = limits_of(self._agent)
        token = boundary_token(plan.digest)
        controls = Controls(
            plan=plan,
            principal=self._principal,
            session_id=self.session_id,
            token=token,
            registry=lambda: self._keeper.registry(self._agent),
            enabled=enabled,
            ledger=self._keeper.ledger,
            result_bytes=limits.result_bytes,
            index=index,
            search_limit=self._agent.search.limit,
            search_max_limit=self._agent.search.max_limit,
        )
        return Run(
            run_id=run_id,
            session_id=self.session_id,
            agent=self._agent.name,
            principal=self._principal,
            plan=plan,
            token=token,
            enabled=enabled,
            controls=controls,
            limits=limits,
            approvers=self._agent.approvers or (),
            attributes=self._record.attributes,
        )

    def enabled_now(self, name: str) -> bool:
        """Whether the stored intent of this moment still lets the user have `name`."""
        return name in self.allowed(parse_intent(self._record.intent))

    def _effective(self, override: Any) -> Intent | None:
        return parse_intent(self._record.intent if override is None else override)

    def _live(self, override: Any, planned: Intent | None) -> Callable[[str], bool]:
        def enabled(name: str) -> bool:
            intent = self._effective(override)
            # Nothing was toggled since the plan was made: what it pinned is still enabled.
            return intent == planned or name in self.allowed(intent)

        return enabled

    def allowed(self, intent: Intent | None) -> frozenset[str]:
        """The names that `intent` leaves switched on, over the registry of this moment."""
        expansion = expand(profile_of(self._agent), self._keeper.registry(self._agent), intent)
        return frozenset(tool.name for tool in (*expansion.configured, *expansion.discovered))

    def _planned(self, registry: Registry, intent: Intent | None) -> Plan:
        return self._keeper.plan_over(
            registry,
            self._agent,
            self._principal,
            provider=self._record.provider,
            intent=intent,
            attributes=self._record.attributes,
        )
