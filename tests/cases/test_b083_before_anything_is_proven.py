"""B83: calls before the first validated listing, or after a corrupt pin file, are trusted anew.

Right: nothing of a server may be used until what was accepted is known. A store that cannot be
read is an error, and never the first use.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolkeeper.runtime.assembly import build_sources
from toolkeeper.runtime.configuration import load_configuration
from toolkeeper.runtime.discovery import Discovery

pytestmark = pytest.mark.in_this_process

SEND: dict[str, Any] = {"name": "send", "description": "x", "inputSchema": {"type": "object"}}
OTHER: dict[str, Any] = {**SEND, "description": "y"}
CALL = {"id": "c", "tool": "mcp.crm.send", "arguments": {}}


def serve(home: Any, *tools: Any, **more: Any) -> None:
    home.servers.pop("crm", None)
    home.agent["servers"] = []
    home.serve("crm", list(tools), **more)


def test_what_was_never_held_against_the_store_may_not_be_used(home: Any) -> None:
    serve(home, SEND)
    configuration = load_configuration(home.folder / "toolkeeper.yaml", {})

    async def look() -> Any:
        discovery = Discovery(build_sources(configuration, []), configuration)
        try:
            await discovery.refresh(discovery.names)
            return discovery.registry(discovery.names)
        finally:
            await discovery.close()

    registry = asyncio.run(look())
    assert registry.quarantined == {"mcp.crm.send"}


def test_a_call_while_nothing_is_listed_is_not_run(home: Any) -> None:
    serve(home, SEND)
    home.servers["crm"]["command"] = "no-such-command"
    home.write()
    (line,) = home.run(CALL, expect=1)
    assert (line["outcome"], line["code"]) == ("refused", "tool.not_found.not_offered")


DAMAGES = {
    "a cut fingerprint": "UPDATE accepted_tools SET fingerprint = substr(fingerprint, 1, 20)",
    "no fingerprint": "UPDATE accepted_tools SET fingerprint = ''",
    "no time": "UPDATE accepted_tools SET at = ''",
    "no table": "DROP TABLE accepted_tools",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("verb", ["run", "plan", "tools", "accept"])
def test_a_corrupt_store_is_never_the_first_use(home: Any, damage: str, verb: str) -> None:
    serve(home, SEND)
    home.run(CALL, expect=1)
    home.sql(DAMAGES[damage])
    before = home.sql("SELECT count(*) FROM invocations")
    serve(home, OTHER)
    words = {
        "run": ("run", "session.yaml"),
        "plan": ("plan", "--agent", "chat"),
        "tools": ("tools",),
        "accept": ("tools", "accept", "mcp.crm.send"),
    }
    ended = home.toolkeeper(*words[verb], "--json")
    assert (ended.code, ended.out) == (2, "")
    assert "the store" in ended.err
    assert home.sql("SELECT count(*) FROM invocations") == before


@pytest.mark.parametrize("size", [1, 15, 100, 5000])
@pytest.mark.sqlite_file
def test_a_cut_store_is_never_the_first_use(home: Any, size: int) -> None:
    serve(home, SEND)
    home.run(CALL, expect=1)
    store: Path = home.folder / "ledger.db"
    for extra in ("-wal", "-shm"):
        Path(f"{store}{extra}").unlink(missing_ok=True)
    store.write_bytes(store.read_bytes()[:size])
    for words in (("plan", "--agent", "chat"), ("run", "session.yaml"), ("tools",)):
        ended = home.toolkeeper(*words, "--json")
        assert (ended.code, ended.out) == (2, ""), ended


def test_one_row_that_is_gone_is_not_the_first_use(home: Any) -> None:
    serve(home, SEND, {**SEND, "name": "find"})
    home.run(CALL, expect=1)
    home.sql("DELETE FROM accepted_tools WHERE name = 'mcp.crm.send'")
    (line,) = home.run(CALL, expect=1)
    assert line["code"] == "tool.not_found.not_offered"
