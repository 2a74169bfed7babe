"""B94: counts, server names or lists in the bridge's description change its bytes.

Right: control definitions are constants; what changes stands in the index region behind them.
"""

import json
from typing import Any

import pytest

from toolkeeper_contract import Caps

CONTROLS = {f"tool{sign}{name}" for sign in "._" for name in ("call", "search", "result")}


def controls(turn: Any) -> dict[str, str]:
    """The bytes of each control tool's definition."""
    found = {}
    for each in turn.tools:
        inner = each.get("function", each)
        if inner.get("name") in CONTROLS:
            found[inner["name"]] = json.dumps(each)
    return found


def shown(shop: Any, provider: str, **agent: Any) -> tuple[dict[str, str], str]:
    async def act(turn: Any, keeper: Any) -> Any:
        return controls(turn), turn.system

    found: tuple[dict[str, str], str] = shop.turn(act, provider=provider, **agent)
    return found


@pytest.mark.parametrize("provider", ["generic", "openai", "openai-responses", "anthropic", "mcp"])
@pytest.mark.parametrize("disclosure", ["index", "search"])
def test_deferring_one_more_tool_changes_the_region_only(
    shop: Any, provider: str, disclosure: str
) -> None:
    few, region = shown(shop, provider, disclosure=disclosure, deferred_tools=("notes.read",))
    more, longer = shown(
        shop, provider, disclosure=disclosure, deferred_tools=("notes.read", "mail.send")
    )
    overflow, shorter = shown(
        shop, provider, disclosure=disclosure, caps=Caps(definitions=4, index_entries=1)
    )
    assert few == more == overflow
    assert len(few) >= 2
    assert len({region, longer, shorter}) == 3


def test_what_the_tools_say_does_not_reach_the_controls(home: Any) -> None:
    def rendered() -> dict[str, str]:
        (plan,) = home.here("plan", "--agent", "chat", "--render")
        tools = [each.get("function", each) for each in plan["tools"]]
        return {each["name"]: json.dumps(each) for each in tools if each["name"] in CONTROLS}

    before = rendered()
    tool = {"name": "sweep", "description": "Sweeps.", "inputSchema": {"type": "object"}}
    (home.folder / "saved.json").write_text(json.dumps({"tools": [tool]}))
    home.servers["broom"] = {"catalog": "saved.json"}
    home.agent |= {"servers": ["broom"], "deferred_tools": ["notes.read", "mcp.broom.*"]}
    home.write()
    assert rendered() == before


def test_the_search_of_one_agent_has_the_same_bytes_in_every_session(shop: Any) -> None:
    one, _ = shown(shop, "openai", disclosure="search")
    two, _ = shown(shop, "openai", disclosure="search", deferred_tools=("*",))
    assert one["tool_search"] == two["tool_search"]
