"""A table reads well where it is shown: on a wide terminal, on a narrow one, in a pipe."""

import re
from io import StringIO
from typing import Any

import pytest

from toolkeeper.cli.output import print_table

COLUMNS = ("call", "tool", "outcome", "what came of it")
ROWS = [
    ("inv_1a22a64775b45b649087b22a0be", "mcp.calendar.events_create", "completed", "two words"),
    ("inv_1a22a647b2b2e25923a61721b3c", "mcp.calendar.events_list", None, ""),
]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def shown(
    monkeypatch: pytest.MonkeyPatch, width: int, rows: Any = ROWS, out: StringIO | None = None
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    out = out or Terminal()
    monkeypatch.setattr("sys.stdout", out)
    print_table(COLUMNS, rows)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    assert max(len(line) for line in lines) <= max(width, 160 if type(out) is StringIO else 0)
    return [line.rstrip() for line in lines]


def test_what_fits_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    head, *rows = shown(monkeypatch, 110)
    assert head.split() == ["call", "tool", "outcome", "what", "came", "of", "it"]
    assert [row.split()[:2] for row in rows] == [list(row[:2]) for row in ROWS]


def test_only_the_last_column_is_broken_into_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("inv_1", "mail.send", "refused", "a long reason that goes on " * 5)]
    lines = shown(monkeypatch, 80, rows)
    assert len(lines) > 3
    assert " ".join(" ".join(lines[1:]).split()) == " ".join(rows[0]).strip()


def test_no_other_column_is_broken_for_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = "2026-11-30T03:05:15.064075+00:00"
    lines = shown(monkeypatch, 80, [("4", moment, "call.decided", "a: b  " * 20)])
    assert moment in lines[1]


def test_what_does_not_fit_is_a_paragraph_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80) == [
        "inv_1a22a64775b45b649087b22a0be",
        "  tool             mcp.calendar.events_create",
        "  outcome          completed",
        "  what came of it  two words",
        "inv_1a22a647b2b2e25923a61721b3c",
        "  tool             mcp.calendar.events_list",
    ]


def test_a_pipe_gets_a_row_a_line_whatever_the_terminal_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = shown(monkeypatch, 40, out=StringIO())
    assert [line.split()[0] for line in lines] == ["call", *(row[0] for row in ROWS)]


def test_what_drives_a_terminal_is_shown_in_a_paragraph_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [("inv_1", "x" * 60, "\x1b[2J", "two\nlines")]
    assert shown(monkeypatch, 80, rows)[2:] == [
        "  outcome          \\u{1B}[2J",
        "  what came of it  two",
        "                   lines",
    ]
