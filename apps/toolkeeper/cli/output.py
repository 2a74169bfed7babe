"""How does a command show what it found, to a program and to a person?"""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolkeeper_index import visible

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What JSON allows in a string, and what ends a line, drives a terminal or is no Unicode."""


_NARROWEST = 26
"""Characters that the last column of a table needs to be read where it is broken into lines."""


def print_json(value: Any) -> None:
    """One JSON value on one line of standard output."""
    sys.stdout.write(json_line(value))
    sys.stdout.flush()


def json_line(value: Any) -> str:
    """One JSON value as one line, whatever its reader takes for a line."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def moment(text: str) -> str:
    """A time of ISO 8601 in UTC as people read it, to the second; `--json` has the whole."""
    return f"{text[:10]} {text[11:19]}Z"


def print_lines(values: Iterable[Any]) -> None:
    """JSON Lines."""
    for value in values:
        print_json(value)


def say(text: str = "", *, style: str = "") -> None:
    """One line for a person; whatever could redraw a terminal is shown, never sent."""
    shown = "\n".join(map(visible, text.split("\n")))
    if not style and "\t" not in shown:
        sys.stdout.write(shown + "\n")
        return
    from rich.text import Text

    _console().print(Text(shown, style=style), soft_wrap=True)


def complain(text: str) -> None:
    """One message on standard error."""
    sys.stderr.write("\n".join(map(visible, text.split("\n"))) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """A table for a person; numbers stand to the right.

    On a terminal that is too narrow for it each row is a paragraph, so that no word is torn.
    """
    from rich.table import Table
    from rich.text import Text

    cells = [[cell for cell in row] for row in rows]
    shown = [[visible(str("" if cell is None else cell)) for cell in row] for row in cells]
    console = _console()
    fits = _fits(columns, shown, console.width)
    if sys.stdout.isatty() and not fits:
        _print_paragraphs(columns, shown, title)
        return
    table = Table(title=title or None, title_justify="left", header_style="bold", box=None)
    for index, column in enumerate(columns):
        number = bool(cells) and all(isinstance(row[index], int) for row in cells)
        # The first column names the row: an id that is broken in two cannot be copied. Where the
        # others have room, only the last one is broken.
        whole = index == 0 or (fits and index < len(columns) - 1)
        justify: JustifyMethod = "right" if number else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=whole)
    for row in shown:
        table.add_row(*map(Text, row))
    console.print(table)


def _fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether only the last column has to be broken, and that into lines that can be read."""
    from rich.cells import cell_len

    widest = [
        max(cell_len(line) for cell in column for line in cell.split("\n"))
        for column in zip(columns, *rows, strict=True)
    ]
    *others, last = (each + 2 for each in widest)
    return sum(others) + min(last, _NARROWEST) <= width


def _print_paragraphs(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    from rich.text import Text

    console = _console()
    width = max(len(column) for column in columns[1:])
    lines = [Text(title)] if title else []
    for row in rows:
        lines.append(Text(row[0], style="bold"))
        for column, cell in zip(columns[1:], row[1:], strict=True):
            below = "\n" + " " * (width + 4)
            if cell:
                lines.append(Text(f"  {column.ljust(width)}  {cell.replace(chr(10), below)}"))
    for line in lines:
        console.print(line, soft_wrap=True)


def print_fields(fields: Mapping[str, Any]) -> None:
    """One thing with its fields, a line each."""
    width = max((len(key) for key in fields), default=0)
    for key, value in fields.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = ("-" if value is None else shown).split("\n")
        say(f"{key.ljust(width)}  {first}")
        for line in rest:
            say(f"{' ' * width}  {line}")


def _console() -> "Console":
    from rich.console import Console

    # Made anew each time: tests and pipes change what standard output is.
    width = None if sys.stdout.isatty() else 160
    return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width)
