"""`toolkeeper audit verify`, `head` and `prune`, and `store upgrade`, as an operator meets them."""

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from toolkeeper.cli.keys import HEAD, RETAINED, VERIFIED

Desktop = Any
VERSION_1 = Path(__file__).parents[1] / "ledger" / "stores" / "version_1.sql"
FINDING = ("session_id", "seq", "kind", "of", "id", "says")


@pytest.fixture
def played(desktop: Desktop) -> Desktop:
    """A folder with two sessions: one done, and one with a call that is parked."""
    desktop.play("{id: c1, tool: schedule.list}\n{id: c2, tool: broken}\n{id: c3, tool: none}")
    desktop.play(
        "{id: c1, tool: schedule.list}\n{id: c2, tool: schedule.update, arguments: {id: 1}}"
    )
    return desktop


def sessions(desktop: Desktop) -> list[str]:
    return [line["session_id"] for line in desktop.toolkeeper("audit", "head", "--json").lines]


def test_head_has_the_keys_of_the_contract(played: Desktop) -> None:
    lines = played.toolkeeper("audit", "head", "--json").lines
    assert {tuple(line) for line in lines} == {HEAD}
    assert len(lines) == 2
    first = lines[0]["session_id"]
    assert played.toolkeeper("audit", "head", "--session", first, "--json").lines == lines[:1]
    shown = played.toolkeeper("audit", "head").out
    assert all(line["hash"] in shown for line in lines)


def test_verify_has_the_keys_of_the_contract(played: Desktop) -> None:
    ended = played.toolkeeper("audit", "verify", "--json")
    assert ended.code == 0
    assert tuple(ended.line) == VERIFIED
    assert ended.line["ok"] is True
    assert (ended.line["sessions"], ended.line["calls"], ended.line["approvals"]) == (2, 5, 1)
    assert "2 sessions" in played.toolkeeper("audit", "verify").out
    one = played.toolkeeper("audit", "verify", "--session", sessions(played)[0], "--json").line
    assert (one["sessions"], one["calls"]) == (1, 3)


def test_the_first_fault_is_named_and_ends_with_one(played: Desktop) -> None:
    name = sessions(played)[1]
    played.sql(f"UPDATE events SET data = '{{}}' WHERE session_id = '{name}' AND seq = 4")
    ended = played.toolkeeper("audit", "verify", "--json")
    assert ended.code == 1
    (finding,) = ended.line["findings"]
    assert tuple(finding) == FINDING
    assert finding == {
        "session_id": name,
        "seq": 4,
        "kind": "changed",
        "of": "event",
        "id": None,
        "says": "event 4 was changed",
    }
    shown = played.toolkeeper("audit", "verify")
    assert shown.code == 1
    assert name in shown.out
    assert "event 4 was changed" in shown.out
    assert "1 finding" in shown.out
    assert played.toolkeeper("audit", "verify", "--session", sessions(played)[0]).code == 0


def test_a_changed_row_is_named(played: Desktop) -> None:
    played.sql("UPDATE approvals SET state = 'approved'")
    played.sql("UPDATE invocations SET result = 'nothing happened' WHERE tool = 'broken'")
    findings = played.toolkeeper("audit", "verify", "--json").line["findings"]
    assert [(each["of"], each["kind"]) for each in findings] == [
        ("call", "changed"),
        ("approval", "changed"),
    ]
    assert "nothing happened" not in played.toolkeeper("audit", "verify").out


