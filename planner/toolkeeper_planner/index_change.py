"""What moved in the deferred index from one turn to the next, and why?

The index stands in the system text behind the tools array: what changes in it is read anew by the
provider, and so is all of the conversation behind it.
"""

from dataclasses import dataclass, field
from typing import Any

from toolkeeper_contract import TOOL_RESULT, Event, Plan
from toolkeeper_planner.cause import absence_cause, cause_of, general_cause, is_search
from toolkeeper_planner.moved_name import moved_names
from toolkeeper_planner.standing import Standing, standings


@dataclass(frozen=True, slots=True)
class IndexChanges:
    """`added`, `removed`, `redefined` and `moved` are names of index entries, in the index's order;
    `text` are the parts around them that read otherwise: `convention` (the words in front) and
    `searchable` (the count of what only a search can find). `reasons` has one for each name and
    part:

    `defined` (it has a definition now, or had one), `searchable` (only a search finds it, or
    found it), `intent`, `configuration`, `registry`, `disclosure`, or the reason that the tool has
    on the plan that lacks it: `scope`, `policy`, `quarantined`, `index_entries`, `index_tokens`,
    `no_tool_call`.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    redefined: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether the index is another one."""
        return bool(self.added or self.removed or self.redefined or self.moved or self.text)

    def as_json(self) -> dict[str, Any]:
        """The data of the event; `redefined`, `moved` and `text` only where there are any."""
        data: dict[str, Any] = {"added": list(self.added), "removed": list(self.removed)}
        for key, names in (
            ("redefined", self.redefined),
            ("moved", self.moved),
            ("text", self.text),
        ):
            if names:
                data[key] = list(names)
        return {**data, "reasons": dict(sorted(self.reasons.items()))}

    def event(self, *, run_id: str | None = None) -> Event:
        """`index.changed`."""
        return Event("index.changed", self.as_json(), run_id=run_id)


def index_changes(before: Plan | None, after: Plan) -> IndexChanges:
    """The changes when `after` follows `before`; none for a session's first plan."""
    if before is None or before.digest == after.digest:
        return IndexChanges()
    old, new = _index(before), _index(after)
    general = general_cause(before, after)
    there, here = standings(before), standings(after)
    listed, lists = frozenset(old), frozenset(new)
    added = tuple(name for name in new if name not in listed)
    removed = tuple(name for name in old if name not in lists)
    relisted = before.listing != after.listing
    # A bare name says nothing about what it stands for.
    described = after.listing == "index"
    redefined = tuple(
        name
        for name in new
        if name in listed and (relisted or (described and before.pins[name] != after.pins[name]))
    )
    moved = moved_names(old, new, rather=redefined)
    text = _text(before, after)
    disclosed = "disclosure" if _way(before) != _way(after) else None
    unlisted = disclosed or general
    absent = absence_cause(before, after)
    return IndexChanges(
        added,
        removed,
        redefined,
        moved,
        tuple(text),
        {
            **{name: general for name in moved},
            **{name: "disclosure" if relisted else "registry" for name in redefined},
            **{name: _why(there.get(name), unlisted, absent) for name in added},
            **{name: _why(here.get(name), unlisted, absent) for name in removed},
            **{part: unlisted for part in text},
        },
    )


def _index(plan: Plan) -> tuple[str, ...]:
    shown = plan.listing != "none" and plan.disclosure.used != "native"
    return plan.deferred_names if shown else ()


def _why(elsewhere: Standing | None, general: str, absent: str) -> str:
    """Why an entry comes or goes, told by where its tool stands in the plan that lacks it."""
    if elsewhere is None:
        return absent
    if elsewhere.place == "deferred":
        return general
    if elsewhere.place in ("defined", "searchable"):
        return elsewhere.place
    return cause_of(elsewhere.reason, general) if elsewhere.reason else general


def _text(before: Plan, after: Plan) -> list[str]:
    parts = []
    if _convention(before) != _convention(after) or bool(_index(before)) != bool(_index(after)):
        parts.append("convention")
    if _searchable(before) != _searchable(after):
        parts.append("searchable")
    return parts


def _convention(plan: Plan) -> tuple[Any, ...]:
    return (*_way(plan), tuple(name for name in plan.controls if name != TOOL_RESULT))


def _way(plan: Plan) -> tuple[str, str]:
    return plan.listing, plan.disclosure.used


def _searchable(plan: Plan) -> int:
    offered = any(is_search(name) for name in plan.controls) and plan.listing != "none"
    return len(plan.searchable) if offered else 0
