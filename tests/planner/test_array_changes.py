from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps, Principal
from toolkeeper_planner import array_changes, parse_intent

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(*NAMES, "mcp.git.log")


@pytest.fixture
def agent(make: Any) -> Any:
    return make.agent(
        *NAMES,
        servers=("git",),
        always_defined=("a",),
        deferred_tools=("*",),
        disclosure="search",
        control_tools=("tool.search",),
    )


def prints(registry: Any, *names: str) -> list[tuple[str, str]]:
    return [(name, registry.tools[name].fingerprint) for name in names]


def test_the_first_plan_and_an_equal_plan_change_nothing(
    make: Any, agent: Any, registry: Any
) -> None:
    plan = make.plan(agent, registry)
    assert not array_changes(None, plan)
    assert not array_changes(plan, make.plan(agent, registry))


def test_a_change_outside_the_array_is_none_of_the_array(
    make: Any, agent: Any, registry: Any
) -> None:
    before = make.plan(agent, registry)
    after = make.plan(agent, registry, intent=parse_intent({"disabled": ["c"]}))
    assert before.digest != after.digest
    assert not array_changes(before, after)


def test_loaded_and_unloaded(make: Any, agent: Any, registry: Any) -> None:
    none = make.plan(agent, registry)
    two = make.plan(agent, registry, loaded=prints(registry, "c", "b"))
    changes = array_changes(none, two)
    assert changes.as_json() == {
        "added": ["c", "b"],
        "removed": [],
        "reasons": {"b": "loaded", "c": "loaded"},
    }
    assert array_changes(two, none).as_json() == {
        "added": [],
        "removed": ["c", "b"],
        "reasons": {"b": "unloaded", "c": "unloaded"},
    }


def test_a_loaded_tool_that_the_caps_push_out_says_which_cap(
    make: Any, agent: Any, registry: Any
) -> None:
    loaded = prints(registry, "c")
    roomy = replace(agent, caps=Caps(definitions=3))
    before = make.plan(roomy, registry, loaded=loaded)
    tight = replace(roomy, always_defined=("a", "b"), deferred_tools=("c", "d", "mcp.*"))
    after = make.plan(tight, registry, loaded=loaded)
    assert array_changes(before, after).reasons == {"b": "configuration", "c": "definition_cap"}


def test_forced_for_one_turn(make: Any, agent: Any, registry: Any) -> None:
    plain = make.plan(agent, registry)
    forced = make.plan(agent, registry, forced="d")
    assert array_changes(plain, forced, forced="d").reasons == {"d": "forced"}
    assert array_changes(forced, plain, forced_before="d").reasons == {"d": "forced"}


def test_the_users_toggles(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, overlays={"log": ("mcp.git.log",)})
    plain = make.plan(agent, registry)
    off = make.plan(agent, registry, intent=parse_intent({"disabled": ["b"]}))
    assert array_changes(plain, off).as_json() == {
        "added": [],
        "removed": ["b"],
        "reasons": {"b": "intent"},
    }
    assert array_changes(off, plain).reasons == {"b": "intent"}
    more = make.plan(agent, registry, intent=parse_intent({"overlays": {"log": True}}))
    assert array_changes(plain, more).reasons == {"mcp.git.log": "intent"}


def test_scope_policy_and_quarantine(make: Any) -> None:
    registry = make.registry(make.tool("a", scopes=("mail",)), "b", "c")
    agent = make.agent("a", "b", "c")
    held = Principal("ana", frozenset({"mail"}))
    plain = make.plan(agent, registry, principal=held)
    assert array_changes(plain, make.plan(agent, registry)).reasons == {"a": "scope"}
    hidden = make.plan(agent, registry, principal=held, policy_hidden=frozenset({"b"}))
    assert array_changes(plain, hidden).reasons == {"b": "policy"}
    assert array_changes(hidden, plain).reasons == {"b": "policy"}
    quarantined = replace(registry, quarantined=frozenset({"c"}))
    after = make.plan(agent, quarantined, principal=held)
    assert array_changes(plain, after).reasons == {"c": "quarantined"}


