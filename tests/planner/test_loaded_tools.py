from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from toolkeeper_contract import Caps, ConfigError, Plan

NAMES = tuple(f"t.{letter}" for letter in "abcdef")


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(*NAMES, "mcp.git.log")


def searching(make: Any, **settings: Any) -> Any:
    return make.agent(
        *NAMES,
        servers=("git",),
        **{
            "always_defined": ("t.a",),
            "deferred_tools": ("*",),
            "disclosure": "search",
            "control_tools": ("tool.search",),
            **settings,
        },
    )


def prints(registry: Any, *names: str) -> list[tuple[str, str]]:
    return [(name, registry.tools[name].fingerprint) for name in names]


def test_loaded_tools_stand_last_in_load_order_and_leave_the_listing(
    make: Any, registry: Any
) -> None:
    agent = searching(make)
    before = make.plan(agent, registry)
    plan = make.plan(agent, registry, loaded=prints(registry, "t.e", "mcp.git.log", "t.b"))
    assert plan.defined == (*before.defined, "t.e", "mcp.git.log", "t.b")
    assert plan.loaded == ("t.e", "mcp.git.log", "t.b")
    assert plan.deferred_names == ("t.c", "t.d", "t.f")
    assert plan.pins == before.pins
    assert plan.costs.definition_tokens == before.costs.definition_tokens + 300


def test_one_more_load_only_appends(make: Any, registry: Any) -> None:
    agent = searching(make)
    names = ("t.f", "t.b", "t.d", "t.c", "t.e", "mcp.git.log")
    arrays = [
        make.plan(agent, registry, loaded=prints(registry, *names[:count])).defined
        for count in range(len(names) + 1)
    ]
    for shorter, longer in pairwise(arrays):
        assert longer[: len(shorter)] == shorter
        assert len(longer) == len(shorter) + 1
    # The search stays when everything is loaded: taking it away would move the array.
    assert "tool.search" in arrays[-1]


def test_only_the_same_definition_of_a_present_candidate_is_loaded(
    make: Any, registry: Any
) -> None:
    agent = searching(make)
    before = make.plan(agent, registry)
    nothing = [("t.b", "0" * 64), ("t.gone", "1" * 64), ("tool.search", ""), ("t.a", "")]
    assert make.plan(agent, registry, loaded=nothing).digest == before.digest
    hidden = make.plan(
        agent, registry, loaded=prints(registry, "t.b"), policy_hidden=frozenset({"t.b"})
    )
    assert hidden.loaded == ()
    assert "t.b" not in hidden.pins


def test_a_tool_found_twice_keeps_its_first_place(make: Any, registry: Any) -> None:
    loaded = [("t.c", "0" * 64), *prints(registry, "t.b", "t.c", "t.b")]
    assert make.plan(searching(make), registry, loaded=loaded).loaded == ("t.b", "t.c")


def test_what_the_caps_keep_out_is_overflow_with_the_caps_reason(make: Any, registry: Any) -> None:
    agent = searching(make, caps=Caps(definitions=3))
    plan = make.plan(agent, registry, loaded=prints(registry, "t.e", "t.b"))
    assert plan.loaded == ("t.e",)
    assert make.rows(plan.overflow) == {"t.b": "definition_cap"}
    assert "t.b" in plan.deferred_names
    dear = make.plan(
        searching(make, caps=Caps(definition_tokens=350)),
        registry,
        loaded=prints(registry, "t.e", "t.b"),
        pricing=make.Prices({"t.e": 200}),
    )
    assert dear.loaded == ("t.b",)
    assert make.rows(dear.overflow) == {"t.e": "definition_tokens"}


def test_a_loaded_tool_never_pushes_a_definition_out(make: Any, registry: Any) -> None:
    agent = searching(make, deferred_tools=(), caps=Caps(definitions=4))
    before = make.plan(agent, registry)
    plan = make.plan(agent, registry, loaded=prints(registry, "t.f"))
    assert plan.defined == before.defined
    assert make.rows(plan.overflow) == {"t.f": "definition_cap"}


def test_overflow_that_is_only_searchable_stays_so(make: Any, registry: Any) -> None:
    agent = searching(make, listing="none", caps=Caps(definitions=2))
    plan = make.plan(agent, registry, loaded=prints(registry, "t.f"))
    assert make.rows(plan.overflow) == {"t.f": "definition_cap"}
    assert "t.f" in plan.searchable


