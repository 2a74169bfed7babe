"""What does one conversation with one agent look like?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.earlier_turns import codec_after, plan_of, sight_kept, steady_since
from toolkeeper.runtime.loaded_set import Loads, loaded_set
from toolkeeper.runtime.profile import limits_of, profile_of
from toolkeeper.runtime.shown_changes import shown_changes
from toolkeeper.runtime.sight import Sight, sight_of
from toolkeeper.runtime.turn import Turn
from toolkeeper.runtime.wish import NOTHING, Wish
from toolkeeper_contract import (
    TOOL_SEARCH,
    ConfigError,
    Event,
    Ledger,
    Plan,
    Principal,
    RunRecord,
    SessionRecord,
)
from toolkeeper_index import boundary_token
from toolkeeper_pipeline import Controls, Run
from toolkeeper_planner import (
    Intent,
    expand,
    kept_plan,
    parse_intent,
    planned_event,
)
from toolkeeper_wire import Capability, Format, NameCodec, ToolChoice, native_search
from toolkeeper_wire.transcript import Transcript, read_transcript

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper


class Session:
    """A session stores what the user toggled, and never a list of tools.

    Made by `Toolkeeper.session`. Turns are begun one after another; each gets a plan that holds to
    its end.
    """

    def __init__(
        self,
        keeper: "Toolkeeper",
        record: SessionRecord,
        format: Format,
        ledger: Ledger | None,
    ) -> None:
        """`ledger` is None for a session that is only looked at and was never stored."""
        self._keeper = keeper
        self._record = record
        self._ledger = ledger
        self._format = format
        self._agent = keeper.agent(record.agent)
        self._principal = keeper.configuration.principal(record.user)
        self._codec: NameCodec | None = None

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
        await self._stored.set_intent(self.session_id, intent)
        self._record = replace(self._record, intent=intent)

    async def clear(self) -> None:
        """The conversation was cleared: what its searches loaded is loaded no more."""
        await self._stored.append(
            self.session_id, (Event("conversation.cleared", {"turn": self._record.turn}),)
        )

    async def fork(
        self,
        *,
        agent: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        endpoint: str | None = None,
    ) -> "Session":
        """A session of its own that goes on from here: a branch, a handoff, another model.

        What is left out stays as it is (`model` and `endpoint` only with the same provider). What
        the conversation loaded stays loaded, as far as the agent has it.
        """
        own = self._record
        same = provider in (None, own.provider)
        return await self._keeper.open_record(
            replace(
                own,
                session_id=self._keeper.ids.new("ses"),
                opened_at=self._keeper.clock.now(),
                agent=agent or own.agent,
                provider=provider or own.provider,
                model=model or (own.model if same else None),
                endpoint=endpoint or (own.endpoint if same else None),
                turn=0,
                parent=own.session_id,
            )
        )

    async def child(
        self, plan: Plan, tools: Sequence[str] | None, *, agent: str | None = None
    ) -> "Session":
        """A delegated session: its tools are a subset of what `plan` pins (see `Turn.delegate`)."""
        own = self._record
        return await self._keeper.open_record(
            replace(
                own,
                session_id=self._keeper.ids.new("ses"),
                opened_at=self._keeper.clock.now(),
                agent=agent or own.agent,
                intent=None if tools is None else list(tools),
                turn=0,
                parent=own.session_id,
                granted=dict(plan.pins),
            )
        )

    # turns

    async def preview(self, wish: Wish = NOTHING) -> Sight:
        """What the next turn would show, with what is loaded by now; nothing is stored."""
        runs = await self._runs()
        registry = await self._keeper.refreshed(self._agent)
        codec = await self._codec_after(runs)
        seen = self._read(wish.transcript, codec)
        mentioned = _mentioned(seen, codec)
        loaded: Loads = ()
        if self._ledger is not None:
            loaded = await loaded_set(
                self._ledger, self._record, transcript=seen, mentioned=mentioned
            )
        if runs and self._agent.replan == "never":
            kept = await sight_kept(self._stored, runs[0], registry, codec)
            if not wish.tool_choice:
                return kept
        capability, why = self._capability()
        plan = self._keeper.planning.plan(
            registry,
            self._agent,
            self._principal,
            self._keeper.policy,
            record=self._record,
            intent=self._effective(wish.override),
            loaded=loaded,
            forced=wish.tool_choice,
            native=capability is not None,
            native_reason=why,
        )
        before = await plan_of(self._stored, runs[-1]) if runs else None
        choice = ToolChoice.forced(wish.tool_choice) if wish.tool_choice else None
        return sight_of(
            kept_plan(before, plan),
            registry,
            self._format,
            codec,
            native=capability,
            choice=choice,
            mentioned=mentioned,
        )

    async def begin_turn(
        self,
        user_message: str = "",
        *,
        override: Any = None,
        tool_choice: str | None = None,
        transcript: Sequence[Any] | None = None,
    ) -> Turn:
        """Plans, stores the plan, and freezes what the model is shown until the turn ends.

        The arguments are `Wish`'s. `user_message` is the turn's own message.
        """
        wish = Wish(override, tool_choice, transcript)
        sight = await self.preview(wish)
        plan, rendering = sight.plan, sight.rendering
        runs = await self._runs()
        number = self._record.turn + 1
        run = RunRecord(
            self._keeper.ids.new("run"),
            self.session_id,
            number,
            plan.digest,
            self._keeper.clock.now(),
            rendering.digest,
            override,
        )
        told = {"turn": number, "plan": plan.digest}
        if tool_choice:
            told["forced"] = tool_choice
        began = Event("run.began", told, run.run_id)
        planned = planned_event(
            plan, sources=sight.registry.sources, turn=number, run_id=run.run_id
        )
        changes = await shown_changes(
            self._stored,
            runs[-1] if runs else None,
            plan,
            rendering,
            sight.codec,
            run_id=run.run_id,
            forced=tool_choice,
        )
        known = any(earlier.rendering == rendering.digest for earlier in runs)
        await self._stored.begin_run(
            run, plan, (began, planned, *changes), rendering=None if known else rendering.text
        )
        self._record = replace(self._record, turn=number)
        self._codec = sight.codec
        return self._turn([*runs, run], sight, 0)

    async def reopen_turn(self, run_id: str | None = None) -> Turn:
        """A turn that began in another process, the last one by default: the very same bytes.

        ConfigError when the session has no such turn.
        """
        runs = await self._runs()
        for index, run in enumerate(runs):
            if run.run_id == (run_id or runs[-1].run_id):
                registry = await self._keeper.refreshed(self._agent)
                codec = await self._codec_after(runs[: index + 1])
                sight = await sight_kept(self._stored, run, registry, codec)
                rows = await self._stored.invocations(run_id=run.run_id)
                steps = max((row.step for row in rows), default=0)
                return self._turn(runs[: index + 1], sight, steps)
        raise ConfigError(
            f"the session has no turn `{run_id}`" if run_id else "the session has no turn yet",
            "`toolkeeper audit plans` lists the turns",
        )

    def run_under(self, run: RunRecord, plan: Plan, *, index: str = "") -> Run:
        """The circumstances of the calls of one run."""
        limits = limits_of(self._agent)
        token = boundary_token(plan.digest)
        enabled = self._live(run, plan)
        controls = Controls(
            plan=plan,
            principal=self._principal,
            session_id=self.session_id,
            token=token,
            registry=lambda: self._keeper.registry(self._agent),
            enabled=enabled,
            ledger=self._stored,
            result_bytes=limits.result_bytes,
            index=index,
            search_limit=self._agent.search.limit,
            search_max_limit=self._agent.search.max_limit,
        )
        return Run(
            run_id=run.run_id,
            session_id=self.session_id,
            agent=self._agent.name,
            principal=self._principal,
            plan=plan,
            token=token,
            enabled=enabled,
            controls=controls,
            limits=limits,
            approvers=self._agent.approvers or (),
            found=controls.found,
            attributes=self._record.attributes,
        )

    # inside

    def _turn(self, runs: Sequence[RunRecord], sight: Sight, steps: int) -> Turn:
        run = runs[-1]
        under = self.run_under(run, sight.plan, index=sight.system)
        return Turn(
            self._keeper,
            self,
            under,
            self._format,
            sight,
            number=run.turn,
            steady_since=steady_since(runs),
            steps=steps,
        )

    @property
    def _stored(self) -> Ledger:
        if self._ledger is None:
            raise ConfigError("the session is not stored", "open it with `keeper.session(...)`")
        return self._ledger

    async def _runs(self) -> list[RunRecord]:
        if self._record.turn == 0:
            return []
        return list(await self._stored.runs(self.session_id))

    async def _codec_after(self, runs: Sequence[RunRecord]) -> NameCodec:
        if self._codec is None:
            if not runs:
                return self._format.codec(())
            self._codec = await codec_after(self._stored, runs, self._format)
        return self._codec

    def _read(self, messages: Sequence[Any] | None, codec: NameCodec) -> Transcript | None:
        if messages is None:
            return None
        name = self._agent.search.name
        names = {name, codec.names().get(name, name), TOOL_SEARCH, "tool_search"}
        return read_transcript(messages, self._record.provider, search_name=names)

    def _capability(self) -> tuple[Capability | None, str | None]:
        if self._agent.disclosure != "native":
            return None, None
        record = self._record
        answer = native_search(record.provider, record.endpoint, record.model)
        if isinstance(answer, Capability):
            return answer, None
        return None, answer.reason

    def _effective(self, override: Any) -> Intent | None:
        return parse_intent(self._record.intent if override is None else override)

    def _live(self, run: RunRecord, plan: Plan) -> Callable[[str], bool]:
        planned = parse_intent(plan.intent)
        # Another process may go on with a turn under a configuration that was changed meanwhile.
        same_agent = plan.agent_revision == profile_of(self._agent).revision

        def enabled(name: str) -> bool:
            intent = self._effective(run.override)
            # Nothing was toggled since the plan was made: what it pinned is still enabled.
            return (same_agent and intent == planned) or name in self._allowed(intent)

        return enabled

    def _allowed(self, intent: Intent | None) -> frozenset[str]:
        expansion = expand(
            profile_of(self._agent),
            self._keeper.registry(self._agent),
            intent,
            self._record.granted,
        )
        return frozenset(tool.name for tool in (*expansion.configured, *expansion.discovered))


def _mentioned(seen: Transcript | None, codec: NameCodec) -> frozenset[str]:
    if seen is None:
        return frozenset()
    names = (codec.canonical(name) for found in seen.native for name in found.names)
    return frozenset(name for name in names if name is not None)
