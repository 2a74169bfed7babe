"""The roster of the worked example, as a registry and an agent.

`roster.json` holds 27 configured tools, three calling tools of two servers, and sixteen mail tools
on two accounts.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Registry,
    SideEffect,
    SourceKind,
    SourceState,
    SourceStatus,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_planner import AgentProfile

ROSTER = Path(__file__).with_name("roster.json")


@dataclass(frozen=True, slots=True)
class Roster:
    """The example's agent and every tool that exists."""

    agent: AgentProfile
    registry: Registry


def tool_of(entry: Mapping[str, Any]) -> Tool:
    ours = entry["source"] == "functions"
    return Tool.of(
        ToolIdentity(
            SourceKind.FUNCTION if ours else SourceKind.MCP, entry["source"], entry["name"]
        ),
        ToolDefinition(
            entry["name"],
            None,
            entry["description"],
            entry["inputSchema"],
            annotations=entry.get("annotations"),
        ),
        Classification(SideEffect(entry["side_effect"]), frozenset(), "declaration"),
    )


@pytest.fixture
def roster() -> Roster:
    document = json.loads(ROSTER.read_text(encoding="utf-8"))
    tools = [tool_of(entry) for entry in document["tools"]]
    agent: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in document["agent"].items()
    }
    sources = sorted({tool.identity.source for tool in tools})
    return Roster(
        AgentProfile(**agent),
        Registry(
            {tool.name: tool for tool in tools},
            sources=tuple(SourceStatus(name, SourceState.OK) for name in sources),
        ),
    )
