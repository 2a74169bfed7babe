"""How does a store's URL become a ledger?"""

from toolkeeper_contract import Clock
from toolkeeper_ledger.file_changes import FileChanges
from toolkeeper_ledger.gathering_writer import GatheringWriter
from toolkeeper_ledger.ledger import SqlLedger
from toolkeeper_ledger.location import is_on_server, store_path, synchronous_of
from toolkeeper_ledger.opening import open_database
from toolkeeper_ledger.postgres_opening import open_postgres


def open_ledger(
    url: str,
    *,
    clock: Clock,
    read_only: bool = False,
    create: bool = True,
    synchronous: str | None = None,
    busy_timeout: float = 10.0,
) -> SqlLedger:
    """The ledger at `url` (`sqlite:///path` or `postgresql://...`).

    A missing store is created where `create`; on a server, its tables in a database that is there.
    `synchronous` is NORMAL (what is committed survives kill -9) or FULL (power loss too); left out,
    it is what the URL says (`?synchronous=full`), else NORMAL. A server is configured by itself.
    `busy_timeout` is in seconds: how long to wait for another process's write, or for a server that
    is being restarted.
    ConfigError when the store is missing, not a database, of a newer version or may not be used;
    RunError(ledger.unavailable) when it is locked, its disk fails or its server is away.
    """
    if is_on_server(url):
        server = open_postgres(
            url, clock=clock, read_only=read_only, create=create, patience=busy_timeout
        )
        from toolkeeper_ledger.postgres_changes import PostgresChanges
        from toolkeeper_ledger.postgres_writer import PostgresWriter

        return SqlLedger(PostgresWriter(server), clock, PostgresChanges(server))
    database = open_database(
        store_path(url),
        clock=clock,
        read_only=read_only,
        create=create,
        synchronous=synchronous or synchronous_of(url) or "NORMAL",
        busy_timeout=busy_timeout,
    )
    return SqlLedger(GatheringWriter(database), clock, FileChanges(database.connect))
