"""B161: the cache marker is put on the last tool, which is a deferred one; the request is refused.

Right: the marker stands on the last tool that is not deferred, on none if there is none, and never
on more than one.
"""

from itertools import product
from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_wire import Anthropic, Capability, NativeTools, cache_marked, tombstones

READ = Classification(SideEffect.NETWORK_READ, frozenset(), "worst_case")


def tool(name: str) -> Tool:
    identity = ToolIdentity(SourceKind.MCP, "git", name)
    return Tool.of(identity, ToolDefinition(name, None, "Does it.", {}), READ)


TOOLS = [tool(name) for name in ("a", "b", "c", "d")]


@pytest.mark.parametrize("deferred", list(product([False, True], repeat=4)))
def test_wherever_the_deferred_ones_stand(deferred: tuple[bool, ...]) -> None:
    array: list[dict[str, Any]] = [
        {"name": str(position), **({"defer_loading": True} if flag else {})}
        for position, flag in enumerate(deferred)
    ]
    marked = [one["name"] for one in cache_marked(array) if "cache_control" in one]
    kept = [str(position) for position, flag in enumerate(deferred) if not flag]
    assert marked == kept[-1:]
    assert all("cache_control" not in one for one in array)


@pytest.mark.parametrize("defined", range(5))
@pytest.mark.parametrize("gone", [[], ["mcp.old.x"]])
@pytest.mark.parametrize("variant", ["bm25", "regex"])
def test_however_many_tools_are_deferred(defined: int, gone: list[str], variant: str) -> None:
    form = Anthropic()
    buried = tombstones(gone, [])
    codec = form.codec([*(one.identity for one in TOOLS), *buried])
    native = NativeTools(Capability("anthropic", variant), tuple(TOOLS[defined:]), buried)
    array = form.request(TOOLS[:defined], codec, "", native=native, cached=True)["tools"]
    marked = [one for one in array if "cache_control" in one]
    assert len(marked) == 1
    assert "defer_loading" not in marked[0]
    behind = array[array.index(marked[0]) + 1 :]
    assert all(one["defer_loading"] for one in behind)
    assert len(behind) == len(TOOLS) - defined + len(gone)


def test_deferring_one_more_tool_moves_no_byte_before_the_marker() -> None:
    form = Anthropic()
    codec = form.codec(one.identity for one in TOOLS)
    few, many = (
        form.request(
            TOOLS[:2],
            codec,
            "",
            native=NativeTools(Capability("anthropic", "bm25"), tuple(TOOLS[2:end])),
            cached=True,
        )["tools"]
        for end in (3, 4)
    )
    assert many[: len(few)] == few
