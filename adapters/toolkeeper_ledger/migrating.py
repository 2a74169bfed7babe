"""Which version has this store, and how is it brought up to date?

The number in `toolkeeper_schema` is the only truth about it, also for the migrations: each adds a
row, so that the table tells when the store was made and when it was upgraded.
"""

from sqlalchemy import Connection, insert, inspect, select, text

from toolkeeper_contract import ConfigError
from toolkeeper_ledger.fault import Fault
from toolkeeper_ledger.schema import VERSION, metadata, schema_version

_NEWEST = select(schema_version.c.version).order_by(schema_version.c.version.desc()).limit(1)
_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
LOCK_KEY = 0x746F_6F6C_6B65_6570
"""`toolkeep` in ASCII: a key that no other program is likely to use."""

_END_OTHERS = text(
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND usename = current_user"
    " AND application_name LIKE 'toolkeeper _%' AND pid <> pg_backend_pid()"
)

UPGRADED = Fault(
    "the store was upgraded by a newer toolkeeper while it was in use",
    "upgrade toolkeeper here too, and start again",
)


def newest_version(connection: Connection, store: str) -> int | None:
    """The store's version; None where it has no tables.

    ConfigError when its tables are another program's, or its version is none that we know. `store`
    is the name for people.
    """
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if schema_version.name not in tables:
        raise foreign_tables(store)
    return supported(connection.execute(_NEWEST).scalars().first(), store)


def bring_up(connection: Connection, at: str, store: str) -> int | None:
    """Makes the tables, or leads them to this version, in the caller's write transaction.

    Of several processes the first does it; the others wait here and find it done. Gives the version
    that was there, None where none was. `at` is the present as a column has it. ConfigError as
    `newest_version`.
    """
    if connection.dialect.name == "postgresql":
        # SQLite's write transactions exclude each other by themselves.
        connection.execute(_LOCK, {"key": LOCK_KEY})
    found = newest_version(connection, store)
    if found is None:
        metadata.create_all(connection)
    elif found < VERSION:
        end_others(connection)
        climb(connection, found, VERSION)
    if found != VERSION:
        connection.execute(insert(schema_version).values(version=VERSION, created_at=at))
    return found


def end_others(connection: Connection) -> None:
    """Ends the connections of processes that still work with the old tables.

    On a server each of them looks at the version when it connects, which waits for the upgrade, and
    then bears the version in its name; so those that are only opening the store are spared. On a
    file every transaction looks.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_END_OTHERS)


def climb(connection: Connection, start: int, end: int) -> None:
    """Takes the steps from version `start` (0: no tables) to `end`, in the caller's transaction."""
    # Loaded here: hardly any start has something to migrate.
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    from toolkeeper_ledger.migrations import STEPS

    operations = Operations(MigrationContext.configure(connection))
    for version in range(start + 1, end + 1):
        STEPS[version](operations)


def supported(version: object, store: str) -> int:
    """`version`, if a store of that version can be used. ConfigError otherwise."""
    if not isinstance(version, int):
        raise ConfigError(
            f"the store `{store}` does not say its version", "restore it from a backup"
        )
    if version > VERSION:
        raise ConfigError(
            f"the store `{store}` has version {version}, and this toolkeeper knows {VERSION}",
            "upgrade toolkeeper; the store was left as it is",
        )
    if version < 1:
        raise ConfigError(
            f"the store `{store}` has version {version}, which never was", "restore a backup"
        )
    return version


def check_current(version: int, store: str) -> None:
    """ConfigError when a store that is only read has an older version: it has to be upgraded."""
    if version < VERSION:
        raise ConfigError(
            f"the store `{store}` has version {version}, and version {VERSION} is read here",
            "`toolkeeper store upgrade` upgrades it, or a copy of it that may be written",
        )


def foreign_tables(store: str) -> ConfigError:
    """The error of a database that is somebody else's."""
    return ConfigError(
        f"the store `{store}` holds the tables of another program", "name another one"
    )