@pytest.mark.sqlite_file
def test_kept_heads_find_a_tail_that_was_cut(played: Desktop) -> None:
    heads = played.toolkeeper("audit", "head", "--json").out
    played.write("heads.jsonl", heads + heads)
    expect = ("audit", "verify", "--expect", "heads.jsonl")
    assert played.toolkeeper(*expect).code == 0
    assert "and 4 kept heads" in played.toolkeeper(*expect).out
    # Who can write the store can cut it so that it fits itself.
    first, second = sessions(played)
    before = f"(SELECT hash FROM events WHERE session_id = '{second}' AND seq = 3)"
    for statement in (
        f"UPDATE sessions SET head_seq = 3, head_hash = {before} WHERE session_id = '{second}'",
        f"DELETE FROM events WHERE session_id = '{second}' AND seq > 3",
        f"DELETE FROM invocations WHERE session_id = '{second}'",
        f"DELETE FROM approvals WHERE session_id = '{second}'",
    ):
        played.sql(statement)
    assert played.toolkeeper("audit", "verify").code == 0
    ended = played.toolkeeper(*expect, "--json")
    assert ended.code == 1
    (finding,) = ended.line["findings"]
    assert (finding["session_id"], finding["seq"], finding["kind"]) == (second, 4, "removed")
    for table in ("events", "invocations", "runs", "sessions"):
        played.sql(f"DELETE FROM {table} WHERE session_id = '{first}'")
    findings = played.toolkeeper(*expect, "--json").line["findings"]
    assert [(each["session_id"], each["of"]) for each in findings] == [
        (second, "event"),
        (first, "session"),
    ]


def test_heads_can_come_from_standard_input(played: Desktop) -> None:
    heads = played.process("audit", "head", "--json").out
    assert played.process("audit", "verify", "--expect", "-", stdin=heads).code == 0
    wrong = heads.replace('"hash": "', '"hash": "00')[: heads.index("\n") + 3]
    assert played.process("audit", "verify", "--expect", "-", stdin=wrong).code == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "x",
        "[]",
        '{"session_id": "s", "seq": 1}',
        '{"session_id": "s", "seq": "1", "hash": "%s"}' % ("a" * 64),
        '{"session_id": "s", "seq": true, "hash": "%s"}' % ("a" * 64),
        '{"session_id": "s", "seq": -1, "hash": "%s"}' % ("a" * 64),
        '{"session_id": "s", "seq": 1, "hash": "%s"}' % ("A" * 64),
        '{"session_id": 1, "seq": 1, "hash": "%s"}' % ("a" * 64),
    ],
)
def test_what_is_no_head_is_refused_with_its_line(played: Desktop, text: str) -> None:
    played.write("heads.jsonl", text)
    ended = played.toolkeeper("audit", "verify", "--expect", "heads.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert "heads.jsonl" in ended.err
    assert "audit head --json" in ended.err


def test_a_file_of_heads_that_is_not_there_is_told(played: Desktop) -> None:
    ended = played.toolkeeper("audit", "verify", "--expect", "gone.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert "`gone.jsonl`" in ended.err


@pytest.mark.parametrize("verb", ["head", "verify"])
def test_an_unknown_session_is_told(played: Desktop, verb: str) -> None:
    ended = played.toolkeeper("audit", verb, "--session", "ses_none")
    assert (ended.code, ended.out) == (1, "")
    assert "`ses_none`" in ended.err


@pytest.mark.parametrize(
    "words", [("verify",), ("head",), ("prune", "--older-than", "0s", "--dry-run")]
)
@pytest.mark.sqlite_file
def test_looking_leaves_the_store_as_it_was(played: Desktop, words: tuple[str, ...]) -> None:
    store = played.folder / "toolkeeper.db"
    before = (played.files(), store.read_bytes(), store.stat().st_mtime_ns)
    assert played.toolkeeper("audit", *words).code == 0
    assert (played.files(), store.read_bytes(), store.stat().st_mtime_ns) == before


def test_prune_shows_what_would_go_and_then_does_it(played: Desktop) -> None:
    done, parked = sessions(played)
    words = ("audit", "prune", "--older-than", "1ms")
    plan = played.toolkeeper(*words, "--dry-run", "--json").lines
    assert {tuple(line) for line in plan} == {RETAINED}
    assert [(line["session_id"], line["pruned"]) for line in plan] == [
        (done, False),
        (parked, False),
    ]
    assert plan[0]["kept_for"] is None
    assert plan[1]["kept_for"] == "it has a call that is not finished"
    assert "1 session to prune, 1 kept" in played.toolkeeper(*words, "--dry-run").out
    assert len(played.toolkeeper("audit", "calls", "--json").lines) == 5
    heads = played.toolkeeper("audit", "head", "--json").out
    gone, kept = played.toolkeeper(*words, "--json").lines
    assert gone == {**plan[0], "pruned": True}
    assert kept == plan[1]
    assert len(played.toolkeeper("audit", "calls", "--json").lines) == 2
    played.write("heads.jsonl", heads)
    verified = played.toolkeeper("audit", "verify", "--expect", "heads.jsonl", "--json")
    assert verified.code == 0
    assert verified.line["pruned"] == {done: gone["events"]}
    assert f"session {done} was pruned up to event {gone['events']}" in (
        played.toolkeeper("audit", "verify").out
    )
    assert "0 sessions pruned, 1 kept" in played.toolkeeper(*words).out


def test_evidence_is_kept_and_told_with_one(played: Desktop) -> None:
    played.sql("UPDATE invocations SET result = 'x' WHERE tool = 'broken'")
    ended = played.toolkeeper("audit", "prune", "--older-than", "1ms")
    assert ended.code == 1
    assert "audit finds something" in ended.out
    assert len(played.toolkeeper("audit", "calls", "--json").lines) == 5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--older-than 90d"),
        (("--before", "2026-01-01", "--older-than", "1d"), "--older-than 90d"),
        (("--older-than", "soon"), "`soon`"),
        (("--older-than", "2026-01-01"), "`2026-01-01`"),
        (("--before", "soon"), "`soon`"),
        (("--before", "2999-01-01"), "not over yet"),
    ],
)
def test_how_old_is_old_has_to_be_said(played: Desktop, words: tuple[str, ...], says: str) -> None:
    ended = played.toolkeeper("audit", "prune", *words)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert len(sessions(played)) == 2


