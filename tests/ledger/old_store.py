"""A store as toolkeeper 0.1.0 wrote it, and what tables a database has."""

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Connection, MetaData, create_engine, inspect

from toolkeeper_ledger.migrating import climb

STORES = Path(__file__).parent / "stores"
VERSION_1 = (STORES / "version_1.sql").read_text("utf-8")


def make_old(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(VERSION_1)
    connection.close()


def make_version_2(path: Path) -> None:
    """The same store as version 2 had it, with something in what version 2 added."""
    make_old(path)
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        climb(connection, 1, 2)
        for statement in (
            "INSERT INTO toolkeeper_schema VALUES (2, '2026-11-30T00:00:00.000000+00:00')",
            "INSERT INTO grants SELECT 1, 'grt_1', 'always', tool, fingerprint, user_name, agent,"
            " NULL, NULL, '[]', approval_id, 'bea', asked_at, expires_at, NULL, NULL, NULL"
            " FROM approvals LIMIT 1",
            "INSERT INTO outbox SELECT 1, 'hook', session_id, seq, 0, at, NULL FROM events LIMIT 1",
            "UPDATE invocations SET attempts = 2, grant_id = 'grt_1' WHERE ordinal = 3",
        ):
            connection.exec_driver_sql(statement)
    engine.dispose()


def tables(connection: Connection) -> dict[str, Any]:
    """The tables as the database knows them; the order of columns is nobody's business."""
    seen = inspect(connection)
    return {
        name: {
            "columns": {
                column["name"]: (
                    str(column["type"]),
                    column["nullable"],
                    str(column["default"]).strip("'()"),
                )
                for column in seen.get_columns(name)
            },
            "key": seen.get_pk_constraint(name)["constrained_columns"],
            "unique": sorted(each["column_names"] for each in seen.get_unique_constraints(name)),
            "foreign": sorted(
                (each["constrained_columns"], each["referred_table"], each["referred_columns"])
                for each in seen.get_foreign_keys(name)
            ),
            "indexes": sorted(
                (
                    each["name"] or "",
                    each["column_names"],
                    str(each.get("dialect_options", {}).get("sqlite_where")),
                )
                for each in seen.get_indexes(name)
            ),
        }
        for name in seen.get_table_names()
    }


def old_on_server(url: str) -> None:
    """Makes the store on the server one of version 1, with the rows of the one that was kept."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    file = sqlite3.connect(":memory:")
    file.row_factory = sqlite3.Row
    file.executescript(VERSION_1)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
        climb(connection, 0, 1)
        tables = MetaData()
        tables.reflect(connection)
        for table in tables.sorted_tables:
            rows = [dict(row) for row in file.execute(f"SELECT * FROM {table.name}")]
            for row in rows:
                for column in table.columns:
                    if isinstance(column.type, Boolean):
                        row[column.name] = bool(row[column.name])
            if rows:
                connection.execute(table.insert(), rows)
            if "ordinal" in table.columns:
                connection.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'ordinal'), 1000)"
                )
    engine.dispose()
    file.close()
