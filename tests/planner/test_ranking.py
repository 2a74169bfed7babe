from typing import Any

from toolkeeper_planner.ranking import RankedRegistry


def test_the_order_of_the_snapshot_does_not_matter(make: Any) -> None:
    names = ["mcp.b.x", "mcp.a.y", "mcp.a.x", "device.a.x"]
    orders = [
        [tool.name for tool in RankedRegistry.of(make.registry(*row)).discovered(["b", "a"])]
        for row in (names, names[::-1])
    ]
    assert orders[0] == orders[1] == ["device.a.x", "mcp.a.x", "mcp.a.y", "mcp.b.x"]


def test_a_snapshot_is_sorted_once_and_an_equal_one_gives_no_stale_answer(make: Any) -> None:
    registry = make.registry("mcp.a.x")
    assert RankedRegistry.of(registry) is RankedRegistry.of(registry)
    for number in range(20):
        other = make.registry("mcp.a.x", f"mcp.a.y{number}")
        names = [tool.name for tool in RankedRegistry.of(other).discovered(["a"])]
        assert names == ["mcp.a.x", f"mcp.a.y{number}"]


def test_only_discovered_tools_of_the_named_servers_are_listed_and_each_once(make: Any) -> None:
    registry = make.registry("a", "mcp.a.x", "mcp.b.x")
    ranked = RankedRegistry.of(registry)
    assert [tool.name for tool in ranked.discovered(["a", "a"])] == ["mcp.a.x"]
    assert ranked.discovered(["functions"]) == []


def test_patterns_and_the_tools_own_wish_defer(make: Any) -> None:
    registry = make.registry("a", "b", make.tool("c", deferred=True), "mcp.s.x", "mcp.t.x")
    ranked = RankedRegistry.of(registry)
    for patterns, names in [
        ((), {"c"}),
        (("b",), {"b", "c"}),
        (("mcp.s.*",), {"c", "mcp.s.x"}),
        (("*.x", "a"), {"a", "c", "mcp.s.x", "mcp.t.x"}),
        (("*",), set(registry.tools)),
        (("A", "mcp"), {"c"}),
    ]:
        assert ranked.deferred(patterns) == names
