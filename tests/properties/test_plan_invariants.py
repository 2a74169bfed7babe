"""Which promises does every plan keep, whatever the configuration, the tools and the caps?"""

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
    CONTROL_TOOLS,
    Caps,
    Classification,
    ConfigError,
    Plan,
    Principal,
    Reason,
    Registry,
    SideEffect,
    SourceKind,
    SourceState,
    SourceStatus,
    Tool,
    ToolDefinition,
    ToolIdentity,
    matches,
)
from toolkeeper_planner import AgentProfile, build_plan, parse_intent

FUNCTIONS = [f"{group}.{verb}" for group in ("a", "b", "c") for verb in ("get", "put", "run")]
SERVERS = ["s1", "s2", "s10"]
PUBLISHED = [f"mcp.{server}.{name}" for server in SERVERS for name in ("x", "X", "y", "z")]
NAMES = [*FUNCTIONS, *PUBLISHED]


class SizePrices:
    """Prices that depend on the description's length, which the strategies choose."""

    def definition(self, tool: Tool) -> int:
        return 5 + len(tool.definition.description)

    def index_line(self, tool: Tool) -> int:
        return 2 + len(tool.definition.description) % 7

    def text(self, text: str) -> int:
        return text.count("\n")


def make_tool(spec: dict[str, Any]) -> Tool:
    name = spec["name"]
    kind, source, raw = SourceKind.FUNCTION, "functions", name
    if name.startswith("mcp."):
        _, source, raw = name.split(".", 2)
        kind = SourceKind.MCP
    return Tool.of(
        ToolIdentity(kind, source, raw),
        ToolDefinition(raw, None, "d" * spec["size"], {"type": "object"}),
        Classification(SideEffect(spec["side_effect"]), frozenset(), "rule"),
        scopes=tuple(spec["scopes"]),
        deferred=spec["deferred"],
    )


def make_plan(case: dict[str, Any], order: list[int] | None = None, **changes: Any) -> Plan:
    """The plan of a case that is plain JSON, with the registry in any order."""
    specs = case["tools"] if order is None else [case["tools"][place] for place in order]
    tools = [make_tool(spec) for spec in specs]
    lists: dict[str, Any] = {key: tuple(value) for key, value in case["agent"].items()}
    agent = AgentProfile(
        "chat",
        "r1",
        **lists,
        caps=Caps(*case["caps"]),
        toolsets={"set": tuple(case["set"])},
        overlays={"web": tuple(case["web"])},
    )
    arguments: dict[str, Any] = {
        "agent": agent,
        "registry": Registry(
            {tool.name: tool for tool in tools},
            sources=tuple(SourceStatus(name, SourceState.OK) for name in SERVERS),
            quarantined=frozenset(case["quarantined"]),
        ),
        "principal": Principal("ana", frozenset(case["scopes"])),
        "pricing": SizePrices(),
        "provider": "generic",
        "intent": parse_intent(case["intent"]),
        "policy_hidden": frozenset(case["hidden"]),
        "results_offloadable": case["offload"],
    }
    return build_plan(**arguments | changes)


def plan_or_reject(case: dict[str, Any], **changes: Any) -> Plan:
    try:
        return make_plan(case, **changes)
    except ConfigError:
        # The caps cannot hold the control tools or what is always defined.
        assume(False)
        raise


some = st.lists(st.sampled_from(NAMES), max_size=8)
few = st.one_of(st.builds(list[str]), st.lists(st.sampled_from(NAMES), max_size=2))
governance = st.fixed_dictionaries(
    {
        "size": st.integers(0, 60),
        "side_effect": st.sampled_from([effect.value for effect in SideEffect]),
        "scopes": st.sampled_from([[], [], [], ["mail"], ["mail", "pay"]]),
        "deferred": st.sampled_from([False, False, False, True]),
    }
)


