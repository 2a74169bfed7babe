"""Which definitions of discovered tools were let in, and by whom?"""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

from toolkeeper_contract import AcceptedTool
from toolkeeper_ledger.rows import accepted_of, accepted_row
from toolkeeper_ledger.schema import accepted_tools

_ALL = select(accepted_tools).order_by(accepted_tools.c.name)
_SOURCES = select(accepted_tools.c.source).distinct()


def read_accepted(connection: Connection) -> list[AcceptedTool]:
    """Every accepted definition, by name."""
    return [accepted_of(row) for row in connection.execute(_ALL).mappings()]


def accept(connection: Connection, tools: Sequence[AcceptedTool], *, first: bool) -> None:
    """Replaces what was accepted under these names; of two of one name the later counts.

    `first`: only of sources that have nothing accepted yet.
    """
    known = set(connection.execute(_SOURCES).scalars()) if first else set()
    for tool in {tool.name: tool for tool in tools}.values():
        if tool.source not in known:
            connection.execute(delete(accepted_tools).where(accepted_tools.c.name == tool.name))
            connection.execute(insert(accepted_tools), accepted_row(tool))
