"""B34: one wrong tool name makes the error list every tool, hidden ones too.

Right: nothing is listed; a denied, disabled or foreign tool is never named, wherever a model reads.
"""

from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper_contract import Caps, Code

HIDDEN = [f"vault.secret{number}" for number in range(5)]


def vault(name: str) -> Any:
    @tool(name=name, side_effect="workspace_read")
    def secret() -> str:
        """Open the vault."""
        raise AssertionError("it ran")

    return secret


def plain(number: int) -> Any:
    @tool(name=f"plain.tool{number:02}", side_effect="workspace_read")
    def work() -> str:
        """Do plain work."""
        return "done"

    return work


POLICY = "version: 1\nrules: [{id: no-vault, tools: ['vault.*'], effect: deny}]\n"
MORE = (*[vault(name) for name in HIDDEN], *[plain(number) for number in range(20)])


@pytest.mark.parametrize("name", ["nope", "vault.secret", "vault.secret0", "VAULT.SECRET0", "*"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_wrong_name_lists_nothing(shop: Any, name: str, wrapped: bool) -> None:
    arguments: Any = {"name": name, "arguments": {}} if wrapped else {}
    row = shop.one(
        "tool.call" if wrapped else name,
        arguments,
        more=MORE,
        policy=POLICY,
        deferred_tools=("plain.*", "vault.*"),
        caps=Caps(definitions=6),
    )
    assert row.code is Code.NOT_OFFERED
    for word in ("vault", "plain", "notes", "secret", name):
        assert word not in row.result


@pytest.mark.parametrize(
    ("tool_name", "arguments"),
    [
        ("tool.search", {"query": "open the vault"}),
        ("tool.search", {"query": "vault.secret0"}),
        ("tool.search", {"select": ["vault.secret0"]}),
        ("tool.search", {"query": ""}),
        ("tool.search", {"query": "quantum chromodynamics"}),
        ("tool.call", {"nome": "vault.secret0"}),
        ("tool.call", "{not json"),
        ("tool.result", {"handle": "vault.secret0"}),
        ("notes.read", {"wrong": "vault"}),
        ("", {}),
    ],
)
def test_no_error_and_no_index_names_what_is_hidden(
    shop: Any, tool_name: str, arguments: Any
) -> None:
    row = shop.one(
        tool_name, arguments, more=MORE, policy=POLICY, deferred_tools=("plain.*", "vault.*")
    )
    assert row.is_error
    for name in HIDDEN:
        assert name not in row.result


def test_no_request_names_what_is_hidden(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> str:
        return str(turn.rendering) + str(turn.request)

    shown = shop.turn(act, more=MORE, policy=POLICY, deferred_tools=("plain.*", "vault.*"))
    assert "vault" not in shown
    assert "plain.tool00" in shown
