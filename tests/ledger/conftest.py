"""Ledgers to try, with a session and a run in them."""

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_ledger import MemoryLedger, SqlLedger, open_ledger

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


@pytest.fixture
def make() -> ModuleType:
    """The functions that make rows, plans and approvals."""
    return MAKING


@pytest.fixture
def clock() -> Any:
    return MAKING.HandClock()


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def sql(store: str, clock: Any) -> Iterator[SqlLedger]:
    ledger = open_ledger(store, clock=clock)
    yield ledger
    asyncio.run(ledger.close())


@pytest.fixture(params=["sqlite", "memory"])
def desk(request: pytest.FixtureRequest, clock: Any, store: str) -> Iterator[Any]:
    make: dict[str, Callable[[], SqlLedger | MemoryLedger]] = {
        "sqlite": lambda: open_ledger(store, clock=clock),
        "memory": lambda: MemoryLedger(clock),
    }
    ledger = make[request.param]()
    MAKING.begin(ledger)
    yield MAKING.Desk(ledger, clock)
    asyncio.run(ledger.close())
