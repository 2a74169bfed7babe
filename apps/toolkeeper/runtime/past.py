"""What has a conversation shown before, in this session and in those that it was forked from?"""

from collections.abc import Sequence

from toolkeeper.runtime.earlier_turns import rendering_of
from toolkeeper.runtime.lineage import Elder, elders_of
from toolkeeper.runtime.rendering import Rendering
from toolkeeper.runtime.sight import identities
from toolkeeper_contract import (
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_SEARCH,
    Ledger,
    Plan,
    RunRecord,
    SessionRecord,
    canonical_text,
)
from toolkeeper_wire import Format, NameCodec


class Past:
    """The earlier turns of a session, read from its ledger and brought up to date by `update`.

    `elders` are the sessions that it was forked from. `runs` are the earlier turns in their order,
    those of elders with the same provider included; `own` are the session's, and `kept` the last
    ones that were planned for the same agent and the same model. `codec` knows every wire name that
    these turns showed, `pinned` every name that they could call, `searches` every name that a
    search has had in them.
    """

    def __init__(self, ledger: Ledger | None, format: Format) -> None:
        """Without a ledger there is no past."""
        self._ledger = ledger
        self._known: set[str] = set()
        self._arrays: dict[str, str] = {}
        self._elders: tuple[Elder, ...] | None = None
        self.own: tuple[RunRecord, ...] = ()
        self.runs: tuple[RunRecord, ...] = ()
        self.kept: tuple[RunRecord, ...] = ()
        self.codec: NameCodec = format.codec(())
        self.pinned: set[str] = set()
        self.searches: set[str] = {TOOL_SEARCH, "tool_search"}

    @property
    def elders(self) -> tuple[Elder, ...]:
        return self._elders or ()

    async def update(self, record: SessionRecord) -> None:
        """Reads what was begun since, also by another process."""
        ledger = self._ledger
        if ledger is None:
            return
        if self._elders is None:
            self._elders = await elders_of(ledger, record)
            for elder in self._elders:
                for run in elder.runs:
                    self._note(await self._new_plan(run), elder.record.provider == record.provider)
        self.own = tuple(await ledger.runs(record.session_id))
        shown = [(elder.record, run) for elder in self._near(record) for run in elder.runs]
        shown += [(record, run) for run in self.own]
        self.runs = tuple(run for _, run in shown)
        same = [_terms(of) == _terms(record) for of, _ in shown]
        first = len(same) - same[::-1].index(False) if False in same else 0
        self.kept = self.runs[first:]
        for run in self.runs:
            self._note(await self._new_plan(run), True)

    def shows(self, plan: Plan, codec: NameCodec) -> None:
        """Takes over the table of wire names that a new turn has made."""
        self.codec = codec
        self._note(plan, True)

    async def steady(self, rendering: Rendering, runs: Sequence[RunRecord]) -> int:
        """How many turns in a row, at the end of `runs`, showed the tools array of `rendering`."""
        self._arrays[rendering.digest] = wanted = canonical_text(rendering.tools)
        steady = 0
        for run in reversed(runs):
            if await self._array(run) != wanted:
                break
            steady += 1
        return steady

    def _near(self, record: SessionRecord) -> list[Elder]:
        """The elders without a change of provider in between: their wire names are this one's."""
        near: list[Elder] = []
        for elder in reversed(self.elders):
            if elder.record.provider != record.provider:
                break
            near.append(elder)
        return near[::-1]

    async def _new_plan(self, run: RunRecord) -> Plan | None:
        if run.plan_digest in self._known or self._ledger is None:
            return None
        return await self._ledger.plan(run.plan_digest)

    def _note(self, plan: Plan | None, same_provider: bool) -> None:
        if plan is None:
            return
        self._known.add(plan.digest)
        self.pinned.update(plan.pins)
        if same_provider:
            self.codec = self.codec.extended(identities(plan))
        for name in plan.controls:
            if name not in (TOOL_CALL, TOOL_RESULT):
                self.searches |= {name, name.replace(".", "_"), self.codec.names().get(name, name)}

    async def _array(self, run: RunRecord) -> str | None:
        if self._ledger is None or run.rendering is None:
            return None
        if run.rendering not in self._arrays:
            shown = await rendering_of(self._ledger, run)
            self._arrays[run.rendering] = canonical_text(shown.tools)
        return self._arrays[run.rendering]


def _terms(record: SessionRecord) -> tuple[object, ...]:
    """What a session's first plan was made for; a fork under other terms has a first plan anew."""
    return (
        record.agent,
        record.provider,
        record.model,
        record.endpoint,
        record.granted,
        dict(record.attributes),
    )
