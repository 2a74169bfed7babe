"""Which definitions of discovered tools were let in, and by whom?"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from toolkeeper_contract import AcceptedTool, ToolDefinition, canonical_text
from toolkeeper_ledger.fault import DAMAGED, unavailable
from toolkeeper_ledger.rows import accepted_of, accepted_row, loads
from toolkeeper_ledger.schema import accepted_definitions, accepted_tools

_ALL = select(accepted_tools).order_by(accepted_tools.c.name)
_SOURCES = select(accepted_tools.c.source).distinct()
_BODY = select(accepted_definitions.c.body).where(
    accepted_definitions.c.fingerprint == bindparam("wanted")
)
_ALONE = text(f"LOCK TABLE {accepted_tools.name} IN SHARE ROW EXCLUSIVE MODE")
_DROP = delete(accepted_tools).where(accepted_tools.c.name == bindparam("dropped"))
_FIELDS = ("name", "title", "description", "input_schema", "output_schema", "annotations")


def read_accepted(connection: Connection) -> list[AcceptedTool]:
    """Every accepted fingerprint, by the tool's name."""
    return [accepted_of(row) for row in connection.execute(_ALL).mappings()]


def accept(
    connection: Connection,
    tools: Sequence[AcceptedTool],
    *,
    definitions: Sequence[ToolDefinition] = (),
    first: bool = False,
) -> None:
    """Replaces what was accepted under these names; of two of one name the later counts.

    `first`: only of sources that have nothing accepted yet.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_ALONE)  # of two first listings one is the first
    known = set(connection.execute(_SOURCES).scalars()) if first else set()
    by_print = prints(tools, definitions)
    for tool in {tool.name: tool for tool in tools}.values():
        if tool.source in known:
            continue
        connection.execute(_DROP, {"dropped": tool.name})
        connection.execute(insert(accepted_tools), accepted_row(tool))
        definition = by_print.get(tool.fingerprint)
        if definition is not None and _body(connection, tool.fingerprint) is None:
            body = {field: getattr(definition, field) for field in _FIELDS}
            connection.execute(
                insert(accepted_definitions),
                {"fingerprint": tool.fingerprint, "body": canonical_text(body)},
            )


def find_definition(connection: Connection, fingerprint: str) -> ToolDefinition | None:
    """The definition; RunError(ledger.unavailable) when it is not what its fingerprint says."""
    text = _body(connection, fingerprint)
    if text is None:
        return None
    body = loads(text)
    if not isinstance(body, dict) or set(body) != set(_FIELDS):
        raise unavailable(DAMAGED)
    definition = ToolDefinition(**body)
    if definition.fingerprint() != fingerprint:
        raise unavailable(DAMAGED)
    return definition


def prints(
    tools: Sequence[AcceptedTool], definitions: Sequence[ToolDefinition]
) -> Mapping[str, ToolDefinition]:
    """Those of `definitions` that are of `tools`, by their fingerprints."""
    wanted = {tool.fingerprint for tool in tools}
    by_print = {definition.fingerprint(): definition for definition in definitions}
    return {name: by_print[name] for name in by_print.keys() & wanted}


def _body(connection: Connection, fingerprint: str) -> Any:
    return connection.execute(_BODY, {"wanted": fingerprint}).scalars().first()
