"""`toolkeeper audit export`: whole, without secrets, and harmless in a spreadsheet."""

import asyncio
import csv
import io
import json
import subprocess
import sys
from typing import Any

import pytest

from toolkeeper.cli.csv_row import csv_line
from toolkeeper.cli.keys import EXPORTED
from toolkeeper_contract import Event
from toolkeeper_ledger import Head, open_ledger
from toolkeeper_ledger.chain import GENESIS, link

Desktop = Any


@pytest.fixture
def played(desktop: Desktop) -> Desktop:
    """A folder where calls ran, with a secret and a formula among their arguments."""
    desktop.play(
        "{id: '=cmd', tool: schedule.list, arguments: {day: 'token=hunter2secret'}}\n"
        "{id: c2, tool: schedule.update, arguments: {id: 1, title: '=1+1'}}"
    )
    desktop.play("{id: c1, tool: schedule.list}")
    return desktop


def exported(desktop: Desktop, *words: str) -> list[dict[str, Any]]:
    ended = desktop.toolkeeper("audit", "export", *words)
    assert ended.code == 0, ended.err
    lines: list[dict[str, Any]] = ended.lines
    return lines


def test_each_part_is_what_the_other_verbs_show(played: Desktop) -> None:
    for what, keys in EXPORTED.items():
        rows = exported(played, "--what", what)
        assert {tuple(row) for row in rows} <= {keys}
    shown = played.toolkeeper("audit", "calls", "--json").lines
    assert exported(played, "--what", "calls") == shown
    shown = played.toolkeeper("approvals", "list", "--all", "--json").lines
    assert exported(played, "--what", "approvals") == shown
    flat = played.toolkeeper("audit", "events", "--json").lines
    for row, event in zip(exported(played), flat, strict=True):
        assert {**{key: row[key] for key in tuple(row)[:6]}, **row["data"]} == event


def test_exported_events_can_be_verified_by_somebody_else(played: Desktop) -> None:
    heads: dict[str, Head] = {}
    for row in exported(played):
        name = row["session_id"]
        before = heads.get(name, Head(name, 0, GENESIS))
        event = Event(row["event"], row["data"], row["run_id"], row["invocation_id"])
        assert link(before.hash, row["seq"], name, row["at"], event) == row["hash"]
        heads[name] = Head(name, row["seq"], row["hash"])
    lines = played.toolkeeper("audit", "head", "--json").lines
    assert [
        {"session_id": h.session_id, "seq": h.seq, "hash": h.hash} for h in heads.values()
    ] == lines


def test_a_session_and_a_time_can_be_asked_for(played: Desktop) -> None:
    rows = exported(played, "--what", "calls")
    first, last = rows[0], rows[-1]
    for what in ("events", "calls"):
        own = exported(played, "--what", what, "--session", first["session_id"])
        assert {row["session_id"] for row in own} == {first["session_id"]}
    since = exported(played, "--what", "calls", "--since", last["opened_at"])
    assert since == [last]
    assert exported(played, "--since", "1h") == exported(played)
    assert exported(played, "--session", "ses_none") == []
    assert exported(played, "--what", "grants", "--session", first["session_id"]) == []


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_csv_has_a_header_and_the_same_rows(played: Desktop) -> None:
    for what, keys in EXPORTED.items():
        header, *rows = table(
            played.toolkeeper("audit", "export", "--what", what, "--format", "csv").out
        )
        assert tuple(header) == keys
        assert len(rows) == len(exported(played, "--what", what))
    header, *rows = table(
        played.toolkeeper("audit", "export", "--what", "calls", "--format", "csv").out
    )
    call = dict(zip(header, rows[0], strict=True))
    assert call["call_id"] == "'=cmd"
    assert json.loads(call["decision"])["effect"] == "allow"
    assert (call["is_error"], call["approval_id"]) == ("false", "")


