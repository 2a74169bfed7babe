"""How does each test get an empty store on the private server, without waiting for a new database?

A database is some three hundred files. One that a test has left is emptied and goes to the next
test, if nobody is connected to it any more and its tables are as they were made.
"""

import asyncio
import itertools
from datetime import UTC, datetime
from typing import Any

import psycopg

from toolkeeper_ledger import open_ledger
from toolkeeper_ledger.schema import metadata, schema_version

_SHAPE = """
    SELECT string_agg(relname || '.' || attname || ' ' || atttypid || attnotnull, ',' ORDER BY
               relname, attnum),
           (SELECT string_agg(tgname, ',' ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped
"""
_OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
_SEQUENCES = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
    FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""
_KEPT = {schema_version.name}
_EMPTY = "; ".join(
    f"DELETE FROM {table.name}"
    for table in reversed(metadata.sorted_tables)
    if table.name not in _KEPT
)


class PostgresStores:
    """The stores of one server; `cluster` says where it is."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._numbers = itertools.count(1)
        self._model: list[Any] = []
        self._free: list[str] = []

    def new(self) -> str:
        """The URL of a store that nobody had before."""
        with psycopg.connect(self._cluster.url(), autocommit=True) as server:
            if not self._model:
                server.execute("CREATE DATABASE model")
                url = self._cluster.url("model")
                asyncio.run(open_ledger(url, clock=_Clock()).close())
                self._model = _shape(url)
            name = f"store_{next(self._numbers)}"
            # As copies of files, which is all that older servers can do, it waits for a checkpoint.
            how = " STRATEGY wal_log" if server.info.server_version >= 150000 else ""
            server.execute(f"CREATE DATABASE {name} TEMPLATE model{how}")
        return str(self._cluster.url(name))

    def lend(self) -> str:
        """The URL of an empty store, to be given back."""
        return self._free.pop() if self._free else self.new()

    def take_back(self, url: str) -> None:
        """Empties a store, or does away with it where somebody may still write to it."""
        name = url.rpartition("/")[2]
        try:
            with psycopg.connect(url, autocommit=True) as database:
                alone = database.execute(_OTHERS, [name]).fetchone() == (0,)
                if alone:
                    database.execute(f"{_EMPTY}; {_SEQUENCES}")
            if alone and _shape(url) == self._model:
                self._free.append(url)
                return
        except psycopg.Error:
            pass  # whatever the test did to it
        with psycopg.connect(self._cluster.url(), autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _shape(url: str) -> list[Any]:
    """What tables a store has, and of what version it says it is."""
    with psycopg.connect(url) as database:
        versions = database.execute(f"SELECT version FROM {schema_version.name} ORDER BY 1")
        return [*versions.fetchall(), database.execute(_SHAPE).fetchone()]


class _Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)
