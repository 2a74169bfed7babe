"""What holds for every test: the examples of Hypothesis, and a PostgreSQL server of our own."""

import base64
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

# On a checkout that decides about a change the examples are the same in every run, so that a new
# fault is found by a developer, who can mend it, and not by a build of something else.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


_ON_ANY_STORE = {"cli", "runtime", "sessions"}
"""Folders of tests that keep a ledger wherever they are told to, and are run on both.

Tests of the ledger, of approvals and crashes, and the cases about workers, choose both themselves.
"""

_ON_EACH_STORE = {"any_home", "postgres_store", "postgres_stores"}
"""Fixtures of tests that are on a server's store in every run."""


def _load(name: str) -> ModuleType:
    # Tests are not a package.
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_VERBS = {"test_approvals_verb", "test_audit_verify", "test_grants_verb", "test_resume_verb"}
"""Those of the command line that answer, run, or read what is only in a store."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        choices=("sqlite", "postgresql"),
        default="sqlite",
        help="where a test keeps its ledger that does not care (default: a file)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "sqlite_file: is about a store in a file, or looks into one; no other will do"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what another store makes no difference to, or what chooses its own."""
    if config.getoption("--store") == "sqlite":
        return
    here = Path(__file__).parent
    kept = [
        item
        for item in items
        if item.path.relative_to(here).parts[0] in _ON_ANY_STORE
        and (item.path.parent.name != "cli" or item.path.stem in _VERBS)
        and not item.get_closest_marker("sqlite_file")
        and not _ON_EACH_STORE & set(getattr(item, "fixturenames", ()))
        # Without a folder there is no configuration, and without one no store.
        and {"tmp_path", "tmp_path_factory"} & set(getattr(item, "fixturenames", ()))
    ]
    wanted = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = kept


@pytest.fixture(autouse=True)
def default_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a configuration that names no store keeps it: with `--store`, a fresh database."""
    for name in ("TOOLKEEPER_STORE", "TOOLKEEPER_SEAL_KEY", "TOOLKEEPER_SEAL_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    if request.config.getoption("--store") == "postgresql":
        monkeypatch.setenv("TOOLKEEPER_STORE", request.getfixturevalue("postgres_store"))
        monkeypatch.setenv("TOOLKEEPER_SEAL_KEY", base64.b64encode(os.urandom(32)).decode())


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Any]:
    """A private server, one for each process that runs tests."""
    clusters = _load("postgres_cluster")
    binaries = clusters.find_binaries()
    if binaries is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip(clusters.INSTALL)
    with clusters.PostgresCluster(binaries) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def postgres_stores(postgres_cluster: Any) -> Any:
    """The stores on the private server."""
    return _load("postgres_stores").PostgresStores(postgres_cluster)


@pytest.fixture
def postgres_store(postgres_stores: Any) -> Iterator[str]:
    """The URL of an empty store on the private server."""
    url = postgres_stores.lend()
    yield url
    postgres_stores.take_back(url)
