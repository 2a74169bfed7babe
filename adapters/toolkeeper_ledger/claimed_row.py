"""What does a call's end change of the row with which it began?

Hardly half of it, as long as it ends on the connection on which it began. That remembers what it
wrote of calls that run: where the end is of the very same values, their columns need neither be
made again nor written again. Only whoever changes a row by hand can have changed them since, and
then the row is not what its end vouches for, which an audit tells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter, is_
from typing import Any

from sqlalchemy import Connection

from toolkeeper_contract import Invocation
from toolkeeper_contract.draft import drafted
from toolkeeper_ledger.rows import ending_columns

MEMORY = "toolkeeper.claimed"
"""Where a connection remembers the rows of calls that run, if it does."""

HIDDEN = {"leased_at": None, "lease_expires_at": None, "retryable": False, "sealed": None}
"""What only the ledger knows of a row, as it is when the call has ended."""

_MOST = 10_000
_ENDING = (
    "state",
    "outcome",
    "code",
    "result",
    "is_error",
    "truncated",
    "handle",
    "bytes",
    "superseded_by",
    "settled_at",
    "attempts",
)
"""What an end changes of the row that others see."""

CHANGED = (*_ENDING, *HIDDEN)

_staying = attrgetter(*(each.name for each in fields(Invocation) if each.name not in _ENDING))


@drafted
@dataclass(frozen=True, slots=True)
class Beginning:
    """A row as it began, and its columns."""

    row: Invocation
    columns: Mapping[str, Any]


def remember(connection: Connection, row: Invocation, columns: Mapping[str, Any]) -> None:
    """Keeps what was just written of a call that begins, also if it is not committed in the end."""
    memory: dict[str, Beginning] | None = connection.info.get(MEMORY)
    if memory is None:
        return
    if len(memory) >= _MOST:
        memory.clear()  # calls that never ended here
    memory[row.invocation_id] = Beginning(row, columns)


def columns_at_end(connection: Connection, row: Invocation) -> dict[str, Any] | None:
    """All columns of a call that ends, if nothing but what is CHANGED differs; None otherwise."""
    memory: dict[str, Beginning] | None = connection.info.get(MEMORY)
    claimed = memory.pop(row.invocation_id, None) if memory else None
    # The very same objects: 1 and True are equal, and not the same text.
    if claimed is None or not all(map(is_, _staying(claimed.row), _staying(row))):
        return None
    return {**claimed.columns, **ending_columns(row), **HIDDEN}
