"""Ledgers to try, with a session and a run in them."""

import asyncio
import importlib.util
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_ledger import MemoryLedger, SqlLedger, open_ledger
from toolkeeper_ledger.postgres_home import FEW

HERE = Path(__file__).parent


def _load(name: str) -> ModuleType:
    # Tests are not a package; the worker scripts beside this file import it by its plain name.
    spec = importlib.util.spec_from_file_location(f"ledger_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MAKING = _load("making")
TELLING = _load("telling")
OLD_STORE = _load("old_store")


@pytest.fixture
def make() -> ModuleType:
    """The functions that make rows, plans and approvals."""
    return MAKING


@pytest.fixture
def at_home() -> Callable[[Any], Awaitable[Any]]:
    """Waits for the connections that a running loop has to a ledger on a server, and gives them."""

    async def wait(ledger: Any) -> Any:
        for _ in range(FEW + 1):
            await ledger.session("ses_1")
        for _ in range(1000):
            home = ledger._writer._home
            if home is not None and home.lane is not None:
                return home
            await asyncio.sleep(0.01)
        raise AssertionError("there are no connections of the loop")

    return wait


@pytest.fixture
def old_store() -> ModuleType:
    """A store of the first release, and what tables a database has."""
    return OLD_STORE


@pytest.fixture
def telling() -> ModuleType:
    """A session whose events tell of its rows, and how to tamper with both."""
    return TELLING


@pytest.fixture
def clock() -> Any:
    return MAKING.HandClock()


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store in a file."""
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def sql(store: str, clock: Any) -> Iterator[SqlLedger]:
    """The ledger in a file."""
    ledger = open_ledger(store, clock=clock)
    yield ledger
    asyncio.run(ledger.close())


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh store, of each kind that several processes can use."""
    name = "store" if request.param == "sqlite" else "postgres_store"
    return str(request.getfixturevalue(name))


@pytest.fixture
def any_sql(any_store: str, clock: Any) -> Iterator[SqlLedger]:
    """The ledger on each kind of database."""
    ledger = open_ledger(any_store, clock=clock)
    yield ledger
    asyncio.run(ledger.close())


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
def desk(request: pytest.FixtureRequest, clock: Any) -> Iterator[Any]:
    def at(name: str) -> SqlLedger:
        return open_ledger(request.getfixturevalue(name), clock=clock)

    make: dict[str, Callable[[], SqlLedger | MemoryLedger]] = {
        "sqlite": lambda: at("store"),
        "postgresql": lambda: at("postgres_store"),
        "memory": lambda: MemoryLedger(clock),
    }
    ledger = make[request.param]()
    MAKING.begin(ledger)
    yield MAKING.Desk(ledger, clock)
    asyncio.run(ledger.close())
