"""Tools, registries, agents and prices for the planner's tests."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Plan,
    Principal,
    RefusedTool,
    Registry,
    SideEffect,
    SourceKind,
    SourceState,
    SourceStatus,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_planner import AgentProfile, build_plan


class TablePrices:
    """Prices from a table; `overhead` is the price of any text that is no tool's."""

    def __init__(
        self,
        definitions: dict[str, int] | None = None,
        lines: dict[str, int] | None = None,
        *,
        definition: int = 100,
        line: int = 10,
        overhead: Callable[[str], int] = lambda text: 0,
    ) -> None:
        self.definitions = definitions or {}
        self.lines = lines or {}
        self.default = (definition, line)
        self.overhead = overhead

    def definition(self, tool: Tool) -> int:
        return self.definitions.get(tool.name, self.default[0])

    def index_line(self, tool: Tool) -> int:
        return self.lines.get(tool.name, self.default[1])

    def text(self, text: str) -> int:
        return self.overhead(text)


class Maker:
    """Short spellings for what the tests plan with."""

    Prices = TablePrices

    @staticmethod
    def tool(name: str, side_effect: str = "workspace_read", **governance: Any) -> Tool:
        """`mcp.<server>.<tool>` and `device.<id>.<tool>` are discovered, the rest is ours."""
        kind, source, raw = "function", "functions", name
        if name.startswith(("mcp.", "device.")):
            kind, source, raw = name.split(".", 2)
        return Tool.of(
            ToolIdentity(SourceKind(kind), source, raw),
            ToolDefinition(raw, None, f"Does {raw}.", {"type": "object"}),
            Classification(SideEffect(side_effect), frozenset(), "rule"),
            **governance,
        )

    @classmethod
    def registry(
        cls,
        *tools: str | Tool,
        unavailable: Iterable[str] = (),
        refused: Iterable[RefusedTool] = (),
        quarantined: Iterable[str] = (),
    ) -> Registry:
        made = [tool if isinstance(tool, Tool) else cls.tool(tool) for tool in tools]
        names = sorted({"functions", *(tool.identity.source for tool in made), *unavailable})
        down = set(unavailable)
        return Registry(
            {tool.name: tool for tool in made},
            refused=tuple(refused),
            sources=tuple(
                SourceStatus(name, SourceState.UNAVAILABLE, "it did not start")
                if name in down
                else SourceStatus(name, SourceState.OK)
                for name in names
            ),
            quarantined=frozenset(quarantined),
        )

    @staticmethod
    def agent(*tools: str, **settings: Any) -> AgentProfile:
        return AgentProfile("chat", "r1", tools=tools, **settings)

    @staticmethod
    def plan(agent: AgentProfile, registry: Registry, **changes: Any) -> Plan:
        arguments: dict[str, Any] = {
            "agent": agent,
            "registry": registry,
            "principal": Principal("ana"),
            "pricing": TablePrices(),
            "provider": "generic",
            "results_offloadable": False,
        }
        return build_plan(**arguments | changes)

    @staticmethod
    def rows(placed: Iterable[Any]) -> dict[str, str]:
        return {row.name: row.reason.value for row in placed}


@pytest.fixture
def make() -> type[Maker]:
    return Maker