def test_a_server_that_lists_anew_drops_or_changes_a_tool(make: Any) -> None:
    agent = make.agent("a", servers=("git",))
    old = make.registry("a", "mcp.git.log")
    new = make.registry("a", "mcp.git.log", "mcp.git.add")
    before, after = make.plan(agent, old), make.plan(agent, new)
    assert array_changes(before, after).reasons == {"mcp.git.add": "registry"}
    assert array_changes(after, before).reasons == {"mcp.git.add": "registry"}
    changed = make.registry("a", replace(make.tool("mcp.git.log"), fingerprint="f" * 64))
    changes = array_changes(before, make.plan(agent, changed))
    assert changes.as_json() == {
        "added": [],
        "removed": [],
        "redefined": ["mcp.git.log"],
        "reasons": {"mcp.git.log": "registry"},
    }


def test_configuration_and_what_it_pushes_out(make: Any, registry: Any) -> None:
    agent = make.agent("a", "b", caps=Caps(definitions=2))
    before = make.plan(agent, registry)
    after = make.plan(replace(agent, revision="r2", tools=("c", "d")), registry)
    assert array_changes(before, after).reasons == dict.fromkeys(NAMES, "configuration")
    more = make.plan(
        replace(agent, revision="r2", tools=("c", "a", "b"), caps=Caps(definitions=4)), registry
    )
    assert array_changes(before, more).reasons == {"c": "configuration"}
    full = make.plan(replace(agent, tools=("a", "b", "c"), caps=Caps(definitions=2)), registry)
    assert array_changes(before, full).reasons == {
        "a": "definition_cap",
        "b": "definition_cap",
        "tool.call": "deferral",
        "tool.search": "deferral",
    }


def test_another_order_names_the_fewest_that_moved(make: Any, registry: Any) -> None:
    before = make.plan(make.agent(*NAMES), registry)
    after = make.plan(replace(make.agent("d", "a", "b", "c"), revision="r2"), registry)
    changes = array_changes(before, after)
    assert changes.as_json() == {
        "added": [],
        "removed": [],
        "moved": ["d"],
        "reasons": {"d": "configuration"},
    }


def test_what_the_provider_keeps_deferred_is_in_the_array_too(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, disclosure="native", deferred_tools=("c", "d"))
    before = make.plan(agent, registry, native=True)
    gone = make.plan(agent, registry, native=True, policy_hidden=frozenset({"d"}))
    assert array_changes(before, gone).as_json() == {
        "added": [],
        "removed": ["d"],
        "reasons": {"d": "policy"},
    }
    forced = make.plan(agent, registry, native=True, forced="c")
    assert array_changes(before, forced, forced="c").as_json() == {
        "added": [],
        "removed": [],
        "redefined": ["c"],
        "reasons": {"c": "forced"},
    }


def test_another_model_that_cannot_search(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, disclosure="native", deferred_tools=("c", "d"))
    native = make.plan(agent, registry, native=True, loaded=prints(registry, "d"))
    plain = make.plan(agent, registry, loaded=prints(registry, "d"))
    changes = array_changes(native, plain)
    assert changes.reasons == {
        "c": "disclosure",
        "d": "loaded",
        "tool.call": "deferral",
        "tool.search": "deferral",
    }
    assert (changes.removed, changes.redefined) == (("c",), ("d",))
    assert array_changes(plain, native).reasons["c"] == "disclosure"


def test_the_event_carries_the_data(make: Any, agent: Any, registry: Any) -> None:
    changes = array_changes(
        make.plan(agent, registry), make.plan(agent, registry, loaded=prints(registry, "b"))
    )
    event = changes.event(run_id="run_1")
    assert (event.name, event.run_id, dict(event.data)) == (
        "tools.changed",
        "run_1",
        changes.as_json(),
    )
