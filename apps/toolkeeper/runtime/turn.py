"""One user message and all model steps that it causes: what is shown, and what is called?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.loaded_set import FOUND
from toolkeeper.runtime.log import Log
from toolkeeper.runtime.sight import Sight
from toolkeeper_contract import (
    CONTROL_TOOLS,
    TOOL_CALL,
    AdvertisedAs,
    Event,
    Invocation,
    Outcome,
    Plan,
)
from toolkeeper_contract.draft import replace
from toolkeeper_pipeline import Call, Controls, Run, SessionFacts, checked_key, govern
from toolkeeper_wire import (
    Anthropic,
    Continue,
    Exhausted,
    Format,
    PauseCount,
    WireResult,
    cache_marked,
)
from toolkeeper_wire.transcript import read_transcript, replayable

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper
    from toolkeeper.runtime.session import Session

_LOG = Log(__name__)


class Turn:
    """A frozen view of the tools and the one way to call them.

    `tools` is the provider's tools array and `system` the prompt region to append; both are made
    once and stay byte-identical for every request of the turn.
    """

    def __init__(
        self,
        keeper: "Toolkeeper",
        session: "Session",
        run: Run,
        facts: SessionFacts,
        format: Format,
        sight: Sight,
        *,
        number: int,
        steady: int,
        steps: int = 0,
    ) -> None:
        """`steady` turns before this one showed the same tools; `steps` of this one are done."""
        self._keeper = keeper
        self._session = session
        self._run = run
        self._facts = facts
        self._format = format
        self._sight = sight
        self._codec = sight.codec
        self._steady = steady
        self._step = steps
        self._pauses = PauseCount()
        self._called_as: dict[str, str] = {}
        self.number = number

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The provider's tools array."""
        return self._sight.tools

    @property
    def system(self) -> str:
        """The prompt region to append to the system text; empty when nothing is deferred."""
        return self._sight.system

    @property
    def request(self) -> dict[str, Any]:
        """All parts of a request that the plan decides: `tools`, `system`, a forced tool choice."""
        return self._sight.rendering.parts

    @property
    def cached_request(self) -> dict[str, Any]:
        """`request` with the provider's cache marker on its last tool that is not deferred.

        The same where the provider caches without being asked. Nothing that is cached depends on
        the marker; those in the messages are the caller's.
        """
        parts = self.request
        if isinstance(self._format, Anthropic):
            parts["tools"] = cache_marked(parts["tools"])
        return parts

    @property
    def rendering(self) -> str:
        """The digest of the request parts; it stays the same to the end of the turn."""
        return self._sight.rendering.digest

    @property
    def cost(self) -> int:
        """Estimated tokens of the tools array and the prompt region, for a history budget."""
        costs = self.plan.costs
        return costs.definition_tokens + costs.index_tokens + costs.index_overhead_tokens

    @property
    def plan(self) -> Plan:
        return self._run.plan

    @property
    def run_id(self) -> str:
        return self._run.run_id

    async def delegate(
        self, tools: Sequence[str] | None = None, *, agent: str | None = None
    ) -> "Session":
        """A child session that may use `tools` of this turn's pins (all of them when left out).

        It gets them as definitions, under its own agent's caps, and never more than this turn has:
        a name that is not pinned here stands on its plan as `not_permitted`.
        """
        return await self._session.child(self.run_id, self.plan, tools, agent=agent)

    async def observe(self, reply: Any) -> tuple[str, ...]:
        """Records what the provider's own search found in a reply; canonical names.

        They stay deferred on the wire. Another model, which searches with us, knows them as loaded.
        Observe a reply before its calls are made, so that their rows say how they came about.
        """
        found = {
            name: self.plan.pins[name]
            for name in self._format.found(reply, self._codec)
            if name in self.plan.pins
        }
        if found:
            event = Event(FOUND, {"tools": found}, self.run_id)
            await self._keeper.ledger.append(self._run.session_id, (event,))
        if isinstance(self._run.controls, Controls):
            self._run.controls.found.update(found)
        return tuple(found)

    async def paused(self, reply: Any) -> Continue | Exhausted | None:
        """What to do when the provider stopped in the middle of its own search; None: it did not.

        `Continue`: send this turn's request again, unchanged, with its messages at the end. After
        eight times in a turn `Exhausted`: the turn ends, with a warning for the operator.
        """
        paused = self._format.pause(reply)
        if paused is None:
            return None
        self._pauses, then = self._pauses.resume(paused)
        if isinstance(then, Exhausted):
            event = Event("turn.exhausted", {"warning": then.warning}, self.run_id)
            await self._keeper.ledger.append(self._run.session_id, (event,))
            _LOG.warning("turn.exhausted", run_id=self.run_id, warning=then.warning)
        return then

    def replayable(self, messages: Sequence[Any]) -> list[Any]:
        """The conversation without thinking that was signed under another tools array.

        Nothing else in it is touched: history is never filtered by the current tools. `messages`
        are those of a request of this turn: its own user message is the last one of a user.
        """
        seen = read_transcript(messages, self._format.name)
        starts = seen.turns
        keep_from = starts[-1 - self._steady] if self._steady < len(starts) else 0
        return replayable(messages, self._format.name, keep_from=keep_from)

    def calls(self, reply: Any) -> list[Call]:
        """The tool calls of one model reply: a provider's response as a mapping or SDK object."""
        return [
            # A reply speaks in wire names: one that is some other tool's canonical name as well
            # still means the tool that was shown under it.
            Call(_stored(call.call_id), self._decoded(call.wire_name), call.arguments)
            for call in self._format.calls(reply)
        ]

    def read(
        self, call_id: str, name: Any, arguments: Any, *, idempotency_key: str | None = None
    ) -> Call:
        """A call as a model would send it; `name` is a wire name or a canonical one.

        `idempotency_key` is the caller's name for something that is to happen once: another call
        that bears it, for the same user and agent and in whatever session, is given what came of
        the first. ConfigError for an empty or overlong one.
        """
        key = checked_key(idempotency_key)
        return Call(_stored(call_id), self._canonical(name), arguments, idempotency_key=key)

    async def call(self, call: Call) -> Outcome:
        """Runs one call as a model step of its own."""
        return (await self.call_all([call]))[0]

    async def call_all(self, calls: Sequence[Call]) -> list[Outcome]:
        """Runs the calls of one model step, in parallel up to the agent's limit.

        The outcomes stand in the order of the calls. RunError when the ledger cannot be written,
        ledger.conflict for an idempotency key that is another call's. When this is cancelled, the
        calls end on their rows before the cancellation goes on.
        """
        # Before anything waits: two steps at once are two steps.
        self._step += 1
        step = self._step
        await self._session.refresh()
        placed = [
            replace(call, step=step, position=position) for position, call in enumerate(calls)
        ]
        # Calls of one step are decided by what was known when the model wrote them.
        with self._facts.step() as known:
            outcomes = await govern(placed, self._run, self._keeper.rim, facts=known)
        await self._session.tell_above()
        wire_names = self._codec.names()
        for call, outcome in zip(calls, outcomes, strict=True):
            if isinstance(call.name, str) and _called(outcome.row) not in wire_names:
                self._called_as[outcome.row.invocation_id] = call.name
        return outcomes

    async def cancel(self) -> None:
        """Ends the turn: calls that wait do not begin, those that run are given up.

        Returns when each is on its row; whoever waits for them gets their outcomes. What is called
        afterwards is refused.
        """
        self._run.halt.ask()
        await self._keeper.rim.work.stop(run_id=self.run_id)

    def results(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """The messages that answer the calls of one model step, as the provider groups them."""
        return self._format.results([self._answer(outcome) for outcome in outcomes])

    def _answer(self, outcome: Outcome) -> WireResult:
        # The answer bears the name and the id that the model used, whatever tool it reached.
        row = outcome.row
        called = _called(row)
        # A name that nothing answers to goes back as it came.
        unknown = self._called_as.get(row.invocation_id, called)
        name = self._codec.names().get(called, unknown)
        return WireResult(row.call_id, name, row.result or "", row.is_error)

    @property
    def _reserved(self) -> tuple[str, ...]:
        return (*CONTROL_TOOLS, *self.plan.controls)

    def _canonical(self, name: Any) -> Any:
        if not isinstance(name, str) or name in self.plan.pins or name in self._reserved:
            return name
        return self._decoded(name)

    def _decoded(self, name: str) -> str:
        return self._codec.canonical(name) or name


def _called(row: Invocation) -> str:
    """The name of ours under which the model called it."""
    return TOOL_CALL if row.advertised_as is AdvertisedAs.TOOL_CALL else row.tool


def _stored(call_id: str) -> str:
    # A provider's id may be any text, and no store takes half of a surrogate pair.
    return call_id.encode("utf-8", "backslashreplace").decode("utf-8")
