"""`toolkeeper audit`: the ledger read back, without a trace of the reader."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import ACCOUNT, EVENT, PLAN

Desktop = Any

VERBS = (
    ("audit", "plans"),
    ("audit", "plans", "--skipped"),
    ("audit", "calls"),
    ("audit", "events"),
    ("approvals", "list"),
    ("approvals", "list", "--all"),
)


@pytest.fixture
def played(desktop: Desktop) -> Desktop:
    """A folder where a session was played that skipped a tool and parked a call."""
    saved = [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(3)]
    desktop.write("saved.json", json.dumps(saved))
    desktop.configure(
        ("agents:\n", "servers: {saved: {catalog: saved.json}}\nagents:\n"),
        add="    servers: [saved]\n    control_tools: [tool.call]\n"
        "    caps: {definitions: 3, index_entries: 4}\n",
    )
    desktop.play(
        "{id: c1, tool: schedule.list, arguments: {day: 'token=hunter2secret'}}\n"
        "{id: c2, tool: tool.call, arguments: {name: schedule.update, arguments: {id: 1}}}"
    )
    return desktop


def test_calls_and_show_have_the_keys_of_the_contract(played: Desktop) -> None:
    calls = played.toolkeeper("audit", "calls", "--json").lines
    assert {tuple(row) for row in calls} == {ACCOUNT}
    assert [row["call_id"] for row in calls] == ["c1", "c2"]
    assert [row["state"] for row in calls] == ["settled", "parked"]
    for row in calls:
        by_call = played.toolkeeper("audit", "show", row["invocation_id"], "--json").line
        assert tuple(by_call) == (*ACCOUNT, "events")
        assert {key: by_call[key] for key in ACCOUNT} == row
        names = [event["event"] for event in by_call["events"]]
        assert {event["invocation_id"] for event in by_call["events"]} == {row["invocation_id"]}
        assert "call.decided" in names
    by_approval = played.toolkeeper("audit", "show", calls[1]["approval_id"], "--json").line
    assert by_approval["invocation_id"] == calls[1]["invocation_id"]


def test_events_have_the_keys_of_the_contract_and_count_from_one(played: Desktop) -> None:
    events = played.toolkeeper("audit", "events", "--json").lines
    assert {tuple(event)[: len(EVENT)] for event in events} == {EVENT}
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["event"] for event in events][:3] == [
        "session.opened",
        "run.began",
        "session.planned",
    ]
    (planned,) = [event for event in events if event["event"] == "session.planned"]
    assert planned["skipped_tool_names"]
    assert planned["turn"] == 1


def test_plans_have_the_keys_of_the_contract(played: Desktop) -> None:
    plans = played.toolkeeper("audit", "plans", "--json").lines
    assert {tuple(row) for row in plans} == {("session_id", "turn", *PLAN)}
    now = played.toolkeeper("plan", "--agent", "chat", "--user", "ana", "--json").line
    assert {key: plans[0][key] for key in PLAN} == now


def test_skipped_lists_every_plan_that_skipped_with_names_and_reasons(played: Desktop) -> None:
    (line,) = played.toolkeeper("audit", "plans", "--skipped", "--json").lines
    assert line["skipped_tool_names"]
    assert {row["reason"] for row in line["skipped_tool_names"]} == {"index_entries"}
    told = played.toolkeeper("audit", "plans", "--skipped").out
    for row in line["skipped_tool_names"]:
        assert f"skipped {row['name']}: index_entries" in told
    played.configure()
    played.play("{id: c1, tool: schedule.list}")
    assert len(played.toolkeeper("audit", "plans", "--json").lines) == 2
    assert played.toolkeeper("audit", "plans", "--skipped", "--json").line == line


def test_a_session_can_be_asked_for_alone(played: Desktop) -> None:
    other = played.play("{id: x1, tool: schedule.list}").lines[0]["session_id"]
    for verb in ("plans", "calls", "events"):
        rows = played.toolkeeper("audit", verb, "--session", other, "--json").lines
        assert rows
        assert {row["session_id"] for row in rows} == {other}


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
@pytest.mark.sqlite_file
def test_reading_leaves_the_store_and_its_folder_as_they_were(
    played: Desktop, words: tuple[str, ...]
) -> None:
    store = played.folder / "toolkeeper.db"
    before = (played.files(), store.read_bytes(), store.stat().st_mtime_ns)
    for form in ((), ("--json",)):
        assert played.toolkeeper(*words, *form).code == 0
    assert (played.files(), store.read_bytes(), store.stat().st_mtime_ns) == before


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
@pytest.mark.sqlite_file
def test_a_store_url_does_instead_of_a_configuration(
    played: Desktop, words: tuple[str, ...]
) -> None:
    configured = played.toolkeeper(*words, "--json").out
    (played.folder / "toolkeeper.yaml").unlink()
    url = f"sqlite:///{played.folder / 'toolkeeper.db'}"
    assert played.toolkeeper(*words, "--json", "--store", url).out == configured
    relative = played.toolkeeper(*words, "--json", "--store", "sqlite:///toolkeeper.db")
    assert relative.out == configured


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_no_secret_is_told(played: Desktop, words: tuple[str, ...]) -> None:
    for form in ((), ("--json",)):
        assert "hunter2secret" not in played.toolkeeper(*words, *form).out


def test_an_unknown_call_is_told(played: Desktop) -> None:
    ended = played.toolkeeper("audit", "show", "inv_nothing", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert "`inv_nothing`" in ended.err


def test_an_empty_ledger_says_so_to_a_person(desktop: Desktop) -> None:
    desktop.toolkeeper("resume", "--all")
    for words, said in (
        (("audit", "plans"), "no turn was planned yet"),
        (("audit", "calls"), "no call was made yet"),
        (("audit", "events"), "nothing happened yet"),
    ):
        assert desktop.toolkeeper(*words).out == f"{said}\n"
        assert desktop.toolkeeper(*words, "--json").out == ""
