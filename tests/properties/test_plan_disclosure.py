"""Which promises do plans keep for loaded, forced, granted and pinned tools?"""

import os
import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import orjson
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from toolkeeper_contract import (
    Caps,
    Classification,
    ConfigError,
    Plan,
    Principal,
    Registry,
    SideEffect,
    SourceKind,
    SourceState,
    SourceStatus,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_planner import (
    AgentProfile,
    PinRule,
    array_changes,
    build_plan,
    diff_plans,
    parse_intent,
    planned_event,
)

OURS = [f"a.{letter}" for letter in "bcdefg"]
THEIRS = [f"mcp.{server}.{name}" for server in ("s1", "s2") for name in ("x", "y", "z")]
NAMES = [*OURS, *THEIRS]
FOUND = "find_tools"


class SizePrices:
    """A definition costs what its description is long, a line less, any other text its lines."""

    def definition(self, tool: Tool) -> int:
        return 5 + len(tool.definition.description)

    def index_line(self, tool: Tool) -> int:
        return 2 + len(tool.definition.description) % 7

    def text(self, text: str) -> int:
        return 1 + text.count("\n")


def tool_of(name: str, size: int, reads: bool) -> Tool:
    kind, source, raw = SourceKind.FUNCTION, "functions", name
    if name.startswith("mcp."):
        _, source, raw = name.split(".")
        kind = SourceKind.MCP
    effect = SideEffect.NETWORK_READ if reads else SideEffect.NETWORK_WRITE
    return Tool.of(
        ToolIdentity(kind, source, raw),
        ToolDefinition(raw, None, "d" * size, {"type": "object"}),
        Classification(effect, frozenset(), "rule"),
    )


few = st.lists(st.sampled_from(NAMES), max_size=3, unique=True)
many = st.lists(st.sampled_from(NAMES), max_size=9, unique=True)
cases = st.fixed_dictionaries(
    {
        "sizes": st.lists(st.integers(0, 60), min_size=12, max_size=12),
        "reads": st.lists(st.booleans(), min_size=12, max_size=12),
        "tools": st.permutations(OURS),
        "always": few,
        "deferred": st.sampled_from([(), ("*",), ("*",), ("*",), ("a.*",), ("mcp.*", "a.b")]),
        "controls": st.sampled_from(
            [("tool.call", "tool.search", "tool.result"), ("tool.search",), ("tool.call",), ()]
        ),
        "disclosure": st.sampled_from(["index", "search", "search", "native"]),
        "listing": st.sampled_from(["index", "names", "none"]),
        "native": st.booleans(),
        "caps": st.tuples(
            st.integers(3, 14), st.integers(900, 1_500), st.integers(0, 12), st.integers(0, 60)
        ),
        "pin": st.lists(st.sampled_from([*NAMES, "a.*", "mcp.s1.*", "*.x"]), max_size=2),
        "website": st.booleans(),
        "intent": st.one_of(st.none(), st.none(), many, st.builds(lambda x: {"disabled": x}, few)),
        "hidden": few,
        "offload": st.booleans(),
    }
)
modest = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def agent_of(case: dict[str, Any]) -> AgentProfile:
    return AgentProfile(
        "chat",
        "r1",
        tools=tuple(case["tools"]),
        servers=("s1", "s2"),
        always_defined=tuple(case["always"]),
        deferred_tools=tuple(case["deferred"]),
        control_tools=tuple(case["controls"]),
        disclosure=case["disclosure"],
        listing=case["listing"],
        search_name=FOUND,
        pin=(PinRule({"website": "*"}, tuple(case["pin"])),) if case["pin"] else (),
        caps=Caps(*case["caps"]),
    )


def registry_of(case: dict[str, Any], seed: int = 0) -> Registry:
    """The case's tools; `seed` decides only in which order they are listed."""
    specs = zip(NAMES, case["sizes"], case["reads"], strict=True)
    tools = [tool_of(name, size, reads) for name, size, reads in specs]
    random.Random(seed).shuffle(tools)
    return Registry(
        {tool.name: tool for tool in tools},
        sources=tuple(SourceStatus(name, SourceState.OK) for name in ("s1", "s2")),
    )


def plan_of(case: dict[str, Any], **changes: Any) -> Plan:
    arguments: dict[str, Any] = {
        "agent": agent_of(case),
        "registry": registry_of(case),
        "principal": Principal("ana"),
        "pricing": SizePrices(),
        "provider": "generic",
        "intent": parse_intent(case["intent"]),
        "attributes": {"website": "shop"} if case["website"] else {},
        "policy_hidden": frozenset(case["hidden"]),
        "results_offloadable": case["offload"],
        "native": case["native"],
    }
    return build_plan(**arguments | changes)


def plan_or_reject(case: dict[str, Any], **changes: Any) -> Plan:
    try:
        return plan_of(case, **changes)
    except ConfigError:
        assume(False)
        raise


def prints(case: dict[str, Any], names: list[str]) -> list[tuple[str, str]]:
    tools = registry_of(case).tools
    return [(name, tools[name].fingerprint) for name in names]


def check(plan: Plan) -> None:
    """Conservation and caps, worked out from the plan alone."""
    ended = [
        *(name for name in plan.defined if name in NAMES),
        *plan.deferred_names,
        *plan.searchable,
        *(row.name for row in (*plan.skipped, *plan.filtered)),
    ]
    assert len(ended) == len(set(ended))
    assert set(NAMES) <= set(ended)
    pinned = {*(n for n in plan.defined if n in NAMES), *plan.deferred_names, *plan.searchable}
    assert set(plan.pins) == pinned
    costs, caps = plan.costs, plan.caps
    assert len(plan.defined) == len(set(plan.defined)) <= caps.definitions
    assert costs.definition_tokens <= caps.definition_tokens
    assert costs.definition_tokens == sum(costs.tools[name] for name in plan.defined)
    assert costs.index_tokens == sum(costs.tools[name] for name in plan.deferred_names)
    assert set(costs.tools) == {*plan.defined, *plan.deferred_names}
    if plan.disclosure.used == "native":
        assert (plan.listing, plan.searchable) == ("none", ())
        assert (costs.index_tokens, costs.index_overhead_tokens) == (0, 0)
        assert set(plan.controls) <= {"tool.result"}
        return
    if plan.deferred:
        assert costs.index_tokens + costs.index_overhead_tokens <= caps.index_tokens
    if plan.listing == "index":
        assert len(plan.deferred) <= caps.index_entries
    if plan.listing == "none":
        assert (plan.deferred, costs.index_overhead_tokens) == ((), 0)
    if plan.searchable:
        assert FOUND in plan.controls
    if plan.deferred:
        assert "tool.call" in plan.controls or plan.disclosure.used == "search"
    assert {row.name for row in plan.overflow} <= {*plan.deferred_names, *plan.searchable}
    assert plan.loaded == () or plan.defined[: -len(plan.loaded)] != plan.defined
    assert "tool.search" not in plan.defined


@modest
@given(case=cases, loaded=many)
def test_every_plan_accounts_for_its_tools_within_its_caps(
    case: dict[str, Any], loaded: list[str]
) -> None:
    plan = plan_or_reject(case, loaded=prints(case, loaded))
    check(plan)
    assert Plan.from_body(orjson.loads(orjson.dumps(plan.body()))) == plan
    assert plan_of(case, loaded=prints(case, loaded)).digest == plan.digest


@modest
@given(case=cases, loaded=many)
def test_loading_appends_and_moves_nothing_else(case: dict[str, Any], loaded: list[str]) -> None:
    before = plan_or_reject(case)
    plan = plan_of(case, loaded=prints(case, loaded))
    assert plan.defined == (*before.defined, *plan.loaded)
    assert [name for name in loaded if name in plan.loaded] == list(plan.loaded)
    assert not set(plan.loaded) & {*plan.deferred_names, *plan.searchable}
    # Nothing that could be called is lost, and the array grows with each load.
    assert set(before.pins) <= set(plan.pins)
    more = plan_of(case, loaded=prints(case, [*loaded, *NAMES]))
    assert more.defined[: len(plan.defined)] == plan.defined
    if case["disclosure"] == "index":
        assert plan.digest == before.digest
    for placed in plan.overflow:
        free = plan.caps.definitions - len(plan.defined)
        assert placed.name in loaded
        if placed.reason.value == "definition_tokens":
            assert free >= 0
    changes = array_changes(before, plan)
    assert (changes.added, changes.removed, changes.moved) == (plan.loaded, (), ())
    assert set(changes.reasons.values()) <= {"loaded"}


@modest
@given(case=cases, loaded=many)
def test_what_is_loaded_with_another_fingerprint_counts_for_nothing(
    case: dict[str, Any], loaded: list[str]
) -> None:
    before = plan_or_reject(case)
    forged = [(name, "0" * 64) for name in loaded] + [("a.nope", "1" * 64), (FOUND, "")]
    assert plan_of(case, loaded=forged).digest == before.digest


@modest
@given(case=cases, loaded=many, forced=st.sampled_from(NAMES))
def test_a_forced_tool_is_defined_and_costs_nobody_a_capability_that_can_be_found(
    case: dict[str, Any], loaded: list[str], forced: str
) -> None:
    before = plan_or_reject(case, loaded=prints(case, loaded))
    plan = before
    try:
        plan = plan_of(case, loaded=prints(case, loaded), forced=forced)
    except ConfigError as error:
        fault = error.key
    else:
        fault = None
    if fault is not None:
        assert fault == "tool_choice"
        assert forced not in before.defined
        return
    check(plan)
    assert forced in plan.defined
    if forced in before.defined:
        assert plan.digest == before.digest
    else:
        assert plan.defined[-1] == forced
        assert array_changes(before, plan, forced=forced).reasons[forced] == "forced"
    if "tool.search" in case["controls"] or plan.disclosure.used == "native":
        assert set(before.pins) <= set(plan.pins)


@modest
@given(case=cases, brief=st.one_of(st.none(), many), caps=st.integers(2, 14))
def test_a_child_has_a_subset_of_its_parents_pins(
    case: dict[str, Any], brief: list[str] | None, caps: int
) -> None:
    parent = plan_or_reject(case)
    profile = agent_of(case)
    narrow = replace(
        profile, always_defined=(), pin=(), caps=replace(profile.caps, definitions=caps)
    )
    child = plan_or_reject(case, agent=narrow, granted=parent.pins, intent=parse_intent(brief))
    assert child.pins.items() <= parent.pins.items()
    asked = set(NAMES if brief is None else brief)
    reachable = set(child.pins) | {row.name for row in child.skipped}
    assert reachable == set(parent.pins) & asked
    lacking = {row.name for row in child.filtered if row.reason.value == "not_permitted"}
    assert asked - set(parent.pins) <= lacking
    assert all(row.reason.value != "configured" for row in child.deferred)
    if len(reachable) + 3 <= caps and child.skipped == ():
        assert reachable <= set(child.defined)


@modest
@given(case=cases)
def test_pinned_tools_come_first_and_are_never_deferred_by_configuration(
    case: dict[str, Any],
) -> None:
    plan = plan_or_reject(case)
    bare = plan_or_reject({**case, "pin": []})
    assert {*plan.pins, *(row.name for row in plan.skipped)} == {
        *bare.pins,
        *(row.name for row in bare.skipped),
    }
    if not case["website"] or not case["pin"]:
        assert plan.digest == bare.digest
        return
    named = {
        name
        for pattern in case["pin"]
        for name in NAMES
        if name == pattern
        or (pattern == "a.*" and name in OURS)
        or (pattern == "mcp.s1.*" and name.startswith("mcp.s1."))
        or (pattern == "*.x" and name.endswith(".x"))
    }
    for row in plan.deferred:
        assert row.name not in named or row.reason.value != "configured"
    exact = {pattern for pattern in case["pin"] if "*" not in pattern}
    assert exact & set(plan.pins) <= set(plan.defined)
    defined = [name for name in plan.defined if name in NAMES and name not in plan.loaded]
    places = [name in named for name in defined]
    assert places == sorted(places, reverse=True)


def entries(plan: Plan) -> list[tuple[str, bool]]:
    """The tools array, each name with whether the provider keeps it deferred."""
    deferred = plan.deferred_names if plan.disclosure.used == "native" else ()
    return [*((name, False) for name in plan.defined), *((name, True) for name in deferred)]


@modest
@given(case=cases, other=cases)
def test_a_difference_has_everything_that_differs(case: Any, other: Any) -> None:
    before = plan_or_reject(case)
    after = plan_or_reject({**other, "sizes": case["sizes"]})
    diff, changes = diff_plans(before, after), array_changes(before, after)
    assert diff.same == (before.digest == after.digest)
    assert diff.array == bool(changes) == (entries(before) != entries(after))
    named = {tool.name for tool in (*diff.moved, *diff.added, *diff.removed)}
    if before.disclosure.used == after.disclosure.used:
        assert {*changes.added, *changes.removed} <= named
    assert set(changes.reasons) == {
        *changes.added,
        *changes.removed,
        *changes.redefined,
        *changes.moved,
    }
    after_all = [name for name, _ in entries(before) if name not in changes.removed]
    stable = [name for name in after_all if name not in changes.moved]
    assert stable == [
        name
        for name, _ in entries(after)
        if name not in changes.added and name not in changes.moved
    ]
    assert orjson.loads(orjson.dumps(diff.as_json())) == diff.as_json()


PROBE = """
import importlib.util, sys
import orjson
spec = importlib.util.spec_from_file_location("plan_disclosure", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
many, loaded, seed = orjson.loads(sys.stdin.buffer.read())
sys.stdout.buffer.write(module.story(many, loaded, seed))
"""


def story(many: list[dict[str, Any]], loaded: list[str], seed: int) -> bytes:
    """The events, differences and changes of a row of plans, each after the one before it."""
    told: list[Any] = []
    before: Plan | None = None
    for case in many:
        try:
            plan = plan_of(case, registry=registry_of(case, seed), loaded=prints(case, loaded))
        except ConfigError as error:
            told.append(str(error))
            continue
        told += [plan.body(), dict(planned_event(plan).data)]
        told.append(array_changes(before, plan).as_json())
        if before is not None:
            told.append(diff_plans(before, plan).as_json())
        before = plan
    return orjson.dumps(told)


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(cases, min_size=10, max_size=20), many, st.integers(1, 2**32 - 1))
def test_another_process_with_another_hash_seed_and_order_tells_the_same(
    row: list[dict[str, Any]], loaded: list[str], seed: int
) -> None:
    elsewhere = subprocess.run(
        [sys.executable, "-c", PROBE, __file__],
        input=orjson.dumps([row, loaded, seed]),
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert elsewhere.stdout == story(row, loaded, 0)