def test_no_secret_is_exported(played: Desktop) -> None:
    for what in EXPORTED:
        for form in ("jsonl", "csv"):
            out = played.toolkeeper("audit", "export", "--what", what, "--format", form).out
            assert "hunter2secret" not in out


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\n=x", "'\n=x"),
        (" =x", "' =x"),
        ("\uff1d1", "'\uff1d1"),
        ("|x", "'|x"),
        ("%x", "'%x"),
        ("a=1", "a=1"),
        ('a "b", c\nd', 'a "b", c\nd'),
        ("'=1", "'=1"),
        (-1, "-1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, ""),
        ([], "[]"),
        ({"a": "é"}, '{"a": "é"}'),
        ("a\0b", "a\ufffdb"),
        ("\ud800", "?"),
    ],
)
def test_no_cell_begins_like_a_formula(value: Any, cell: str) -> None:
    line = csv_line(("x", "y"), {"x": value, "y": "end"})
    assert table(line) == [[cell, "end"]]


def test_a_file_is_there_once_it_is_whole(played: Desktop) -> None:
    before = played.files()
    played.write("out.jsonl", "what was there")
    assert played.toolkeeper("audit", "export", "-o", "out.jsonl").out == ""
    assert played.files() == before | {"out.jsonl"}
    text = (played.folder / "out.jsonl").read_text("utf-8")
    assert text == played.toolkeeper("audit", "export").out
    assert (played.folder / "out.jsonl").stat().st_mode & 0o077 == 0
    assert played.toolkeeper("audit", "export", "-o", "-").out == text
    csv_out = played.toolkeeper("audit", "export", "--format", "csv", "-o", "out.csv")
    assert csv_out.code == 0
    with (played.folder / "out.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == text.count("\n") + 1


@pytest.mark.parametrize("name", ["no/where.jsonl", "."])
def test_a_file_that_cannot_be_written_is_told(played: Desktop, name: str) -> None:
    before = played.files()
    ended = played.toolkeeper("audit", "export", "-o", name)
    assert (ended.code, ended.out) == (2, "")
    assert f"`{name}`" in ended.err
    assert played.files() == before


def test_a_damaged_row_leaves_no_half_file(played: Desktop) -> None:
    played.sql("UPDATE invocations SET arguments = '{' WHERE tool = 'schedule.update'")
    before = played.files()
    ended = played.toolkeeper("audit", "export", "--what", "calls", "-o", "out.jsonl")
    assert ended.code == 2
    assert "damaged" in ended.err
    assert played.files() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--what", "event"), "did you mean `events`"),
        (("--format", "xlsx"), "`--format`"),
        (("--since", "soon"), "`soon`"),
    ],
)
def test_what_cannot_be_exported_is_told(
    played: Desktop, words: tuple[str, ...], says: str
) -> None:
    ended = played.toolkeeper("audit", "export", *words)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err


@pytest.mark.sqlite_file
def test_exporting_leaves_the_store_as_it_was(played: Desktop) -> None:
    store = played.folder / "toolkeeper.db"
    before = (played.files(), store.read_bytes(), store.stat().st_mtime_ns)
    for what in EXPORTED:
        assert played.toolkeeper("audit", "export", "--what", what).code == 0
    assert (played.files(), store.read_bytes(), store.stat().st_mtime_ns) == before


@pytest.mark.sqlite_file
def test_memory_stays_flat_however_much_is_exported(desktop: Desktop) -> None:
    desktop.play("{id: c1, tool: schedule.list}")
    code = (
        "import resource, sys\n"
        "from toolkeeper.cli.main import main\n"
        "sys.argv = ['toolkeeper', 'audit', 'export', '-o', 'out.jsonl']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )

    def peak() -> int:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=desktop.folder, capture_output=True, encoding="utf-8"
        )
        assert done.stderr == ""
        return int(done.stdout)

    few = peak()
    grow(desktop, 30_000)
    many = peak()
    lines = (desktop.folder / "out.jsonl").read_text("utf-8").count("\n")
    assert lines > 30_000
    # The rows alone would take more than thirty megabytes; a page takes less than one.
    assert many - few < 12_000, (few, many)


def grow(desktop: Desktop, events: int) -> None:
    from toolkeeper.runtime.clock import SystemClock

    async def work() -> None:
        ledger = open_ledger(f"sqlite:///{desktop.folder / 'toolkeeper.db'}", clock=SystemClock())
        (head,) = await ledger.heads()
        told = [Event("session.read", {"n": n, "text": "x" * 500}) for n in range(1000)]
        for _ in range(events // 1000):
            await ledger.append(head.session_id, told)
        await ledger.close()

    asyncio.run(work())
