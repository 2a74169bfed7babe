"""Is this PostgreSQL database a ledger of ours, and of a version that we can use?

Several workers may open one database at once: the first makes or upgrades the tables.
"""

from typing import TYPE_CHECKING

from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError

from toolkeeper_contract import Clock, ConfigError
from toolkeeper_ledger.fault import at_opening
from toolkeeper_ledger.location import place, server_url
from toolkeeper_ledger.migrating import bring_up, check_current, newest_version
from toolkeeper_ledger.rows import instant
from toolkeeper_ledger.schema import VERSION, schema_version

if TYPE_CHECKING:
    from toolkeeper_ledger.postgres_database import PostgresDatabase

_OLDEST = (13,)


def open_postgres(
    url: str, *, clock: Clock, read_only: bool, create: bool, patience: float
) -> "PostgresDatabase":
    """The store at `url`, its tables made where they are missing and may be.

    ConfigError when the driver is not installed, the database is not there or not ours to use, or
    of a newer version. RunError(ledger.unavailable) when its server is away or fails.
    """
    server = server_url(url)
    try:
        import psycopg

        from toolkeeper_ledger.postgres_database import PostgresDatabase
        from toolkeeper_ledger.postgres_fault import NOT_UNICODE, TOO_OLD, fault_of
    except ImportError:
        raise ConfigError(
            "a store on PostgreSQL needs the driver psycopg", "pip install 'toolkeeper[postgres]'"
        ) from None
    where = place(server)
    database = PostgresDatabase(server, read_only=read_only, patience=patience)
    try:
        try:
            connection = database.connect_once()
        except (DBAPIError, psycopg.Error) as error:
            raise at_opening(fault_of(error, connecting=True), where) from None
        with connection:
            if (connection.dialect.server_version_info or _OLDEST) < _OLDEST:
                raise at_opening(TOO_OLD, where)
            if connection.exec_driver_sql("SHOW server_encoding").scalar() != "UTF8":
                raise at_opening(NOT_UNICODE, where)
            version = newest_version(connection, where)
        if version is None and (read_only or not create):
            raise ConfigError(
                f"the database `{where}` holds no store",
                "check the name; `toolkeeper run` and `call` create a store, reading does not",
            )
        if read_only:
            check_current(version or VERSION, where)
        elif version != VERSION:
            at = instant(clock.now())
            database.write(lambda c: bring_up(c, at, where))
        database.watch_version()
    except BaseException as error:
        database.close()
        if isinstance(error, DBAPIError | psycopg.Error):
            raise at_opening(fault_of(error), where) from None
        raise
    return database


def holds_store(url: str) -> bool:
    """Whether a store was begun in the database. A server that is away is told when it is opened:
    then it is said to be there."""
    import psycopg

    from toolkeeper_ledger.postgres_database import PostgresDatabase

    database = PostgresDatabase(server_url(url), read_only=True, patience=0)
    try:
        with database.connect_once() as connection:
            return inspect(connection).has_table(schema_version.name)
    except (DBAPIError, psycopg.Error):
        return True
    finally:
        database.close()
