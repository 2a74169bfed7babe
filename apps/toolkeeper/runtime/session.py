"""What does one conversation with one agent look like?"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.catalogs import RunCatalog
from toolkeeper.runtime.drift import drift_events, take_over
from toolkeeper.runtime.earlier_turns import sight_kept
from toolkeeper.runtime.grant import bound_by, still_granted
from toolkeeper.runtime.lineage import Delegator, delegators_of
from toolkeeper.runtime.loaded_set import loaded_set
from toolkeeper.runtime.outlook import Outlook, Outlooker, shown_before
from toolkeeper.runtime.past import Past
from toolkeeper.runtime.profile import limits_of, profile_of
from toolkeeper.runtime.session_facts import hear_user
from toolkeeper.runtime.sight import Sight
from toolkeeper.runtime.toggles import Toggles
from toolkeeper.runtime.turn import Turn
from toolkeeper.runtime.turn_beginning import beginning_events
from toolkeeper.runtime.wish import NOTHING, Wish
from toolkeeper_contract import (
    TOOL_CALL,
    ConfigError,
    Event,
    Ledger,
    Plan,
    Principal,
    Registry,
    RunRecord,
    SessionRecord,
)
from toolkeeper_index import boundary_token
from toolkeeper_pipeline import Controls, Kept, Run, SessionFacts
from toolkeeper_planner import parse_intent
from toolkeeper_wire import Format
from toolkeeper_wire.transcript import compaction_note

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper


class Session:
    """A session stores what the user toggled, and never a list of tools.

    Made by `Toolkeeper.session`. Turns are begun one after another; each gets a plan that holds to
    its end.
    """

    def __init__(
        self, keeper: "Toolkeeper", record: SessionRecord, format: Format, ledger: Ledger | None
    ) -> None:
        """`ledger` is None for a session that is only looked at and was never stored."""
        self._keeper = keeper
        self._record = record
        self._ledger = ledger
        self._format = format
        self._agent = keeper.agent(record.agent)
        self._principal = keeper.configuration.principal(record.user)
        self._past = Past(ledger, format)
        self._delegators: tuple[Delegator, ...] | None = None
        self._facts: SessionFacts | None = None
        self._told_above = (False, False)

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
        parsed = parse_intent(intent)
        # Our own copy: what the caller does with theirs afterwards was never stored.
        stored = None if parsed is None else parsed.as_json()
        await self._stored.set_intent(self.session_id, stored)
        self._record = replace(self._record, intent=stored)

    async def refresh(self) -> None:
        """Reads what another process may have changed: toggles, turns begun, what was read."""
        if self._ledger is None:
            return
        self._record = await self._ledger.session(self.session_id) or self._record
        if self._facts is not None:
            # What it delegated may have read something in another process.
            self._facts.mark(tainted=self._record.tainted, private=self._record.private)
        if self._delegators is None:
            self._delegators = await delegators_of(self._ledger, self._record)
        elif self._delegators:
            self._delegators = tuple(
                [await above.refreshed(self._ledger) for above in self._delegators]
            )

    async def facts(self) -> SessionFacts:
        """What the session has read, one value for all who use this session in this process."""
        if self._facts is None:
            self._facts = await self._keeper.facts.of(self._stored, self._record)
        return self._facts

    async def kept(self, handle: str) -> Kept | None:
        """What was kept aside of a result under `handle`: its whole text, or a part's bytes.

        None for a handle that this session does not have, or not any more.
        """
        found = await self._stored.kept_result(
            handle,
            session_id=self.session_id,
            user=self._principal.user,
            agent=self._agent.name,
        )
        return None if found is None else Kept.unpacked(found)

    async def tell_above(self) -> None:
        """Marks those that delegated this session with what it has read since it last told them."""
        facts = await self.facts()
        read = (facts.tainted, facts.private)
        if read != self._told_above and self._record.granted is not None:
            await self._keeper.facts.tell_above(self._stored, self._record, facts)
        self._told_above = read

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
        await self.refresh()
        own = self._record
        same = provider in (None, own.provider)
        forked = await self._keeper.open_record(
            replace(
                own,
                session_id=self._keeper.ids.new("ses"),
                opened_at=self._keeper.clock.now(),
                agent=agent or own.agent,
                provider=provider or own.provider,
                model=model or (own.model if same else None),
                endpoint=endpoint or (own.endpoint if same else None),
                parent=own.session_id,
            )
        )
        forked._facts = self._keeper.facts.begin(forked.session_id, await self.facts())
        # Marks the place: what happens here from now on is another branch.
        await self._stored.append(
            self.session_id, (Event("session.forked", {"to": forked.session_id}),)
        )
        return forked

    async def child(
        self, run_id: str, plan: Plan, tools: Sequence[str] | None, *, agent: str | None = None
    ) -> "Session":
        """A delegated session: its tools are a subset of what `plan` pins (see `Turn.delegate`)."""
        await self.refresh()
        own = self._record
        child = await self._keeper.open_record(
            replace(
                own,
                session_id=self._keeper.ids.new("ses"),
                opened_at=self._keeper.clock.now(),
                agent=agent or own.agent,
                intent=None if tools is None else list(tools),
                turn=0,
                parent=own.session_id,
                granted=dict(plan.pins),
            ),
            delegated_by=run_id,
        )
        child._facts = self._keeper.facts.begin(child.session_id, await self.facts())
        return child

    async def compaction_note(
        self, transcript: Sequence[Any] | None = None, *, system: Any = None
    ) -> str:
        """The text of a system message that keeps what was loaded when history is shortened.

        `transcript` is the conversation before it is shortened; "" when it has loaded nothing.
        """
        loaded = (await self._outlook(Wish(transcript=transcript, system=system))).loaded
        return compaction_note(
            [(each.invocation_id, tuple(each.tools)) for each in loaded.searches]
        )

    # turns

    async def preview(self, wish: Wish = NOTHING) -> Sight:
        """What the next turn would show, with what is loaded by now; nothing is stored."""
        return (await self._outlook(wish)).sight

    async def begin_turn(
        self,
        user_message: str = "",
        *,
        override: Any = None,
        tool_choice: str | None = None,
        transcript: Sequence[Any] | None = None,
        system: Any = None,
    ) -> Turn:
        """Plans, stores the plan, and freezes what the model is shown until the turn ends.

        The arguments are `Wish`'s. `user_message` is the turn's own message: values that stand in
        it are the user's own; it is stored without secrets.
        """
        parsed = parse_intent(override)
        override = None if parsed is None else parsed.as_json()
        wish = Wish(override, tool_choice, transcript, system)
        outlook = await self._outlook(wish)
        if await self._keeper.keep_first_listings(self._agent):
            # Another process may have been the first, with another listing.
            outlook = await self._outlook(wish)
        sight = outlook.sight
        plan, rendering = sight.plan, sight.rendering
        runs = self._past.runs
        number = self._record.turn + 1
        run = RunRecord(
            self._keeper.ids.new("run"),
            self.session_id,
            number,
            plan.digest,
            self._keeper.clock.now(),
            rendering.digest,
            override,
            self._keeper.kept_text(user_message),
        )
        before = runs[-1] if runs else None
        events = await beginning_events(self._stored, before, run, sight, forced=tool_choice)
        drifts = self._keeper.drifts(self._agent)
        drifted = await drift_events(self._stored, self.session_id, drifts, run.run_id)
        known = shown_before(runs, rendering.digest)
        await self._stored.begin_run(
            run, plan, (*events, *drifted), rendering=None if known else rendering.text
        )
        await take_over(self._stored, drifts, self._keeper.clock.now())
        self._record = replace(self._record, turn=number)
        hear_user(await self.facts(), self._record, user_message)
        self._past.shows(plan, sight.codec)
        return await self._turn(run, runs, sight, found=dict(outlook.loaded.tools))

    async def reopen_turn(self, run_id: str | None = None, *, again: bool = False) -> Turn:
        """A turn that began in another process, the last one by default: the very same bytes.

        It goes on after the steps that were made; with `again` it is done once more from its
        first step: a call under the id, and at the place, of one that was made is that call, and
        gets its stored outcome. ConfigError when the session has no such turn.
        """
        await self.refresh()
        await self._past.update(self._record)
        own = self._past.own
        run = next((run for run in own if run.run_id == (run_id or own[-1].run_id)), None)
        if run is None:
            raise ConfigError(
                f"the session has no turn `{run_id}`" if run_id else "the session has no turn yet",
                "`toolkeeper audit plans` lists the turns",
            )
        registry = await self._keeper.relisted(self._agent)
        sight = await sight_kept(self._stored, run, registry, self._past.codec)
        rows = await self._stored.invocations(run_id=run.run_id)
        steps = 0 if again else max((row.step for row in rows), default=0)
        loaded = await loaded_set(self._stored, self._record, self._past)
        earlier = self._past.runs[: self._past.runs.index(run)]
        found = dict(loaded.tools)
        return await self._turn(run, earlier, sight, steps=steps, found=found, again=again)

    def run_under(
        self,
        run: RunRecord,
        plan: Plan,
        facts: SessionFacts,
        *,
        index: str = "",
        found: Iterable[str] = (),
        again: bool = False,
    ) -> Run:
        """The circumstances of the calls of one run; `found` is what is loaded but not defined."""
        limits = limits_of(self._agent)
        token = boundary_token(plan.digest)
        enabled = self._toggles(run, plan)
        controls = Controls(
            plan=plan,
            principal=self._principal,
            session_id=self.session_id,
            token=token,
            catalog=RunCatalog(self._keeper.catalogs, plan, self._registry, enabled.allowed),
            ledger=self._stored,
            result_bytes=limits.result_bytes,
            index=index,
            search_limit=self._agent.search.limit,
            search_max_limit=self._agent.search.max_limit,
            found=found,
            call_name=self._past.codec.names().get(TOOL_CALL, TOOL_CALL),
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
            facts=facts,
            limits=limits,
            approvers=self._agent.approvers or (),
            exclude_requester=self._agent.exclude_requester,
            found=controls.found,
            formerly=self._past.pinned,
            attributes=self._record.attributes,
            slots=asyncio.Semaphore(limits.parallel_calls),
            again=again,
        )

    async def close(self) -> None:
        """Ends whatever calls of this session still run in this process, each on its row."""
        await self._keeper.rim.work.stop(session_id=self.session_id)

    # inside

    async def _outlook(self, wish: Wish) -> Outlook:
        await self.refresh()
        await self._past.update(self._record)
        looker = Outlooker(
            self._keeper,
            self._agent,
            self._principal,
            self._record,
            self._format,
            self._past,
            self._ledger,
            still_granted(self._record.granted, self._bound()),
        )
        return await looker.outlook(wish)

    async def _turn(
        self,
        run: RunRecord,
        earlier: Sequence[RunRecord],
        sight: Sight,
        *,
        steps: int = 0,
        found: Iterable[str],
        again: bool = False,
    ) -> Turn:
        facts = await self.facts()
        apart = (name for name in found if name in sight.plan.pins)
        return Turn(
            self._keeper,
            self,
            self.run_under(run, sight.plan, facts, index=sight.system, found=apart, again=again),
            facts,
            self._format,
            sight,
            number=run.turn,
            steady=await self._past.steady(sight.rendering, earlier),
            steps=steps,
        )

    @property
    def _stored(self) -> Ledger:
        if self._ledger is None:
            raise ConfigError("the session is not stored", "open it with `keeper.session(...)`")
        return self._ledger

    def _registry(self) -> Registry:
        return self._keeper.registry(self._agent)

    def _bound(self) -> frozenset[str] | None:
        return bound_by(self._delegators or (), self._keeper.agent, self._registry)

    def _toggles(self, run: RunRecord, plan: Plan) -> Toggles:
        return Toggles(
            plan,
            profile_of(self._agent),
            self._registry,
            lambda: self._record.intent if run.override is None else run.override,
            self._record.granted,
            self._bound if self._record.granted is not None else None,
        )
