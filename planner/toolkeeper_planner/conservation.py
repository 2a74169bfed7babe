"""Did every candidate end in exactly one place?"""

from collections import Counter
from collections.abc import Collection, Sequence

from toolkeeper_contract import CONTROL_TOOLS, Plan

_NAMED = 20


class ConservationError(RuntimeError):
    """The planner lost or doubled a tool: a fault of the planner, never of its input."""


def check_conservation(
    candidates: Sequence[str], plan: Plan, *, controls: Collection[str] = CONTROL_TOOLS
) -> None:
    """Raises ConservationError, naming the difference, unless

    candidates = defined + deferred + searchable + skipped + filtered, each name exactly once, and
    the pins are exactly the defined, deferred and searchable tools. `controls` are the names that
    are no candidates' but the framework's own.
    """
    pinned = [
        *[name for name in plan.defined if name not in controls],
        *plan.deferred_names,
        *plan.searchable,
    ]
    ended = [
        *pinned,
        *[placed.name for placed in plan.skipped],
        *[placed.name for placed in plan.filtered],
    ]
    expected, found = set(candidates), set(ended)
    if len(expected) == len(candidates) == len(ended) and expected == found:
        if plan.pins.keys() == set(pinned):
            return
        raise ConservationError(
            "the pins are not the tools that the plan offers: "
            + _listed(set(pinned).symmetric_difference(plan.pins))
        )
    twice = [
        name for names in (candidates, ended) for name, count in Counter(names).items() if count > 1
    ]
    raise ConservationError(
        f"the plan does not account for its candidates: lost {_listed(expected - found)}; "
        f"from nowhere {_listed(found - expected)}; twice {_listed(set(twice))}"
    )


def _listed(names: set[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in sorted(names)[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{shown}{more}" if names else "nothing"
