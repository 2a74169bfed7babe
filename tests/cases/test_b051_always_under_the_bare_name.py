"""B51: `always` for a namespaced tool was stored under its bare name.

Right: the full canonical identity wherever a grant is given, looked up, shown and used.
"""

from typing import Any

import pytest

from toolkeeper import Toolkeeper, tool
from toolkeeper_contract import Scope

pytestmark = pytest.mark.in_this_process

NAMES = ("crm.lookup", "lookup", "hr.lookup", "crm.lookup.all", "Crm.lookup", "crm_lookup")


def lookups() -> tuple[Any, ...]:
    def make(name: str) -> Any:
        @tool(name=name, side_effect="network_write", description="Look somebody up.")
        def look(who: str) -> str:
            return f"{name} found {who}"

        return look

    return tuple(make(name) for name in NAMES)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("granted", NAMES)
def test_a_grant_is_for_the_one_tool_of_that_whole_name(
    shop: Any, granted: str, wrapped: bool
) -> None:
    async def act(turn: Any, keeper: Toolkeeper) -> Any:
        def read(name: str, who: str) -> Any:
            if wrapped:
                return turn.read("c", "tool.call", {"name": name, "arguments": {"who": who}})
            return turn.read("c", name, {"who": who})

        asked = await turn.call(read(granted, "ana"))
        given = await keeper.desk().grant(asked.row.approval_id, Scope.ALWAYS)
        assert given.grant.tool == granted
        return {name: (await turn.call(read(name, "bea"))).row for name in NAMES}

    rows = shop.turn(act, more=lookups())
    assert {name for name, row in rows.items() if row.outcome == "completed"} == {granted}


def test_one_tool_of_two_servers_that_publish_the_same(home: Any) -> None:
    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    listed = [{"name": "lookup", "description": "Look somebody up.", "inputSchema": schema}]
    home.settings["classification"] = [
        {"tools": ["mcp.*"], "side_effect": "network_write", "destructive": False}
    ]
    for server in ("crm", "hr"):
        home.serve(server, listed)

    def line(server: str) -> Any:
        call = {"id": "c1", "tool": f"mcp.{server}.lookup", "arguments": {"who": "x"}}
        return home.run(call)[0]

    asked = line("crm")
    home.toolkeeper("approvals", "approve", asked["approval_id"], "--scope", "always", expect=0)
    (grant,) = home.here("grants", "list")
    assert grant["tool"] == "mcp.crm.lookup"
    # The same definition, and so the same fingerprint: the name tells them apart.
    assert line("crm")["grant_id"] == grant["grant_id"]
    assert line("hr")["outcome"] == "suspended"
