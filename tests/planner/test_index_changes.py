from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps, Principal
from toolkeeper_planner import array_changes, index_changes, parse_intent

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(*NAMES, "mcp.git.log")


@pytest.fixture
def agent(make: Any) -> Any:
    return make.agent(*NAMES, servers=("git",), deferred_tools=("b", "c"))


def test_the_first_plan_and_an_equal_plan_change_nothing(
    make: Any, agent: Any, registry: Any
) -> None:
    plan = make.plan(agent, registry)
    assert not index_changes(None, plan)
    assert not index_changes(plan, make.plan(agent, registry))


def test_a_change_outside_the_index_is_none_of_the_index(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, servers=("git",), deferred_tools=("b",))
    before = make.plan(agent, registry)
    after = make.plan(agent, registry, intent=parse_intent({"disabled": ["d"]}))
    assert before.digest != after.digest
    assert not index_changes(before, after)


def test_what_the_user_disabled_leaves_the_index(make: Any, agent: Any, registry: Any) -> None:
    before = make.plan(agent, registry)
    after = make.plan(agent, registry, intent=parse_intent({"disabled": ["b"]}))
    assert index_changes(before, after).as_json() == {
        "added": [],
        "removed": ["b"],
        "reasons": {"b": "intent"},
    }
    assert index_changes(after, before).reasons == {"b": "intent"}


def test_an_entry_that_gets_a_definition_says_so(make: Any, agent: Any, registry: Any) -> None:
    before = make.plan(agent, registry)
    after = make.plan(agent, registry, forced="b")
    assert index_changes(before, after).reasons == {"b": "defined"}
    assert index_changes(after, before).reasons == {"b": "defined"}


def test_the_last_entry_takes_the_convention_with_it(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, deferred_tools=("b",))
    before = make.plan(agent, registry)
    after = make.plan(agent, registry, intent=parse_intent({"disabled": ["b"]}))
    changes = index_changes(before, after)
    assert changes.removed == ("b",)
    assert changes.text == ("convention",)
    assert changes.reasons == {"b": "intent", "convention": "intent"}


def test_what_only_a_search_finds_is_a_count(make: Any) -> None:
    agent = make.agent("a", servers=("git",), caps=Caps(definitions=4, index_entries=1))
    old = make.registry("a", *(f"mcp.git.t{n}" for n in range(5)))
    new = make.registry("a", *(f"mcp.git.t{n}" for n in range(6)))
    changes = index_changes(make.plan(agent, old), make.plan(agent, new))
    assert changes.as_json() == {
        "added": [],
        "removed": [],
        "text": ["searchable"],
        "reasons": {"searchable": "registry"},
    }


def test_a_tool_that_trades_places_with_an_entry_says_where_each_stands(make: Any) -> None:
    agent = make.agent("a", "b", servers=("git",), caps=Caps(definitions=4, index_entries=1))
    registry = make.registry("a", "b", *(f"mcp.git.t{n}" for n in range(5)))
    before = make.plan(agent, registry)
    assert before.deferred_names == ("mcp.git.t0",)
    after = make.plan(replace(agent, deferred_tools=("b",)), registry)
    changes = index_changes(before, after)
    assert (changes.added, changes.removed) == (("b",), ("mcp.git.t0",))
    assert changes.reasons == {"b": "defined", "mcp.git.t0": "defined"}
    crowded = make.plan(replace(agent, deferred_tools=("mcp.git.t3",)), registry)
    changes = index_changes(before, crowded)
    assert changes.reasons == {"mcp.git.t0": "searchable", "mcp.git.t3": "searchable"}


def test_a_listing_anew_and_a_changed_definition_are_the_registrys(make: Any) -> None:
    agent = make.agent("a", servers=("git",), deferred_tools=("mcp.*",))
    old = make.registry("a", "mcp.git.log")
    new = make.registry("a", "mcp.git.log", "mcp.git.add")
    before, after = make.plan(agent, old), make.plan(agent, new)
    assert index_changes(before, after).reasons == {"mcp.git.add": "registry"}
    assert index_changes(after, before).reasons == {"mcp.git.add": "registry"}
    changed = make.registry("a", replace(make.tool("mcp.git.log"), fingerprint="f" * 64))
    changes = index_changes(before, make.plan(agent, changed))
    assert changes.as_json()["redefined"] == ["mcp.git.log"]
    assert changes.reasons == {"mcp.git.log": "registry"}


def test_a_bare_name_is_never_redefined(make: Any) -> None:
    agent = make.agent("a", servers=("git",), deferred_tools=("mcp.*",), listing="names")
    old = make.registry("a", "mcp.git.log")
    new = make.registry("a", replace(make.tool("mcp.git.log"), fingerprint="f" * 64))
    assert not index_changes(make.plan(agent, old), make.plan(agent, new))


def test_scope_and_policy_tell_themselves(make: Any) -> None:
    registry = make.registry(make.tool("a", scopes=("mail",)), "b", "c")
    agent = make.agent("a", "b", "c", deferred_tools=("a", "b"))
    held = Principal("ana", frozenset({"mail"}))
    plain = make.plan(agent, registry, principal=held)
    assert index_changes(plain, make.plan(agent, registry)).reasons == {"a": "scope"}
    hidden = make.plan(agent, registry, principal=held, policy_hidden=frozenset({"b"}))
    assert index_changes(plain, hidden).reasons == {"b": "policy"}


def test_another_way_to_list_is_a_change_of_disclosure(
    make: Any, agent: Any, registry: Any
) -> None:
    before = make.plan(agent, registry)
    after = make.plan(replace(agent, listing="none"), registry)
    changes = index_changes(before, after)
    assert changes.removed == before.deferred_names
    assert set(changes.reasons.values()) <= {"disclosure", "searchable"}
    bare = index_changes(before, make.plan(replace(agent, listing="names"), registry))
    assert bare.redefined == before.deferred_names
    assert set(bare.reasons.values()) == {"disclosure"}


def test_switching_one_tool_off_does_not_explain_that_another_vanished(make: Any) -> None:
    agent = make.agent("a", "b", servers=("git",))
    old, new = make.registry("a", "b", "mcp.git.log"), make.registry("a", "b")
    off = parse_intent({"disabled": ["b"]})
    before, after = make.plan(agent, old), make.plan(agent, new, intent=off)
    assert array_changes(before, after).reasons == {"b": "intent", "mcp.git.log": "registry"}
    assert array_changes(after, before).reasons == {"b": "intent", "mcp.git.log": "registry"}
    picked = make.plan(agent, new, intent=parse_intent(["a"]))
    assert array_changes(before, picked).reasons == {"b": "intent", "mcp.git.log": "intent"}


def test_a_search_that_begins_to_load_is_described_otherwise(make: Any, registry: Any) -> None:
    agent = make.agent(*NAMES, deferred_tools=("b", "c"))
    before = make.plan(agent, registry)
    after = make.plan(replace(agent, disclosure="search"), registry)
    changes = array_changes(before, after)
    assert changes.redefined == ("tool.search",)
    assert changes.reasons == {"tool.search": "disclosure"}
