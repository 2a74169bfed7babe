"""Which queries does a file of them hold?"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkeeper_contract import ConfigError

MAX_BYTES = 200_000_000
"""What is read of a file of queries at most."""


@dataclass(frozen=True, slots=True)
class Query:
    """One line: its `id` (text or a whole number, handed back as it came) and what is asked."""

    id: str | int
    text: str


def read_queries(path: Path) -> list[Query]:
    """The queries in a JSON Lines file, `{"id": ..., "query": ...}` each.

    Other keys are left alone, so labelled sets can be read as they are; blank lines are passed
    over. ConfigError with the line for anything else.
    """
    from toolkeeper.runtime.configuration import read_text

    file = str(path)
    text = read_text(path, hint="name a file with one query a line", most=MAX_BYTES)
    # Not `splitlines`: a query may hold what only Unicode takes for the end of a line.
    return [
        _query(line, file, number)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _query(line: str, file: str, number: int) -> Query:
    def fault(message: str) -> ConfigError:
        return ConfigError(message, _FORM, file=file, line=number)

    try:
        value = json.loads(line, parse_constant=_refuse, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        raise fault("this line is not valid json") from None
    if not isinstance(value, dict):
        raise fault("this line is no json object")
    for key in ("id", "query"):
        if key not in value:
            raise fault(f"the key `{key}` is missing")
    id, query = value["id"], value["query"]
    if not isinstance(id, str) and type(id) is not int:
        raise fault("the `id` must be text or a whole number")
    if not isinstance(query, str):
        raise fault("the `query` must be text")
    return Query(id, query)


_FORM = 'write `{"id": "q1", "query": "cancel a meeting"}` on each line'


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
