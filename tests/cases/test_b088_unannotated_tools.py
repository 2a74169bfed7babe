"""B88: tools without annotations skipped approval.

Right: the specification's defaults (not read-only, destructive, open world) whenever a hint is
missing or is no boolean, and for every tool of a server that is not trusted; such tools rank after
reads.
"""

from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

READ = {"readOnlyHint": True, "openWorldHint": False}
WORST = ("network_write", {"destructive", "open_world"})
UNANNOTATED: dict[str, Any] = {
    "none": None,
    "empty": {},
    "titled": {"title": "x"},
    "text": {"readOnlyHint": "true"},
    "number": {"readOnlyHint": 1},
    "null": {"readOnlyHint": None},
    "spelled": {"read_only_hint": True, "readonlyhint": True},
    "closed": {"destructiveHint": "false"},
}


def listing() -> list[Any]:
    tools: list[Any] = [{"name": "a-read", "inputSchema": {"type": "object"}, "annotations": READ}]
    for name, annotations in UNANNOTATED.items():
        entry: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
        if annotations is not None:
            entry["annotations"] = annotations
        tools.append(entry)
    tools.append({"name": "z-read", "inputSchema": {"type": "object"}, "annotations": READ})
    return tools


def by_name(home: Any) -> dict[str, Any]:
    (registry,) = home.here("tools")
    return {row["name"].removeprefix("mcp.crm."): row for row in registry["tools"]}


@pytest.mark.parametrize("trusted", [True, False])
def test_what_says_nothing_is_taken_for_the_worst(home: Any, trusted: bool) -> None:
    word = "trusted" if trusted else "untrusted"
    home.serve("crm", listing(), trust=word, annotations=word)
    found = by_name(home)
    for name in UNANNOTATED:
        if name not in found:
            continue
        row = found[name]
        assert (row["side_effect"], set(row["flags"])) == WORST, name
    assert {"none", "empty", "titled"} <= found.keys()
    reads = found["a-read"]["side_effect"], found["z-read"]["side_effect"]
    assert reads == (("workspace_read",) * 2 if trusted else ("network_write",) * 2)


def test_they_rank_after_reads(home: Any) -> None:
    home.serve("crm", listing(), trust="trusted", annotations="trusted")
    (plan,) = home.here("plan", "--agent", "chat")
    ranked = [
        name
        for name in (*plan["defined_tool_names"], *plan["deferred_tool_names"])
        if name.startswith("mcp.crm.")
    ]
    assert ranked[:2] == ["mcp.crm.a-read", "mcp.crm.z-read"]
    assert ranked[2:] == sorted(ranked[2:])


def test_every_call_of_one_is_asked_about_by_whatever_way(home: Any) -> None:
    home.serve("crm", listing(), trust="trusted", annotations="trusted")
    names = [name for name in ("none", "empty", "titled") if name in by_name(home)]
    direct = [{"id": f"d{name}", "tool": f"mcp.crm.{name}", "arguments": {}} for name in names]
    wrapped = [
        {"id": f"w{name}", "tool": "tool.call", "arguments": {"name": f"mcp.crm.{name}"}}
        for name in names
    ]
    read = {"id": "read", "tool": "mcp.crm.a-read", "arguments": {}}
    lines = home.run(*direct, *wrapped, read, expect=1)
    assert [line["outcome"] for line in lines] == ["suspended"] * 6 + ["completed"]
    assert [line["decision"]["effect"] for line in lines] == ["ask"] * 6 + ["allow"]
    assert [call["name"] for call in home.called("crm")] == ["a-read"]


def test_an_allow_rule_that_does_not_name_destructive_calls_does_not_count(home: Any) -> None:
    home.serve("crm", listing())
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(
        "version: 1\nrules:\n  - {id: crm, tools: [mcp.crm.*], effect: allow}\n"
    )
    home.write()
    (line,) = home.run({"id": "c", "tool": "mcp.crm.none", "arguments": {}}, expect=1)
    assert (line["outcome"], line["decision"]["rules"]) == ("suspended", [])


def test_a_function_that_declares_nothing_is_asked_about_too(shop: Any) -> None:
    def unlabelled() -> str:
        """Does who knows what."""
        return "done"

    row = shop.one("unlabelled", {}, more=(unlabelled,))
    assert (row.outcome, row.side_effect) == ("suspended", "network_write")
    assert set(row.flags) == WORST[1]
