"""What moved in the tools array from one turn to the next, and why?"""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from toolkeeper_contract import Event, Plan, Reason
from toolkeeper_planner.standing import CONTROL, LOADED, Standing, plan_array, standings

_CAUSES = {
    Reason.DISABLED.value: "intent",
    Reason.NOT_PERMITTED.value: "configuration",
    Reason.SOURCE_UNAVAILABLE.value: "registry",
    Reason.CONFIGURED.value: "configuration",
}
"""Which change is behind a plan's reason; every other reason tells itself."""


@dataclass(frozen=True, slots=True)
class ArrayChanges:
    """`added`, `removed`, `redefined` (another definition, or deferred by the provider and now not,
    or the reverse) and `moved` (other order) are names in the array's order; `reasons` has one for
    each of them:

    `loaded`, `unloaded` (the search that loaded it is gone from the conversation), `forced`,
    `deferral` (a control tool comes and goes with what it reaches), `intent`, `configuration`,
    `registry` (listed anew, vanished or changed), `disclosure` (another way to disclose, as with
    another model), or the reason that the tool had or has on a
    plan: `scope`, `policy`, `quarantined`, `definition_cap`,
    `definition_tokens`, `no_tool_call`, `index_entries`, `index_tokens`.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    redefined: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether the array is another one."""
        return bool(self.added or self.removed or self.redefined or self.moved)

    def as_json(self) -> dict[str, Any]:
        """The data of the event; `redefined` and `moved` only where there are any."""
        data: dict[str, Any] = {"added": list(self.added), "removed": list(self.removed)}
        for key, names in (("redefined", self.redefined), ("moved", self.moved)):
            if names:
                data[key] = list(names)
        return {**data, "reasons": dict(sorted(self.reasons.items()))}

    def event(self, *, run_id: str | None = None) -> Event:
        """`tools.changed`."""
        return Event("tools.changed", self.as_json(), run_id=run_id)


def array_changes(
    before: Plan | None,
    after: Plan,
    *,
    forced: str | None = None,
    forced_before: str | None = None,
) -> ArrayChanges:
    """The changes when `after` follows `before`; none for a session's first plan.

    `forced` and `forced_before` are the tools that the caller forced in the two turns: a plan does
    not say so itself.
    """
    if before is None or before.digest == after.digest:
        return ArrayChanges()
    why = _Why(before, after, forced, forced_before)
    old, new = plan_array(before), plan_array(after)
    there, here = _entries(before, old), _entries(after, new)
    added = tuple(name for name in new if name not in there)
    removed = tuple(name for name in old if name not in here)
    redefined = tuple(name for name in new if name in there and there[name] != here[name])
    moved = _moved(old, new)
    return ArrayChanges(
        added,
        removed,
        redefined,
        moved,
        {
            **{name: why.moved(name) for name in moved},
            **{name: why.redefined(name) for name in redefined},
            **{name: why.added(name) for name in added},
            **{name: why.removed(name) for name in removed},
        },
    )


def _entries(plan: Plan, names: tuple[str, ...]) -> dict[str, tuple[str | None, bool]]:
    defined = frozenset(plan.defined)
    return {name: (plan.pins.get(name), name in defined) for name in names}


class _Why:
    def __init__(
        self, before: Plan, after: Plan, forced: str | None, forced_before: str | None
    ) -> None:
        self._old, self._new = standings(before), standings(after)
        self._forced, self._forced_before = forced, forced_before
        self._disclosed = before.disclosure.used != after.disclosure.used
        self._lost = set(before.loaded) - set(after.loaded)
        self._overflow = {placed.name: placed.reason.value for placed in after.overflow}
        if before.agent_revision != after.agent_revision or before.agent != after.agent:
            self._general = "configuration"
        elif before.intent != after.intent:
            self._general = "intent"
        else:
            self._general = "registry"

    def added(self, name: str) -> str:
        if self._new[name].reason in (LOADED, CONTROL):
            return LOADED if self._new[name].reason == LOADED else "deferral"
        if name == self._forced:
            return "forced"
        before = self._old.get(name)
        if self._disclosed and before is not None and before.fingerprint is not None:
            return "disclosure"
        return self._of(before)

    def removed(self, name: str) -> str:
        if self._old[name].reason == CONTROL:
            return "deferral"
        now = self._new.get(name)
        if now is not None and now.fingerprint is not None:
            # It is there, and only not in the array.
            if name in self._overflow:
                return self._overflow[name]
            if now.fingerprint != self._old[name].fingerprint and name in self._lost:
                return "registry"
            if name in self._lost:
                return "unloaded"
            if name == self._forced_before:
                return "forced"
            if self._disclosed:
                return "disclosure"
        return self._of(now)

    def redefined(self, name: str) -> str:
        old, new = self._old[name], self._new[name]
        if old.fingerprint != new.fingerprint:
            return "registry"
        return self.added(name) if new.place == "defined" else self.removed(name)

    def moved(self, name: str) -> str:
        new, old = self._new[name].reason, self._old[name].reason
        if new != old and LOADED in (new, old):
            return LOADED if new == LOADED else "unloaded"
        if name in (self._forced, self._forced_before):
            return "forced"
        return self._general

    def _of(self, standing: Standing | None) -> str:
        """Why a tool is not in the array, told by where it stands instead."""
        if standing is None:
            return self._general
        reason = standing.reason or Reason.DEFINITION_CAP.value
        if reason in (Reason.DISABLED.value, Reason.NOT_PERMITTED.value):
            # An intent may change what the agent permits to ask for, and a configuration what an
            # unchanged intent leaves out.
            return self._general if self._general != "registry" else _CAUSES[reason]
        return _CAUSES.get(reason, reason)


def _moved(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    """The fewest names of both that have to move to get from one order to the other."""
    places = {name: place for place, name in enumerate(before)}
    common = [name for name in after if name in places]
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for at, name in enumerate(common):
        # The longest run of names that keep their order (patience sorting).
        place = places[name]
        slot = bisect_left(tails, place)
        previous.append(ends[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(place)
            ends.append(at)
        else:
            tails[slot], ends[slot] = place, at
    kept: set[str] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        kept.add(common[at])
        at = previous[at]
    return tuple(name for name in common if name not in kept)