@st.composite
def tool_specs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Most tools exist: a plan with room for all of them says little."""
    gone = draw(st.one_of(st.just([]), some))
    return [{"name": name, **draw(governance)} for name in NAMES if name not in gone]


intents = st.one_of(
    st.none(),
    st.none(),
    some,
    st.fixed_dictionaries(
        {},
        optional={
            "enabled": st.sampled_from([None, True, False]),
            "toolset": st.sampled_from([None, "set", "nope"]),
            "allowed": st.one_of(st.none(), some),
            "disabled": some,
            "overlays": st.fixed_dictionaries(
                {}, optional={"web": st.booleans(), "gone": st.booleans()}
            ),
        },
    ),
)
cases = st.fixed_dictionaries(
    {
        "tools": tool_specs(),
        "agent": st.fixed_dictionaries(
            {
                "tools": st.permutations(FUNCTIONS).flatmap(
                    lambda names: some.map(lambda more: [*names[: 9 - len(more)], *more])
                ),
                "servers": st.sampled_from([SERVERS, SERVERS[::-1], SERVERS[1:], []]),
                "always_defined": few,
                "deferred_tools": st.lists(
                    st.sampled_from([*NAMES, "*", "a.*", "mcp.s1.*", "*.x"]), max_size=3
                ),
                "control_tools": st.sampled_from(
                    [CONTROL_TOOLS, CONTROL_TOOLS[:2], CONTROL_TOOLS[:1], CONTROL_TOOLS[1:2], ()]
                ),
            }
        ),
        "caps": st.tuples(
            st.integers(3, 14), st.integers(900, 1_400), st.integers(0, 12), st.integers(0, 90)
        ),
        "set": some,
        "web": few,
        "quarantined": few,
        "hidden": few,
        "scopes": st.sampled_from([[], ["mail"], ["mail", "pay"]]),
        "intent": intents,
        "offload": st.booleans(),
    }
)

modest = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@modest
@given(cases)
def test_every_tool_that_is_brought_up_ends_in_exactly_one_place(case: dict[str, Any]) -> None:
    plan = plan_or_reject(case)
    own = {name for key in ("tools", "always_defined") for name in case["agent"][key]}
    own |= {
        spec["name"]
        for spec in case["tools"]
        if spec["name"].startswith(tuple(f"mcp.{server}." for server in case["agent"]["servers"]))
    }
    ended = [
        *(name for name in plan.defined if name not in CONTROL_TOOLS),
        *plan.deferred_names,
        *plan.searchable,
        *(row.name for row in plan.skipped),
        *(row.name for row in plan.filtered),
    ]
    assert len(ended) == len(set(ended))
    assert own <= set(ended)
    known = {spec["name"] for spec in case["tools"]}
    assert set(plan.pins) <= known - set(case["hidden"]) - set(case["quarantined"])


@modest
@given(cases)
def test_no_cap_is_ever_exceeded(case: dict[str, Any]) -> None:
    plan = plan_or_reject(case)
    costs = plan.costs
    assert len(plan.defined) <= plan.caps.definitions
    assert costs.definition_tokens <= plan.caps.definition_tokens
    assert len(plan.deferred) <= plan.caps.index_entries
    if plan.deferred:
        assert costs.index_tokens + costs.index_overhead_tokens <= plan.caps.index_tokens
    assert costs.definition_tokens == sum(costs.tools[name] for name in plan.defined)
    assert costs.index_tokens == sum(costs.tools[name] for name in plan.deferred_names)
    assert set(costs.tools) == {*plan.defined, *plan.deferred_names}


@modest
@given(cases)
def test_definitions_and_index_keep_the_rank_order(case: dict[str, Any]) -> None:
    plan = plan_or_reject(case)
    agent = case["agent"]
    written = list(dict.fromkeys([*agent["always_defined"], *agent["tools"]]))
    effects = {spec["name"]: SideEffect(spec["side_effect"]) for spec in case["tools"]}

    def rank(name: str) -> tuple[Any, ...]:
        if name in written:
            return (0, written.index(name))
        if name.startswith("mcp.") and name.split(".")[1] in agent["servers"]:
            _, source, raw = name.split(".", 2)
            return (2, not effects[name].reads, source, raw)
        # Only a toolset or an overlay brings it in: after the agent's own, in their order.
        extra = list(dict.fromkeys([*case["set"], *case["web"]]))
        return (1, extra.index(name))

    defined = [name for name in plan.defined if name not in CONTROL_TOOLS]
    assert defined == sorted(defined, key=rank)
    configured = [row.name for row in plan.deferred if row.reason is Reason.CONFIGURED]
    overflow = [row.name for row in plan.deferred if row.reason is not Reason.CONFIGURED]
    assert list(plan.deferred_names) == configured + overflow
    assert configured == sorted(configured, key=rank)
    assert overflow == sorted(overflow, key=rank)


@modest
@given(cases)
def test_control_tools_are_advertised_exactly_where_they_carry_weight(
    case: dict[str, Any],
) -> None:
    plan = plan_or_reject(case)
    has = set(case["agent"]["control_tools"])
    bridges = {"tool.call", "tool.search"} & set(plan.controls)
    assert bridges <= has
    assert bool(plan.deferred or plan.searchable) == bool(bridges)
    assert not plan.deferred or "tool.call" in bridges
    assert not plan.searchable or "tool.search" in bridges
    if "tool.result" in plan.controls:
        assert case["offload"]
        assert "tool.result" in has
    if not has:
        assert {row.reason for row in plan.skipped} <= {
            Reason.NO_TOOL_CALL,
            Reason.SOURCE_UNAVAILABLE,
        }


@modest
@given(cases)
def test_what_configuration_defers_is_defined_only_where_nothing_can_be_deferred(
    case: dict[str, Any],
) -> None:
    plan = plan_or_reject(case)
    patterns = case["agent"]["deferred_tools"]
    wishing = {spec["name"] for spec in case["tools"] if spec["deferred"]}
    for name in plan.defined:
        deferred = name in wishing or any(matches(pattern, name) for pattern in patterns)
        if deferred and name not in CONTROL_TOOLS:
            assert name in case["agent"]["always_defined"] or "tool.call" not in plan.controls


@modest
@given(cases)
def test_a_plan_is_rebuilt_from_its_body_with_the_same_digest(case: dict[str, Any]) -> None:
    plan = plan_or_reject(case)
    assert Plan.from_body(orjson.loads(orjson.dumps(plan.body()))).digest == plan.digest


@modest
@given(
    configured=st.integers(0, 12),
    reads=st.integers(0, 12),
    slots=st.integers(2, 16),
    wish=st.sets(st.integers(0, 11)),
)
def test_one_more_configured_tool_moves_the_lowest_definition_and_evicts_nothing(
    configured: int, reads: int, slots: int, wish: set[int]
) -> None:
    names = [f"t.{number:02}" for number in range(configured + 1)]
    found = [f"mcp.s1.r{number:02}" for number in range(reads)]
    spec = {"size": 10, "side_effect": "none", "scopes": [], "deferred": False}
    registry = Registry(
        {name: make_tool({**spec, "name": name}) for name in (*names, *found)},
        sources=(SourceStatus("s1", SourceState.OK),),
    )
    agent = AgentProfile(
        "chat",
        "r1",
        tools=tuple(names[:-1]),
        servers=("s1",),
        deferred_tools=tuple(names[number] for number in sorted(wish) if number < configured),
        control_tools=("tool.call",),
        caps=Caps(slots, 100_000, 100, 100_000),
    )

    def build(agent: AgentProfile) -> Plan:
        return build_plan(
            agent=agent,
            registry=registry,
            principal=Principal("ana"),
            pricing=SizePrices(),
            provider="generic",
        )

    before, after = build(agent), build(replace(agent, tools=tuple(names)))
    assert set(after.pins) == {*before.pins, names[-1]}
    assert (after.skipped, after.filtered) == ((), ())
    definitions = [name for name in before.defined if name not in CONTROL_TOOLS]
    moved = [name for name in definitions if name not in after.defined]
    # The first tool too many costs the slot of `tool.call` besides its own.
    most = 1 if before.controls else 2
    assert len(moved) <= most
    assert moved == definitions[len(definitions) - len(moved) :]
    assert set(moved) <= set(after.deferred_names)
    assert not set(before.deferred_names) & set(after.defined)


@modest
@given(case=cases, newcomer=st.sampled_from(FUNCTIONS))
def test_where_overflow_can_be_searched_a_newcomer_takes_nobodys_place(
    case: dict[str, Any], newcomer: str
) -> None:
    agent = {**case["agent"], "control_tools": CONTROL_TOOLS}
    agent["tools"] = [name for name in agent["tools"] if name != newcomer]
    case = {**case, "agent": agent, "intent": None}
    before = plan_or_reject(case)
    more = {**agent, "tools": [*agent["tools"], newcomer]}
    after = plan_or_reject({**case, "agent": more})
    assert set(before.pins) <= set(after.pins) <= {*before.pins, newcomer}


PROBE = """
import importlib.util, sys
import orjson
spec = importlib.util.spec_from_file_location("plan_invariants", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for case, order in orjson.loads(sys.stdin.buffer.read()):
    sys.stdout.buffer.write(orjson.dumps(module.body_of(case, order)) + b"\\n")
"""


def body_of(case: dict[str, Any], order: list[int]) -> Any:
    """The plan's body, or the message of the configuration error."""
    try:
        plan = make_plan(case, order)
    except ConfigError as error:
        return str(error)
    return {"digest": plan.digest, **plan.body()}


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(cases, min_size=10, max_size=30), st.integers(0, 2**32 - 1))
def test_another_process_with_another_hash_seed_and_order_gives_the_same_bytes(
    many: list[dict[str, Any]], seed: int
) -> None:
    mixer = random.Random(seed)
    orders = [mixer.sample(range(len(case["tools"])), len(case["tools"])) for case in many]
    here = b"".join(
        orjson.dumps(body_of(case, list(range(len(case["tools"]))))) + b"\n" for case in many
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", PROBE, __file__],
        input=orjson.dumps(list(zip(many, orders, strict=True))),
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert elsewhere.stdout == here
