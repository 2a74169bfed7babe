"""Why did a recorded turn show other bytes than the turn before it?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from toolkeeper.runtime.index_entry import BOUNDARY
from toolkeeper.runtime.prefix_change import PrefixChange
from toolkeeper.runtime.request_prefix import NAMESPACE, SYSTEM, TOOLS
from toolkeeper.runtime.sight import identities
from toolkeeper_contract import Ledger, Plan
from toolkeeper_planner import array_changes, index_changes
from toolkeeper_wire import format_for

_EVENTS = {"tools.changed": TOOLS, "index.changed": SYSTEM}

Reasons = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RecordedCauses:
    """The reasons that events of a session give, by run and by part of the prefix."""

    told: Mapping[tuple[str, str], Reasons]
    forced: Mapping[str, str]
    """The tool that a plan's turn forced, by run."""

    @classmethod
    async def read(cls, ledger: Ledger, session_id: str) -> "RecordedCauses":
        told: dict[tuple[str, str], Reasons] = {}
        forced: dict[str, str] = {}
        for record in await ledger.events(session_id=session_id):
            event = record.event
            if event.run_id is None:
                continue
            if event.name in _EVENTS:
                told[event.run_id, _EVENTS[event.name]] = event.data["reasons"]
            elif event.name == "run.began" and event.data.get("forced"):
                forced[event.run_id] = event.data["forced"]
        return cls(told, forced)

    def between(
        self, before: Plan, after: Plan, earlier: str, run: str
    ) -> Callable[[PrefixChange], PrefixChange]:
        """Gives a change its canonical name and its reason: the recorded one, else the plans'.

        `earlier` and `run` are the ids of the two runs.
        """
        codec = format_for(after.provider).codec(())
        codec = codec.extended(identities(before)).extended(identities(after))
        array = array_changes(
            before, after, forced=self.forced.get(run), forced_before=self.forced.get(earlier)
        )
        planned = {TOOLS: array.reasons, SYSTEM: index_changes(before, after).reasons}

        def reason(part: str, name: str) -> str | None:
            told = self.told.get((run, part), {})
            known = {**planned.get(part, {}), **told}
            if name == BOUNDARY or name.startswith(NAMESPACE):
                # They follow what they enclose.
                return next(iter(known.values()), None)
            return known.get(name)

        def explain(change: PrefixChange) -> PrefixChange:
            name = change.name
            if change.part == TOOLS:
                name = codec.canonical(name) or name
            return replace(change, name=name, reason=reason(change.part, name))

        return explain
