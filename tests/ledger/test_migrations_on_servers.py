"""A server's store of an older version becomes one of this version, whole, or stays what it was."""

import asyncio
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect

from toolkeeper_contract import Code, ConfigError, RunError
from toolkeeper_ledger import VERSION, open_ledger
from toolkeeper_ledger.migrating import climb, end_others
from toolkeeper_ledger.schema import metadata


@pytest.fixture
def old_server(postgres_store: str, old_store: ModuleType) -> str:
    """A store of version 1 on a server. No release has made one, but steps are for all."""
    old_store.old_on_server(postgres_store)
    return postgres_store


def test_an_older_store_on_a_server_is_brought_up_to_date(old_server: str, clock: Any) -> None:
    with pytest.raises(ConfigError) as failure:
        open_ledger(old_server, clock=clock, read_only=True)
    assert "version 1" in failure.value.message
    ledger = open_ledger(old_server, clock=clock)

    async def read() -> None:
        assert [version for version, _ in await ledger.versions()] == [1, VERSION]
        report = await ledger.audit()
        assert (report.findings, report.sessions, report.calls) == ([], 4, 14)
        assert await ledger.reap(clock.forward(days=1)) != []
        assert (await ledger.audit()).findings == []
        await ledger.close()

    asyncio.run(read())
    engine = create_engine(old_server.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as upgraded:
        assert compare_metadata(MigrationContext.configure(upgraded), metadata) == []
    engine.dispose()


def test_the_steps_come_to_the_tables_of_this_version_on_a_server_too(
    postgres_store: str, old_store: ModuleType
) -> None:
    tables = old_store.tables
    engine = create_engine(postgres_store.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        created = tables(connection)
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
        climb(connection, 0, VERSION)
        assert tables(connection) == created
        assert indexes(connection) == {}
    engine.dispose()


def indexes(connection: Connection) -> dict[str, Any]:
    """The partial indexes whose condition is not the one that `schema.py` names."""
    seen = inspect(connection)
    wrong = {}
    for table in metadata.sorted_tables:
        found = {each["name"]: each for each in seen.get_indexes(table.name)}
        for index in table.indexes:
            wanted = index.dialect_options["postgresql"].get("where") is not None
            options = found[index.name].get("dialect_options", {})
            if wanted != ("postgresql_where" in options):
                wrong[str(index.name)] = options
    return wrong


def test_an_upgrade_that_fails_on_a_server_leaves_the_old_store(
    old_server: str, clock: Any, old_store: ModuleType
) -> None:
    tables = old_store.tables
    engine = create_engine(old_server.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE grants (mine TEXT)")
        before = tables(connection)
    with pytest.raises((ConfigError, RunError)):
        open_ledger(old_server, clock=clock)
    with engine.connect() as connection:
        assert tables(connection) == before
    engine.dispose()


def test_many_processes_can_upgrade_one_server_store_at_once(old_server: str, clock: Any) -> None:
    code = (
        "import asyncio, sys\n"
        "from toolkeeper.runtime.clock import SystemClock\n"
        "from toolkeeper_ledger import open_ledger\n"
        "ledger = open_ledger(sys.argv[1], clock=SystemClock())\n"
        "print(len(asyncio.run(ledger.heads())))\n"
        "asyncio.run(ledger.close())\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, old_server], stdout=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(3)
    ]
    assert [worker.communicate(timeout=60)[0] for worker in workers] == ["4\n"] * 3
    ledger = open_ledger(old_server, clock=clock)
    assert [version for version, _ in asyncio.run(ledger.versions())] == [1, VERSION]
    asyncio.run(ledger.close())


def test_a_server_store_that_a_newer_release_upgrades_meanwhile_is_left_alone(
    postgres_store: str, clock: Any, make: Any
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    asyncio.run(ledger.open_session(make.a_session(), []))
    engine = create_engine(
        postgres_store.replace("postgresql://", "postgresql+psycopg://"),
        connect_args={"application_name": "toolkeeper"},
    )
    with engine.begin() as connection:
        # What `bring_up` of a newer release does.
        end_others(connection)
        connection.exec_driver_sql(f"INSERT INTO toolkeeper_schema VALUES ({VERSION + 1}, 'now')")
    for ask in (lambda: ledger.open_session(make.a_session("ses_2"), []), ledger.heads):
        with pytest.raises(RunError) as failure:
            asyncio.run(ask())
        assert failure.value.code is Code.LEDGER_UNAVAILABLE
        assert "newer toolkeeper" in failure.value.message
    asyncio.run(ledger.close())
    with pytest.raises(ConfigError) as refused:
        open_ledger(postgres_store, clock=clock)
    assert f"version {VERSION + 1}" in refused.value.message
    engine.dispose()
