"""Where does one tool stand in a plan?"""

from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Plan

CONTROL, LOADED = "control", "loaded"


@dataclass(frozen=True, slots=True)
class Standing:
    """`place` is `defined`, `deferred`, `searchable`, `skipped` or `filtered`.

    `reason` is the plan's own reason, `loaded` for what a search loaded, `control` for a control
    tool, None for what simply fits and for what is searchable. `fingerprint` is None for what the
    plan does not pin, `tokens` for what costs nothing of its own.
    """

    place: str
    reason: str | None = None
    fingerprint: str | None = None
    tokens: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "reason": self.reason,
            "fingerprint": self.fingerprint,
            "tokens": self.tokens,
        }


def plan_array(plan: Plan) -> tuple[str, ...]:
    """The names in the provider's tools array, in its order: the defined tools, and where the
    provider searches on its side, the deferred ones behind them."""
    return plan.defined + plan.deferred_names if plan.disclosure.used == "native" else plan.defined


def standings(plan: Plan) -> dict[str, Standing]:
    """Every name of `plan`, control tools included, with where it stands."""
    pins, prices, loaded = plan.pins, plan.costs.tools, frozenset(plan.loaded)
    found: dict[str, Standing] = {}
    for name in plan.defined:
        reason = LOADED if name in loaded else None if name in pins else CONTROL
        found[name] = Standing("defined", reason, pins.get(name), prices.get(name))
    for placed in plan.deferred:
        name = placed.name
        found[name] = Standing("deferred", placed.reason.value, pins[name], prices.get(name))
    for name in plan.searchable:
        found[name] = Standing("searchable", None, pins[name])
    for place, rows in (("skipped", plan.skipped), ("filtered", plan.filtered)):
        for placed in rows:
            found[placed.name] = Standing(place, placed.reason.value)
    return found
