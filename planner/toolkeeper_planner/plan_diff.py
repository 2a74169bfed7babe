"""What is different between two plans, and why?"""

from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Plan
from toolkeeper_planner.standing import Standing, plan_array, standings


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """One tool in two plans; None where a plan does not know the name."""

    name: str
    before: Standing | None
    after: Standing | None

    @property
    def moved(self) -> bool:
        """Whether both plans know it, in other places or for other reasons."""
        if self.before is None or self.after is None:
            return False
        return (self.before.place, self.before.reason) != (self.after.place, self.after.reason)

    @property
    def redefined(self) -> bool:
        """Whether both plans pin it, with other definitions."""
        old = self.before and self.before.fingerprint
        new = self.after and self.after.fingerprint
        return bool(old and new and old != new)

    @property
    def repriced(self) -> bool:
        """Whether it stands in one place and costs something else there."""
        if self.before is None or self.after is None or self.before.place != self.after.place:
            return False
        return self.before.tokens != self.after.tokens

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "before": self.before and self.before.as_json(),
            "after": self.after and self.after.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that holds for a whole plan, by its dotted key in the plan's body."""

    key: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        return {"key": self.key, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """The difference of two plans; every tuple is sorted by name.

    `moved`, `added`, `removed`, `redefined` and `repriced` are tools (one may be in several of the
    first, fourth and fifth). `settings` are the caps, totals, provider, agent, revision, builder,
    disclosure, listing and intent that differ. `reordered` says that the tools that both arrays
    have stand in another order, `array` that the arrays differ at all: in a name, a definition or
    what the provider keeps deferred.
    """

    before: str
    after: str
    moved: tuple[ToolDifference, ...] = ()
    added: tuple[ToolDifference, ...] = ()
    removed: tuple[ToolDifference, ...] = ()
    redefined: tuple[ToolDifference, ...] = ()
    repriced: tuple[ToolDifference, ...] = ()
    settings: tuple[Setting, ...] = ()
    reordered: bool = False
    array: bool = False

    @property
    def same(self) -> bool:
        """Whether the two are one plan."""
        return self.before == self.after

    def as_json(self) -> dict[str, Any]:
        return {
            "before": self.before,
            "after": self.after,
            "same": self.same,
            "moved": [tool.as_json() for tool in self.moved],
            "added": [tool.as_json() for tool in self.added],
            "removed": [tool.as_json() for tool in self.removed],
            "redefined": [tool.as_json() for tool in self.redefined],
            "repriced": [tool.as_json() for tool in self.repriced],
            "settings": [setting.as_json() for setting in self.settings],
            "reordered": self.reordered,
            "array_changed": self.array,
        }


def diff_plans(before: Plan, after: Plan) -> PlanDiff:
    """What changes when `after` takes the place of `before`."""
    old, new = standings(before), standings(after)
    tools = [ToolDifference(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    there, here = plan_array(before), plan_array(after)
    kept = set(there) & set(here)
    redefined = tuple(tool for tool in tools if tool.redefined)
    return PlanDiff(
        before.digest,
        after.digest,
        moved=tuple(tool for tool in tools if tool.moved),
        added=tuple(tool for tool in tools if tool.before is None),
        removed=tuple(tool for tool in tools if tool.after is None),
        redefined=redefined,
        repriced=tuple(tool for tool in tools if tool.repriced),
        settings=_settings(before, after),
        reordered=(
            [name for name in there if name in kept] != [name for name in here if name in kept]
        ),
        array=(
            there != here
            or before.defined != after.defined
            or any(tool.name in kept for tool in redefined)
        ),
    )


def _settings(before: Plan, after: Plan) -> tuple[Setting, ...]:
    old, new = _whole(before), _whole(after)
    return tuple(
        Setting(key, old[key], new[key])
        for key in old
        # `1` and `true` are equal in Python and not on a plan.
        if (type(old[key]), old[key]) != (type(new[key]), new[key])
    )


def _whole(plan: Plan) -> dict[str, Any]:
    body = plan.body()
    costs = body["costs"]
    return dict(
        sorted(
            {
                **{key: body[key] for key in ("agent", "agent_revision", "builder", "intent")},
                **{f"caps.{key}": value for key, value in body["caps"].items()},
                **{f"costs.{key}": value for key, value in costs.items() if key != "tools"},
                **{f"disclosure.{key}": value for key, value in body["disclosure"].items()},
                **{key: body[key] for key in ("listing", "provider")},
            }.items()
        )
    )