def test_a_time_before_everything_prunes_nothing(played: Desktop) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    ended = played.toolkeeper("audit", "prune", "--before", yesterday)
    assert (ended.code, ended.out) == (0, "0 sessions pruned, 0 kept\n")


@pytest.mark.sqlite_file
def test_a_store_that_is_not_there_is_not_made(desktop: Desktop) -> None:
    for words in (
        ("audit", "verify"),
        ("audit", "head"),
        ("audit", "prune", "--older-than", "1d"),
        ("store", "upgrade"),
    ):
        ended = desktop.toolkeeper(*words)
        assert (ended.code, ended.out) == (2, "")
        assert "is not there" in ended.err
    assert "toolkeeper.db" not in desktop.files()


@pytest.mark.sqlite_file
def test_an_older_store_is_upgraded_on_purpose_or_by_whoever_writes(desktop: Desktop) -> None:
    def old() -> None:
        (desktop.folder / "toolkeeper.db").unlink(missing_ok=True)
        connection = sqlite3.connect(desktop.folder / "toolkeeper.db")
        connection.executescript(VERSION_1.read_text("utf-8"))
        connection.close()

    old()
    for words in (("audit", "verify"), ("audit", "calls"), ("approvals", "list")):
        ended = desktop.toolkeeper(*words)
        assert (ended.code, ended.out) == (2, "")
        assert "`toolkeeper store upgrade`" in ended.err
    line = desktop.toolkeeper("store", "upgrade", "--json").line
    assert tuple(line) == ("version", "history")
    assert [each["version"] for each in line["history"]] == [1, line["version"]]
    assert desktop.toolkeeper("store", "upgrade", "--json").line == line
    assert f"upgraded to version {line['version']}" in desktop.toolkeeper("store", "upgrade").out
    assert desktop.toolkeeper("audit", "verify").code == 0
    old()
    desktop.toolkeeper("call", "--agent", "chat", "--user", "ana", "schedule.list")
    verified = json.loads(desktop.toolkeeper("audit", "verify", "--json").out)
    assert (verified["ok"], verified["sessions"], verified["calls"]) == (True, 5, 15)