def test_by_index_a_search_never_promotes(make: Any, registry: Any) -> None:
    agent = searching(make, disclosure="index", control_tools=("tool.call", "tool.search"))
    before = make.plan(agent, registry)
    assert make.plan(agent, registry, loaded=prints(registry, "t.b")).digest == before.digest


def test_where_everything_fits_nothing_needs_loading(make: Any, registry: Any) -> None:
    agent = searching(make, deferred_tools=())
    plan = make.plan(agent, registry, loaded=prints(registry, "t.b"))
    assert plan.defined == (*NAMES, "mcp.git.log")
    assert plan.loaded == ()


def test_a_plan_with_loaded_tools_reads_back(make: Any, registry: Any) -> None:
    agent = searching(make, caps=Caps(definitions=3))
    plan = make.plan(agent, registry, loaded=prints(registry, "t.e", "t.b"))
    again = Plan.from_body(plan.body())
    assert (again, again.digest) == (plan, plan.digest)


# a forced tool


def test_a_forced_tool_that_is_defined_anyway_changes_nothing(make: Any, registry: Any) -> None:
    agent = searching(make)
    loaded = prints(registry, "t.c", "t.d")
    before = make.plan(agent, registry, loaded=loaded)
    for forced in ("t.a", "t.c", "tool.search"):
        assert make.plan(agent, registry, loaded=loaded, forced=forced).digest == before.digest


def test_a_forced_tool_is_defined_behind_everything_else(make: Any, registry: Any) -> None:
    agent = searching(make)
    loaded = prints(registry, "t.c")
    before = make.plan(agent, registry, loaded=loaded)
    plan = make.plan(agent, registry, loaded=loaded, forced="t.f")
    assert plan.defined == (*before.defined, "t.f")
    assert plan.loaded == ("t.c",)
    assert "t.f" not in plan.deferred_names
    assert plan.pins == before.pins


def test_a_forced_tool_takes_its_room_before_others(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, caps=Caps(definitions=4))
    plan = make.plan(agent, registry, forced="t.f")
    assert plan.defined == ("t.a", "tool.call", "tool.search", "t.f")
    assert make.rows(plan.deferred) == dict.fromkeys(NAMES[1:5], "definition_cap")


def test_by_index_too_a_forced_tool_is_defined(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, deferred_tools=("t.c",))
    plan = make.plan(agent, registry, forced="t.c")
    before = make.plan(agent, registry)
    assert plan.defined == (*before.defined, "t.c")
    assert plan.deferred == ()


def test_without_bridges_a_forced_tool_is_defined_and_another_is_skipped(
    make: Any, registry: Any
) -> None:
    agent = make.agent(*NAMES, caps=Caps(definitions=2), control_tools=())
    plan = make.plan(agent, registry, forced="t.f")
    assert plan.defined == ("t.a", "t.f")
    assert make.rows(plan.skipped) == dict.fromkeys(NAMES[1:5], "no_tool_call")


@pytest.mark.parametrize(
    "forced", ["t.g", "tool.call", "tool.result", "mcp.git.log ", "", "x" * 200_000]
)
def test_a_tool_that_the_session_does_not_have_cannot_be_forced(
    make: Any, registry: Any, forced: str
) -> None:
    with pytest.raises(ConfigError, match="cannot be forced") as caught:
        make.plan(searching(make), registry, forced=forced)
    assert caught.value.key == "tool_choice"
    assert len(str(caught.value)) < 500


def test_a_filtered_tool_cannot_be_forced(make: Any, registry: Any) -> None:
    with pytest.raises(ConfigError, match="cannot be forced"):
        make.plan(searching(make), registry, forced="t.b", policy_hidden=frozenset({"t.b"}))


def test_a_forced_tool_beyond_the_caps_is_an_error(make: Any, registry: Any) -> None:
    agent = searching(make, caps=Caps(definitions=2))
    with pytest.raises(ConfigError, match="does not fit the caps") as caught:
        make.plan(agent, registry, forced="t.b")
    assert caught.value.key == "tool_choice"
    tokens = replace(agent, caps=Caps(definition_tokens=250))
    with pytest.raises(ConfigError, match=r"`t\.b`"):
        make.plan(tokens, registry, forced="t.b")
