from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Code, RunError
from toolkeeper_planner import BUILDER, COMPATIBLE_BUILDERS, is_current, kept_plan, require_current

OLDER, NEWER = "plan-builder@0", "plan-builder@2"


def test_this_builders_plans_are_current_and_an_unknown_ones_are_not(make: Any) -> None:
    plan = make.plan(make.agent("a"), make.registry("a"))
    assert is_current(plan)
    require_current(plan)
    assert BUILDER not in COMPATIBLE_BUILDERS
    for builder in (NEWER, "", "plan-builder@1 "):
        other = replace(plan, builder=builder)
        assert not is_current(other)
        with pytest.raises(RunError) as caught:
            require_current(other)
        assert caught.value.code is Code.BUILDER_NOT_CURRENT


def test_a_listed_older_builder_counts_as_current(make: Any) -> None:
    plan = replace(make.plan(make.agent("a"), make.registry("a")), builder=OLDER)
    assert not is_current(plan)
    assert is_current(plan, compatible={OLDER})
    require_current(plan, compatible={OLDER})


def test_an_upgrade_to_a_compatible_builder_replans_nobody(make: Any) -> None:
    new = make.plan(make.agent("a"), make.registry("a"))
    old = replace(new, builder=OLDER)
    assert old.digest != new.digest
    assert kept_plan(old, new, compatible={OLDER}) is old
    assert kept_plan(old, new) is new
    assert kept_plan(None, new) is new
    changed = make.plan(make.agent("a"), make.registry(make.tool("a", scopes=("x",))))
    assert kept_plan(old, changed, compatible={OLDER}) is changed


def test_equal_input_keeps_the_very_plan(make: Any) -> None:
    first = make.plan(make.agent("a"), make.registry("a"))
    second = make.plan(make.agent("a"), make.registry("a"))
    assert kept_plan(first, second) is first
