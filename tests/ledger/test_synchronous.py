"""A store's URL says whether what is committed survives a power loss as well."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import ConfigError
from toolkeeper_ledger import SqlLedger, open_ledger

NORMAL, FULL = 1, 2
"""What SQLite answers."""


async def synchronous(ledger: SqlLedger) -> int:
    def ask(connection: Any) -> int:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    try:
        return await ledger._writer.write(ask)
    finally:
        await ledger.close()


@pytest.mark.parametrize(
    ("query", "means"),
    [
        ("", NORMAL),
        ("?synchronous=full", FULL),
        ("?synchronous=FULL", FULL),
        ("?synchronous=normal", NORMAL),
    ],
)
def test_the_url_says_how_a_file_is_synchronised(
    store: str, clock: Any, query: str, means: int
) -> None:
    assert asyncio.run(synchronous(open_ledger(store + query, clock=clock))) == means


def test_both_spellings_are_one_store(store: str, clock: Any, tmp_path: Path) -> None:
    asyncio.run(open_ledger(store, clock=clock).close())
    asyncio.run(open_ledger(f"{store}?synchronous=full", clock=clock, create=False).close())
    assert [path.suffix for path in tmp_path.glob("*.db")] == [".db"]


@pytest.mark.parametrize("query", ["?synchronous=off", "?cache=shared"])
def test_anything_else_is_refused(store: str, clock: Any, query: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the store"):
        open_ledger(store + query, clock=clock)
    assert not list(tmp_path.iterdir())
