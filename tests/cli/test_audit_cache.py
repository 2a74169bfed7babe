"""`toolkeeper audit cache`: what a provider's cache keeps of recorded and of foreign requests."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import CACHE

Desktop = Any

CALLS = "{id: c1, tool: schedule.list}\n{id: c2, tool: schedule.list}"
CHANGE = {"part", "change", "name", "position", "was", "reason"}


@pytest.fixture
def played(desktop: Desktop) -> Desktop:
    """A folder where one session was played in three processes; before the second one the
    configuration changed, before the third one nothing did."""
    session = desktop.play(CALLS).lines[0]["session_id"]
    desktop.configure(
        ("deferred_tools: [mail.send]", "deferred_tools: [mail.send, schedule.update]")
    )
    desktop.play(CALLS, "--session", session)
    desktop.play(CALLS, "--session", session)
    return desktop


def lines(desktop: Desktop, *words: object) -> list[dict[str, Any]]:
    ended = desktop.toolkeeper("audit", "cache", "--json", *words)
    assert ended.code == 0, ended.err
    found: list[dict[str, Any]] = ended.lines
    return found


def test_each_request_has_the_keys_of_the_contract(played: Desktop) -> None:
    found = lines(played)
    assert {tuple(line) for line in found} == {CACHE}
    assert {frozenset(cause) for line in found for cause in line["causes"]} == {frozenset(CHANGE)}
    assert [(line["turn"], line["request"]) for line in found] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (3, 1),
        (3, 2),
    ]


def test_only_the_boundary_where_something_changed_is_a_rewrite(played: Desktop) -> None:
    found = lines(played)
    assert [line["rewrite"] for line in found] == [False, False, True, False, False, False]
    for line in found:
        assert line["prefix_bytes"] == line["tools_bytes"] + line["system_bytes"]
        assert line["prefix_bytes"] > 0
    first, again, changed, *steady = found
    assert (first["kept_bytes"], first["reread_bytes"], first["broke"]) == (0, 0, None)
    assert again["kept_bytes"] == again["prefix_bytes"] == first["prefix_bytes"]
    assert 0 < changed["kept_bytes"] < changed["prefix_bytes"]
    assert changed["kept_bytes"] + changed["reread_bytes"] == changed["prefix_bytes"]
    assert {line["kept_bytes"] == changed["prefix_bytes"] for line in steady} == {True}
    assert {line["reread_bytes"] for line in steady} == {0}


def test_the_change_is_told_with_its_place_and_its_cause(played: Desktop) -> None:
    changed = lines(played)[2]
    assert changed["broke"] == {
        "part": "tools",
        "change": "removed",
        "name": "schedule.update",
        "position": None,
        "was": 1,
        "reason": "configuration",
    }
    told = {(cause["part"], cause["change"], cause["name"]) for cause in changed["causes"]}
    assert ("system", "added", "schedule.update") in told
    events = played.toolkeeper("audit", "events", "--json").lines
    by_name = {event["event"]: event for event in events if event["event"].endswith(".changed")}
    assert by_name["tools.changed"]["removed"] == ["schedule.update"]
    assert by_name["index.changed"]["added"] == ["schedule.update"]


def test_the_bytes_are_those_that_plan_render_prints(played: Desktop) -> None:
    session = lines(played)[0]["session_id"]
    shown = played.toolkeeper("plan", "--session", session, "--render").line
    last = lines(played)[-1]
    tools = [json.dumps(t, ensure_ascii=False, separators=(",", ":")) for t in shown["tools"]]
    assert last["tools_bytes"] == sum(len(text.encode()) for text in tools)
    assert last["system_bytes"] == len(shown["system"].encode())


def test_a_person_gets_a_table_with_totals_and_causes(played: Desktop) -> None:
    out = played.toolkeeper("audit", "cache").out
    found = lines(played)
    assert "6 requests, 1 rewrite;" in out
    reread = sum(line["reread_bytes"] for line in found)
    kept = sum(line["kept_bytes"] for line in found)
    whole = sum(line["prefix_bytes"] for line in found)
    assert f"{kept:,} of {whole:,} prefix bytes kept, {reread:,} read anew" in out
    assert "cause configuration: 1 rewrite" in out
    assert "tools[1] schedule.update removed (configuration)" in out
    assert "first request" in out


def test_sessions_are_measured_each_for_itself(played: Desktop) -> None:
    first = lines(played)[0]["session_id"]
    other = played.play(CALLS).lines[0]["session_id"]
    found = lines(played)
    assert [line["session_id"] for line in found] == [first] * 6 + [other] * 2
    assert found[6]["broke"] is None
    assert lines(played, "--session", other) == found[6:]


@pytest.mark.sqlite_file
def test_reading_leaves_the_store_as_it_was_and_a_url_does(played: Desktop) -> None:
    store = played.folder / "toolkeeper.db"
    before = (played.files(), store.read_bytes())
    configured = lines(played)
    (played.folder / "toolkeeper.yaml").unlink()
    assert lines(played, "--store", "sqlite:///toolkeeper.db") == configured
    assert (played.files() | {"toolkeeper.yaml"}, store.read_bytes()) == before


def test_an_unknown_session_is_told(played: Desktop) -> None:
    ended = played.toolkeeper("audit", "cache", "--session", "ses_nothing", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert "`ses_nothing`" in ended.err


def test_an_empty_ledger_says_so_to_a_person(desktop: Desktop) -> None:
    desktop.toolkeeper("resume", "--all")
    assert desktop.toolkeeper("audit", "cache").out == "no turn was planned yet\n"
    assert lines(desktop) == []


# requests of another loop


def body(*tools: str, system: str = "Be kind.", said: int = 1) -> dict[str, Any]:
    return {
        "model": "m",
        "system": system,
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools],
        "messages": [{"role": "user", "content": f"{n}"} for n in range(said)],
    }


def written(desktop: Desktop, *bodies: Any) -> Any:
    return desktop.write("requests.jsonl", "".join(json.dumps(each) + "\n" for each in bodies))


def test_any_loop_can_be_measured_without_a_configuration(desktop: Desktop) -> None:
    file = written(desktop, body("a", "b"), body("a", "b", said=2), body("b", "a", said=3))
    (desktop.folder / "toolkeeper.yaml").unlink()
    found = lines(desktop, "--requests", file)
    assert {tuple(line) for line in found} == {CACHE}
    assert [line["request"] for line in found] == [1, 2, 3]
    assert [line["rewrite"] for line in found] == [False, False, True]
    assert found[1]["kept_message_bytes"] == found[0]["message_bytes"] > 0
    assert found[2]["kept_message_bytes"] == 0
    assert found[2]["broke"]["change"] == "moved"
    out = desktop.toolkeeper("audit", "cache", "--requests", file).out
    assert "3 requests, 1 rewrite;" in out
    assert "cause unexplained: 1 rewrite" in out
    kept = found[1]["kept_message_bytes"]
    whole = sum(line["message_bytes"] for line in found)
    assert f"{kept:,} of {whole:,} message bytes kept" in out


def test_the_bodies_of_batch_files_are_taken_out(desktop: Desktop) -> None:
    plain = lines(desktop, "--requests", written(desktop, body("a"), body("b")))
    for key in ("body", "params"):
        wrapped = [{"custom_id": "1", key: body("a")}, {"custom_id": "2", key: body("b")}]
        assert lines(desktop, "--requests", written(desktop, *wrapped)) == plain


def test_blank_lines_and_a_byte_order_mark_are_passed_over(desktop: Desktop) -> None:
    text = "\ufeff\n" + json.dumps(body("a")) + "\r\n\n" + json.dumps(body("a")) + "\n"
    file = desktop.write("requests.jsonl", "")
    file.write_text(text, encoding="utf-8")
    assert [line["rewrite"] for line in lines(desktop, "--requests", file)] == [False, False]


def test_standard_input_does(desktop: Desktop) -> None:
    text = json.dumps(body("a")) + "\n" + json.dumps(body("a", "b")) + "\n"
    ended = desktop.process("audit", "cache", "--requests", "-", "--json", stdin=text)
    assert ended.code == 0, ended.err
    assert [line["rewrite"] for line in ended.lines] == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}\n{", "line 2 is not valid json"),
        ("[]\n", "request 1 is not an object"),
        ('{}\n{"tools": 3}\n', "request 2 has `tools` in a form that no provider takes"),
        ('{"tools": [' + "[" * 100_000 + "\n", "line 1 is not valid json"),
    ],
)
def test_a_file_that_is_no_list_of_requests_is_told(desktop: Desktop, text: str, said: str) -> None:
    file = desktop.write("requests.jsonl", text)
    ended = desktop.toolkeeper("audit", "cache", "--requests", file, "--json")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_a_file_that_cannot_be_read_is_told(desktop: Desktop) -> None:
    ended = desktop.toolkeeper("audit", "cache", "--requests", "nowhere.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert "`nowhere.jsonl` cannot be read" in ended.err
    binary = desktop.folder / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe{}")
    assert "is not utf-8" in desktop.toolkeeper("audit", "cache", "--requests", binary).err


def test_an_empty_file_says_so_to_a_person(desktop: Desktop) -> None:
    file = desktop.write("requests.jsonl", "")
    ended = desktop.toolkeeper("audit", "cache", "--requests", file)
    assert (ended.code, ended.out) == (0, "the file has no request\n")


def test_a_session_and_a_file_at_once_are_refused(desktop: Desktop) -> None:
    ended = desktop.toolkeeper("audit", "cache", "--requests", "x", "--session", "y")
    assert (ended.code, ended.out) == (2, "")
    assert "exclude each other" in ended.err
