"""Does the planner give exactly the plan that the design works out by hand?

The golden files hold whole plan bodies under fixed prices, so that a better estimator does not
move them. `REGENERATE=1` writes them anew; look at the difference before it is kept.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolkeeper_contract import (
    CONTROL_TOOLS,
    Caps,
    Classification,
    Plan,
    Principal,
    Reason,
    Registry,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_planner import AgentProfile, Prices, build_plan
from toolkeeper_planner.tokens import estimate

GOLDEN = Path(__file__).parent

DEFERRALS = (
    "schedule.update",
    "schedule.pause",
    "schedule.resume",
    "schedule.cancel",
    "email.subscriptions",
    "email.unsubscribe",
)
BLAND_READS = ("mcp.bland_read.get_call", "mcp.bland_read.list_calls")
GMAIL_READS = tuple(
    f"mcp.{account}.{name}"
    for account in ("gmail_home", "gmail_work")
    for name in ("get_message", "list_labels", "search_messages")
)
GMAIL_CHANGES = tuple(
    f"mcp.{account}.{name}"
    for account in ("gmail_home", "gmail_work")
    for name in (
        "create_label",
        "forward_message",
        "modify_labels",
        "send_message",
        "trash_message",
    )
)
OVERFLOW = ("mcp.bland_call.start_call", *GMAIL_CHANGES)


class FixedPrices:
    """190 tokens a definition, 45 an index line, 8 a name, 60 other text, but for `dear` tools."""

    def __init__(self, dear: dict[str, int] | None = None) -> None:
        self.dear = dear or {}

    def definition(self, tool: Tool) -> int:
        return self.dear.get(tool.name, 190)

    def index_line(self, tool: Tool) -> int:
        return 45

    def text(self, text: str) -> int:
        return 8 if text.count("\n") == 1 and text.endswith("\n") else 60


class PlainFormat:
    """A definition as plain JSON."""

    name = "plain"

    def texts(self, tool: Tool) -> tuple[str, ...]:
        definition = tool.definition
        return (
            json.dumps(
                {
                    "name": tool.name,
                    "description": definition.description,
                    "parameters": definition.input_schema,
                }
            ),
        )


def planned(roster: Any, agent: AgentProfile | None = None, **changes: Any) -> Plan:
    arguments: dict[str, Any] = {
        "agent": agent or roster.agent,
        "registry": roster.registry,
        "principal": Principal("ana"),
        "pricing": FixedPrices(),
        "provider": "generic",
    }
    return build_plan(**arguments | changes)


def assert_golden(plan: Plan, name: str) -> None:
    text = json.dumps(plan.body(), indent=1, ensure_ascii=False) + "\n"
    path = GOLDEN / f"{name}.json"
    if os.environ.get("REGENERATE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def configured_after(roster: Any, *gone: str) -> tuple[str, ...]:
    return tuple(name for name in roster.agent.tools if name not in gone)


def names(placed: Any) -> tuple[str, ...]:
    return tuple(row.name for row in placed)


def discovered_tool(server: str, name: str) -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.MCP, server, name),
        ToolDefinition(name, None, "Reads everything.", {"type": "object"}),
        Classification(SideEffect.NETWORK_READ, frozenset(), "rule"),
    )


def test_the_example_defines_thirty_indexes_seventeen_and_skips_nothing(roster: Any) -> None:
    plan = planned(roster)
    assert len(roster.registry.tools) == 46
    assert plan.defined == (
        *configured_after(roster, *DEFERRALS),
        "tool.call",
        *BLAND_READS,
        *GMAIL_READS,
    )
    assert len(plan.defined) == 30
    assert plan.deferred_names == (*DEFERRALS, *OVERFLOW)
    assert len(plan.deferred) == 17
    assert [row.reason for row in plan.deferred] == [
        *[Reason.CONFIGURED] * 6,
        *[Reason.DEFINITION_CAP] * 11,
    ]
    assert (plan.skipped, plan.filtered, plan.searchable) == ((), (), ())
    assert_golden(plan, "plan_worked_example")


def test_the_example_comes_out_the_same_with_estimated_prices(roster: Any) -> None:
    plan = planned(roster, pricing=Prices(PlainFormat(), estimate))
    assert (len(plan.defined), len(plan.deferred), plan.skipped) == (30, 17, ())
    assert plan.defined == planned(roster).defined
    assert plan.deferred == planned(roster).deferred
    assert 0 < plan.costs.definition_tokens <= 9_000
    assert 0 < plan.costs.index_tokens + plan.costs.index_overhead_tokens <= 2_000


def test_without_the_six_deferrals_more_of_the_discovered_ones_are_indexed(roster: Any) -> None:
    plan = planned(roster, replace(roster.agent, deferred_tools=()))
    assert plan.defined == (*roster.agent.tools, "tool.call", *BLAND_READS)
    assert len(plan.defined) == 30
    assert plan.deferred_names == (*GMAIL_READS, *OVERFLOW)
    assert {row.reason for row in plan.deferred} == {Reason.DEFINITION_CAP}
    assert plan.skipped == ()
    assert_golden(plan, "plan_without_deferrals")


def test_without_tool_call_nothing_is_deferred_and_the_skips_are_recorded(roster: Any) -> None:
    plan = planned(roster, replace(roster.agent, control_tools=()))
    assert plan.defined == (*roster.agent.tools, *BLAND_READS, GMAIL_READS[0])
    assert len(plan.defined) == 30
    assert plan.deferred == ()
    assert names(plan.skipped) == (*GMAIL_READS[1:], *OVERFLOW)
    assert {row.reason for row in plan.skipped} == {Reason.NO_TOOL_CALL}
    assert not set(names(plan.skipped)) & set(plan.pins)
    assert_golden(plan, "plan_without_tool_call")


def test_thirty_one_configured_tools_overflow_into_the_index_in_their_order(roster: Any) -> None:
    more = [
        replace(
            roster.registry.tools["notes.read"],
            identity=ToolIdentity(SourceKind.FUNCTION, "functions", name),
            name=name,
        )
        for name in ("extra.a", "extra.b", "extra.c", "extra.d")
    ]
    registry = Registry({**roster.registry.tools, **{tool.name: tool for tool in more}})
    agent = replace(
        roster.agent, tools=(*roster.agent.tools, *(t.name for t in more)), deferred_tools=()
    )
    plan = planned(roster, agent, registry=registry)
    assert len(agent.tools) == 31
    assert plan.defined == (*agent.tools[:29], "tool.call")
    assert plan.deferred_names == (
        *agent.tools[29:],
        *BLAND_READS,
        *GMAIL_READS,
        *OVERFLOW,
    )
    assert plan.skipped == ()
    assert_golden(plan, "plan_thirty_one_configured")


def test_a_read_of_9500_tokens_at_rank_one_is_deferred_and_stops_nobody(roster: Any) -> None:
    giant = discovered_tool("archive", "dump")
    registry = Registry({**roster.registry.tools, giant.name: giant})
    agent = replace(
        roster.agent,
        tools=(giant.name, *roster.agent.tools),
        control_tools=CONTROL_TOOLS,
    )
    pricing = FixedPrices({giant.name: 9_500})
    plan = planned(roster, agent, registry=registry, pricing=pricing, results_offloadable=False)
    assert plan.defined[:21] == configured_after(roster, *DEFERRALS)
    assert plan.defined[21:23] == ("tool.call", "tool.search")
    assert plan.deferred[6].name == giant.name
    assert plan.deferred[6].reason is Reason.DEFINITION_TOKENS
    assert plan.costs.definition_tokens == 30 * 190
    assert_golden(plan, "plan_giant_at_rank_one")


def test_a_discovered_giant_lets_five_small_reads_pass(roster: Any) -> None:
    reads = [discovered_tool("a", name) for name in ("1_dump", "2", "3", "4", "5", "6")]
    agent = AgentProfile("chat", "r1", servers=("a",), control_tools=("tool.call",))
    plan = planned(
        roster,
        agent,
        registry=Registry({tool.name: tool for tool in reads}),
        pricing=FixedPrices({"mcp.a.1_dump": 9_500}),
    )
    assert plan.defined == ("tool.call", *(f"mcp.a.{number}" for number in range(2, 7)))
    assert names(plan.deferred) == ("mcp.a.1_dump",)


def test_caps_that_hold_all_of_it_need_neither_index_nor_tool_call(roster: Any) -> None:
    agent = replace(roster.agent, deferred_tools=(), caps=Caps(46, 46 * 190))
    plan = planned(roster, agent)
    assert len(plan.defined) == 46
    assert (plan.controls, plan.deferred) == ((), ())
    assert (plan.costs.index_tokens, plan.costs.index_overhead_tokens) == (0, 0)


def test_a_core_of_five_with_a_search_that_loads(roster: Any) -> None:
    core = configured_after(roster, *DEFERRALS)[:5]
    agent = replace(
        roster.agent,
        always_defined=core,
        deferred_tools=("*",),
        control_tools=CONTROL_TOOLS[1:],
        disclosure="search",
        listing="names",
    )
    found = (GMAIL_READS[2], "schedule.cancel", GMAIL_CHANGES[3])
    fingerprints = [(name, roster.registry.tools[name].fingerprint) for name in found]
    before = planned(roster, agent)
    plan = planned(roster, agent, loaded=fingerprints)
    assert before.defined == (*core, "tool.search", "tool.result")
    assert plan.defined == (*before.defined, *found)
    assert len(plan.deferred) == 46 - 5 - 3
    assert plan.skipped == ()
    assert_golden(plan, "plan_core_with_search")


def test_a_provider_that_searches_gets_all_of_it_and_counts_thirty(roster: Any) -> None:
    agent = replace(roster.agent, disclosure="native")
    plan = planned(roster, agent, native=True)
    assert plan.defined == (
        *configured_after(roster, *DEFERRALS),
        *BLAND_READS,
        *GMAIL_READS,
        OVERFLOW[0],
    )
    assert len(plan.defined) == 30
    assert plan.deferred_names == (*DEFERRALS, *GMAIL_CHANGES)
    assert (plan.controls, plan.costs.index_tokens) == ((), 0)
    assert_golden(plan, "plan_native")


def test_a_plan_read_back_from_its_body_is_the_same_plan(roster: Any) -> None:
    plan = planned(roster)
    again = Plan.from_body(json.loads(json.dumps(plan.body())))
    assert again == plan
    assert again.digest == plan.digest
