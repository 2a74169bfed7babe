import json
from typing import Any

from toolkeeper_contract import Caps, SourceState, SourceStatus, digest
from toolkeeper_planner import BUILDER, parse_intent, planned_event


def test_the_event_carries_names_reasons_and_only_a_digest_of_what_is_searchable(
    make: Any,
) -> None:
    registry = make.registry("a", "b", "c", "d", "e", unavailable=["git"])
    agent = make.agent(
        "a",
        "b",
        "c",
        "d",
        "e",
        "mcp.git.log",
        deferred_tools=("b",),
        caps=Caps(definitions=3, index_entries=1),
    )
    plan = make.plan(agent, registry, provider="openai", intent=parse_intent({"disabled": ["e"]}))
    event = planned_event(
        plan,
        turn=2,
        run_id="run_1",
        sources=[
            SourceStatus("git", SourceState.UNAVAILABLE, "it did not start"),
            SourceStatus("functions", SourceState.OK),
        ],
    )
    assert (event.name, event.run_id) == ("session.planned", "run_1")
    data = event.data
    assert data["plan"] == plan.digest
    assert (data["builder"], data["agent_revision"], data["provider"]) == (BUILDER, "r1", "openai")
    assert data["caps"]["index_entries"] == 1
    assert data["costs"] == plan.body()["costs"]
    assert data["defined_tool_names"] == ["a", "tool.call", "tool.search"]
    assert data["deferred_tool_names"] == ["b"]
    assert data["deferred_reasons"] == {"b": "configured"}
    assert data["deferred_tool_specs"] == {"b": registry.tools["b"].fingerprint}
    assert data["skipped_tool_names"] == [{"name": "mcp.git.log", "reason": "source_unavailable"}]
    assert data["filtered_tool_names"] == [{"name": "e", "reason": "disabled"}]
    assert data["intent"] == {"disabled": ["e"]}
    assert data["searchable_tool_count"] == 2
    assert data["searchable_tool_digest"] == digest(["c", "d"])
    assert data["sources"] == [
        {"name": "functions", "state": "ok", "reason": None},
        {"name": "git", "state": "unavailable", "reason": "it did not start"},
    ]
    assert data["turn"] == 2
    assert '"c"' not in json.dumps(dict(data))


def test_the_event_hides_no_key_of_the_record_around_it(make: Any) -> None:
    event = planned_event(make.plan(make.agent("a"), make.registry("a")))
    around = {"seq", "session_id", "run_id", "invocation_id", "at", "event"}
    assert not around & set(event.data)
