"""How does one statement look at a row, and say of which version the tables are that it stands in?

A look is on the way of every call. With a transaction around it and a question for the version it
is four statements; as one it is a snapshot by itself.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, func, literal_column, null, select, union_all

from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.schema import schema_version


class VersionedLook:
    """A look's statement together with the version of the tables."""

    def __init__(self, look: Prepared) -> None:
        statement = look.clause
        assert isinstance(statement, Select)
        found = statement.subquery("found")
        version = func.max(schema_version.c.version)
        nothing = [null() for _ in found.columns]
        self._both = Prepared(
            union_all(
                select(literal_column("0"), version, *nothing),
                select(literal_column("1"), null(), *found.columns),
            )
        )

    def run(self, connection: Connection, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """The version, and the first row that the statement finds; None without one."""
        version = found = None
        for row in self._both.run(connection, values).fetchall():
            if row[0] == 0:
                version = row[1]
            elif found is None:
                found = row[2:]
        return version, found
