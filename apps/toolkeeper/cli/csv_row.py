"""How does a row become a line of CSV that no spreadsheet runs?

What begins like a formula gets an apostrophe in front, which spreadsheets take for "this is text".
So CSV is for people to look at; JSON Lines keeps every character as it was.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

_FORMULA = tuple("=+-@\t\r\n|%\uff1d\uff0b\uff0d\uff20")
"""What a cell may not begin with, also in the wide forms that some spreadsheets read alike."""


def csv_line(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """One line, every cell in quotes; what is nested is JSON, null is empty."""
    return csv_cells([_cell(row[column]) for column in columns])


def csv_cells(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return f"'{text}" if text.lstrip(" \u00a0\ufeff").startswith(_FORMULA) else text
