"""`toolkeeper plan` and `tools`: what would be seen, and what became of everything else."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper.cli.keys import PLAN, TOOL

Desktop = Any

LIVE = Path(__file__).parents[3] / "shared" / "data" / "catalog-live.json"
PROVIDERS = ["generic", "openai", "openai-responses", "anthropic", "gemini", "mcp"]
SAVED = {
    "tools": [
        {"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
        {"name": "write", "inputSchema": {"type": "object"}},
        {"name": "bad name", "inputSchema": {"type": "object"}},
    ]
}
TOGGLES = (
    ("agents:\n", "toolsets: {few: [schedule.list]}\nagents:\n"),
    ("broken, undeclared]", "broken]"),
    ("agents:\n", "overlays: {more: [undeclared]}\nagents:\n"),
)
PERMITTED = "    toolsets: [few]\n    overlays: [more]\n"


def plan(desktop: Desktop, *args: str, user: str = "ana") -> dict[str, Any]:
    ended = desktop.toolkeeper("plan", "--agent", "chat", "--user", user, "--json", *args)
    assert ended.code == 0, ended.err
    line: dict[str, Any] = ended.line
    return line


def with_saved(desktop: Desktop) -> None:
    desktop.write("saved.json", json.dumps(SAVED))
    desktop.configure(
        ("agents:\n", "servers: {saved: {catalog: saved.json}}\nagents:\n"),
        add="    servers: [saved]\n",
    )


def placed(found: dict[str, Any]) -> list[str]:
    return [
        *found["defined_tool_names"],
        *found["deferred_tool_names"],
        *found["searchable_tool_names"],
        *(row["name"] for row in found["skipped_tool_names"]),
        *(row["name"] for row in found["filtered_tool_names"]),
    ]


def test_a_plan_has_the_keys_of_the_contract(desktop: Desktop) -> None:
    with_saved(desktop)
    found = plan(desktop)
    assert tuple(found) == PLAN
    assert set(found["costs"]) >= {"definition_tokens", "index_tokens", "tools"}
    assert set(found["disclosure"]) == {"asked", "used", "reason"}
    assert found["deferred_tool_names"] == ["mail.send"]
    assert set(found["deferred_tool_specs"]) == {"mail.send"}
    assert found["deferred_reasons"] == {"mail.send": "configured"}
    assert [set(row) for row in found["refused_tools"]] == [{"source", "name", "reason"}]
    assert found["sources"] == [
        {"name": "functions", "state": "ok", "reason": None},
        {"name": "saved", "state": "ok", "reason": None},
    ]
    shown = [*found["defined_tool_names"], *found["deferred_tool_names"]]
    assert set(found["costs"]["tools"]) == set(shown)


def test_every_tool_is_somewhere_once(desktop: Desktop) -> None:
    with_saved(desktop)
    names = placed(plan(desktop))
    assert len(names) == len(set(names))
    assert set(names) > {"schedule.list", "mail.send", "mcp.saved.read", "mcp.saved.write"}


def test_planning_writes_nothing(desktop: Desktop) -> None:
    before = desktop.files()
    for words in (
        ("plan", "--agent", "chat"),
        ("plan", "--agent", "chat", "--json"),
        ("plan", "--agent", "chat", "--render"),
        ("tools",),
        ("tools", "--json"),
        ("schema",),
    ):
        assert desktop.toolkeeper(*words).code == 0
    assert desktop.files() == before


def test_the_same_input_gives_the_same_bytes_in_another_process(desktop: Desktop) -> None:
    with_saved(desktop)
    words = ("plan", "--agent", "chat", "--json")
    printed = {desktop.process(*words, env={"PYTHONHASHSEED": seed}).out for seed in "12"}
    assert printed == {desktop.toolkeeper(*words).out}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_rendering_holds_the_defined_tools_in_their_order(
    desktop: Desktop, provider: str
) -> None:
    found = plan(desktop, "--provider", provider)
    assert found["provider"] == provider
    ended = desktop.toolkeeper(
        "plan", "--agent", "chat", "--user", "ana", "--provider", provider, "--render"
    )
    assert set(ended.line) == {"tools", "system"}
    tools = json.dumps(ended.line["tools"])
    places = [tools.index(f'"{name.replace(".", "_")}"') for name in _bare(found, provider)]
    assert places == sorted(places)
    assert "mail.send(" in ended.line["system"]


def _bare(found: dict[str, Any], provider: str) -> list[str]:
    names: list[str] = found["defined_tool_names"]
    return [] if provider == "mcp" else names


INTENTS: dict[str, tuple[str, set[str], dict[str, str]]] = {
    "nothing": ("null", {"schedule.list", "schedule.update", "mail.send"}, {}),
    "off": ('{"enabled": false}', set(), {"schedule.list": "disabled"}),
    "off beats an overlay": (
        '{"enabled": false, "overlays": {"more": true}}',
        set(),
        {"undeclared": "disabled"},
    ),
    "an empty list": ("[]", set(), {"schedule.list": "disabled"}),
    "hand-picked": ('["schedule.list"]', {"schedule.list"}, {"mail.send": "disabled"}),
    "an unknown name": ('["schedule.list", "x.y"]', {"schedule.list"}, {"x.y": "not_permitted"}),
    "a preset": ('{"toolset": "few"}', {"schedule.list"}, {"mail.send": "disabled"}),
    "an unknown preset": ('{"toolset": "all"}', set(), {"all": "not_permitted"}),
    "an overlay": (
        '{"toolset": "few", "overlays": {"more": true}}',
        {"schedule.list", "undeclared"},
        {},
    ),
    "an overlay that is off": (
        '{"toolset": "few", "overlays": {"more": false}}',
        {"schedule.list"},
        {},
    ),
    "an unknown overlay": ('{"overlays": {"x": true}}', {"mail.send"}, {"x": "not_permitted"}),
    "allowed": (
        '{"allowed": ["mail.send", "x.y"]}',
        {"mail.send"},
        {"x.y": "not_permitted", "schedule.list": "disabled"},
    ),
    "disabled": (
        '{"disabled": ["schedule.list"]}',
        {"schedule.update"},
        {"schedule.list": "disabled"},
    ),
}


@pytest.mark.parametrize("case", INTENTS.values(), ids=INTENTS)
def test_an_intent_is_expanded_and_what_it_leaves_out_is_told(
    desktop: Desktop, case: tuple[str, set[str], dict[str, str]]
) -> None:
    intent, shown, filtered = case
    desktop.configure(*TOGGLES, add=PERMITTED)
    found = plan(desktop, "--intent", intent)
    assert found["intent"] == json.loads(intent)
    seen = {*found["defined_tool_names"], *found["deferred_tool_names"]}
    assert shown <= seen
    reasons = {row["name"]: row["reason"] for row in found["filtered_tool_names"]}
    assert filtered.items() <= reasons.items()
    assert not seen & reasons.keys()


def test_a_scope_that_the_user_lacks_is_told_and_not_shown(desktop: Desktop) -> None:
    found = plan(desktop, user="bob")
    assert {"name": "mail.send", "reason": "scope"} in found["filtered_tool_names"]
    rendered = desktop.toolkeeper("plan", "--agent", "chat", "--user", "bob", "--render")
    assert "mail" not in rendered.out


def test_what_policy_denies_without_conditions_is_told_and_not_shown(desktop: Desktop) -> None:
    desktop.configure(add="policy: [rules.yaml]\n")
    desktop.write(
        "rules.yaml", "version: 1\nrules:\n  - {id: n, tools: [schedule.update], effect: deny}\n"
    )
    found = plan(desktop)
    assert {"name": "schedule.update", "reason": "policy"} in found["filtered_tool_names"]


def test_a_server_that_does_not_start_is_told_and_the_rest_is_planned(desktop: Desktop) -> None:
    desktop.configure(
        ("agents:\n", "servers: {gone: {command: no-such-program-anywhere}}\nagents:\n"),
        add="    servers: [gone]\n",
    )
    found = plan(desktop)
    (gone,) = [row for row in found["sources"] if row["name"] == "gone"]
    assert gone["state"] == "unavailable"
    assert gone["reason"]
    assert "schedule.list" in found["defined_tool_names"]
    shown = desktop.toolkeeper("plan", "--agent", "chat")
    assert shown.code == 0
    assert "source `gone` is unavailable" in shown.out


def test_the_table_tells_a_person_the_same(desktop: Desktop) -> None:
    with_saved(desktop)
    found = plan(desktop)
    shown = desktop.toolkeeper("plan", "--agent", "chat", "--user", "ana")
    assert shown.code == 0
    for name, tokens in found["costs"]["tools"].items():
        (line,) = [line for line in shown.out.splitlines() if f" {name} " in line]
        assert str(tokens) in line
    assert "saved: bad name" in shown.out


def test_a_session_shows_its_next_turn(desktop: Desktop) -> None:
    head = "agent: chat\nuser: ana\nprovider: openai\nintent: {disabled: [schedule.list]}\n"
    (line,) = desktop.play("{id: c1, tool: schedule.update, arguments: {id: 1}}", head=head).lines
    id = line["session_id"]
    before = desktop.files()
    shown = desktop.toolkeeper("plan", "--session", id, "--json").line
    assert shown["agent"] == "chat"
    assert shown["provider"] == "openai"
    assert shown["intent"] == {"disabled": ["schedule.list"]}
    assert "schedule.list" not in shown["defined_tool_names"]
    other = desktop.toolkeeper("plan", "--session", id, "--intent", "[]", "--json").line
    assert other["defined_tool_names"] == []
    again = desktop.toolkeeper("plan", "--session", id, "--json").line
    assert again == shown  # an override is stored nowhere
    rendered = desktop.toolkeeper("plan", "--session", id, "--render").line
    assert rendered["tools"][0]["function"]["name"] == "schedule_update"
    assert desktop.files() == before


@pytest.mark.parametrize(
    "other",
    [("--user", "bob"), ("--agent", "x"), ("--provider", "mcp"), ("--attributes", '{"a": 1}')],
    ids=" ".join,
)
def test_a_session_keeps_who_and_what_it_was_opened_with(
    desktop: Desktop, other: tuple[str, str]
) -> None:
    (line,) = desktop.play("{id: c1, tool: schedule.list}").lines
    ended = desktop.toolkeeper("plan", "--session", line["session_id"], *other)
    assert (ended.code, ended.out) == (2, "")
    assert other[0].removeprefix("--") in ended.err


def test_tools_has_the_keys_of_the_contract_and_reads_back_as_a_catalog(desktop: Desktop) -> None:
    with_saved(desktop)
    listed = desktop.toolkeeper("tools", "--json").line
    assert tuple(listed) == ("tools", "refused_tools", "sources")
    accepted = [row for row in listed["tools"] if row["state"] == "accepted"]
    assert {tuple(row) for row in accepted} == {TOOL}
    by_name = {row["name"]: row for row in accepted}
    assert by_name["schedule.update"]["classified_by"] == "declaration"
    assert by_name["schedule.update"]["side_effect"] == "workspace_write"
    assert by_name["mcp.saved.write"]["source"] == "saved"
    (refused,) = [row for row in listed["tools"] if row["state"] == "refused"]
    assert refused["name"] == "bad name"
    assert listed["refused_tools"][0]["name"] == "bad name"
    # its own output is a listing that can be planned over
    desktop.write("again.json", json.dumps(listed))
    desktop.configure(
        ("agents:\n", "servers: {b: {catalog: again.json, server: saved}}\nagents:\n"),
        add="    servers: [b]\n",
    )
    names = placed(plan(desktop))
    assert {"mcp.b.read", "mcp.b.write"} <= set(names)


@pytest.mark.skipif(not LIVE.exists(), reason="the live catalog is not here")
def test_the_live_catalog_is_accounted_for_to_the_last_tool(desktop: Desktop) -> None:
    desktop.configure(
        ("agents:\n", f"servers: {{live: {{catalog: {LIVE}}}}}\nagents:\n"),
        add="    servers: [live]\n",
    )
    entries = json.loads(LIVE.read_text("utf-8"))
    assert len(entries) == 1991
    for controls in ("[tool.call, tool.search, tool.result]", "[tool.call]", "[]"):
        desktop.write(
            "toolkeeper.yaml",
            "version: 1\n"
            f"servers: {{live: {{catalog: '{LIVE}'}}}}\n"
            f"agents: {{chat: {{servers: [live], control_tools: {controls}}}}}\n",
        )
        found = plan(desktop)
        names = [name for name in placed(found) if name.startswith("mcp.live.")]
        assert len(names) == len(set(names))
        assert len(names) + len(found["refused_tools"]) == len(entries)
        assert found["costs"]["definition_tokens"] <= 9000
        assert found["sources"][-1]["name"] == "live"
