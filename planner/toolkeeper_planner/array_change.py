"""What moved in the tools array from one turn to the next, and why?"""

from dataclasses import dataclass, field
from typing import Any

from toolkeeper_contract import Event, Plan, Reason
from toolkeeper_planner.cause import absence_cause, cause_of, general_cause, is_search
from toolkeeper_planner.moved_name import moved_names
from toolkeeper_planner.standing import CONTROL, LOADED, Standing, plan_array, standings


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
    moved = moved_names(old, new, rather=redefined)
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


def _entries(plan: Plan, names: tuple[str, ...]) -> dict[str, tuple[str | None, bool, bool]]:
    defined = frozenset(plan.defined)
    # A search that loads is described to the model otherwise than one that only finds.
    loads = frozenset(plan.controls) if plan.disclosure.used == "search" else frozenset[str]()
    return {
        name: (plan.pins.get(name), name in defined, name in loads and is_search(name))
        for name in names
    }


class _Why:
    def __init__(
        self, before: Plan, after: Plan, forced: str | None, forced_before: str | None
    ) -> None:
        self._old, self._new = standings(before), standings(after)
        self._forced, self._forced_before = forced, forced_before
        self._disclosed = before.disclosure.used != after.disclosure.used
        self._lost = set(before.loaded) - set(after.loaded)
        self._overflow = {placed.name: placed.reason.value for placed in after.overflow}
        self._general = general_cause(before, after)
        self._absent = absence_cause(before, after)

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
        if new.reason == CONTROL == old.reason:
            return "disclosure"
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
            return self._absent
        reason = standing.reason or Reason.DEFINITION_CAP.value
        return cause_of(reason, self._general)
