"""Which builder made a plan, and does its plan still count?"""

from collections.abc import Collection
from dataclasses import replace

from toolkeeper_contract import Code, Plan, RunError

BUILDER = "plan-builder@1"
"""Stands on every plan; it changes when equal input may give another plan."""

COMPATIBLE_BUILDERS: frozenset[str] = frozenset()
"""Older builders whose plans are rendered to the same bytes by this version."""


def is_current(
    plan: Plan, *, builder: str = BUILDER, compatible: Collection[str] = COMPATIBLE_BUILDERS
) -> bool:
    """Whether this version can go on with `plan` as if it had made it.

    A plan of a builder that is neither `builder` nor listed is not current: a newer one may mean
    by its plan what this version does not know.
    """
    return plan.builder == builder or plan.builder in compatible


def require_current(
    plan: Plan, *, builder: str = BUILDER, compatible: Collection[str] = COMPATIBLE_BUILDERS
) -> None:
    """RunError(plan.builder_not_current) when a session cannot go on with `plan`."""
    if not is_current(plan, builder=builder, compatible=compatible):
        raise RunError(
            Code.BUILDER_NOT_CURRENT,
            f"the session's plan was made by `{plan.builder}`, and this version builds `{builder}`",
            "use the version that made it, or open a new session",
        )


def kept_plan(
    before: Plan | None,
    after: Plan,
    *,
    builder: str = BUILDER,
    compatible: Collection[str] = COMPATIBLE_BUILDERS,
) -> Plan:
    """`before` where `after` says the same but for the builder's version, otherwise `after`.

    So an upgrade to a compatible builder plans nobody anew: the digest, and with it every byte
    that is derived from it, stays.
    """
    if before is None or not is_current(before, builder=builder, compatible=compatible):
        return after
    same = replace(before, builder=after.builder).digest == after.digest
    return before if same else after
