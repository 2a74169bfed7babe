"""What holds for every test: the examples of Hypothesis, and a PostgreSQL server of our own."""

import base64
import importlib.util
import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest
from hypothesis import settings

# On a checkout that decides about a change the examples are the same in every run, so that a new
# fault is found by a developer, who can mend it, and not by a build of something else.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


_BY_CONFIGURATION = {"cases", "cli", "e2e", "runtime", "sessions"}
"""Folders of tests that write a configuration, which says where the ledger is.

With `--store=postgresql` those of them run that are given a folder to write it to, but for those
that are marked as being about a file. The others choose a store themselves, both where both matter.
"""

_ON_EACH_STORE = {"any_home", "postgres_store", "postgres_stores"}
"""Fixtures of tests that are on a server's store in every run."""


_ALL_PARTS = "TOOLKEEPER_TESTS_NEED_ALL_PARTS"
"""Set where nothing may be missing: a test that is skipped for a missing part fails instead."""

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

_DATA = re.compile(r"not (?:here|beside this checkout)$")
"""How a skipped test says that the data are missing which no checkout and no package has."""


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        choices=("sqlite", "postgresql"),
        default="sqlite",
        help="where a test keeps its ledger that does not care (default: a file)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "in_this_process: the command's start is no part of it; `home` saves it"
    )
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
        if item.path.relative_to(here).parts[0] in _BY_CONFIGURATION
        and not item.get_closest_marker("sqlite_file")
        and not _ON_EACH_STORE & set(getattr(item, "fixturenames", ()))
        and {"tmp_path", "tmp_path_factory"} & set(getattr(item, "fixturenames", ()))
    ]
    wanted = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _with_all_parts((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _with_all_parts((yield))


def _with_all_parts(report: Report) -> Report:
    """The report, as a failure where it says that a part is missing and none may be."""
    if report.skipped and os.environ.get(_ALL_PARTS) and isinstance(report.longrepr, tuple):
        place, line, reason = report.longrepr
        if not _DATA.search(reason):
            report.outcome = "failed"
            report.longrepr = f"{place}:{line}: {reason} ({_ALL_PARTS} is set)"
    return report


@pytest.fixture(autouse=True)
def default_store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Where a configuration that names no store keeps it: with `--store`, a fresh database."""
    for name in ("TOOLKEEPER_STORE", "TOOLKEEPER_SEAL_KEY", "TOOLKEEPER_SEAL_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    if request.config.getoption("--store") == "sqlite":
        yield
        return
    folder: Path = request.getfixturevalue("tmp_path")
    monkeypatch.setenv("TOOLKEEPER_STORE", request.getfixturevalue("postgres_store"))
    monkeypatch.setenv("TOOLKEEPER_SEAL_KEY", base64.b64encode(os.urandom(32)).decode())
    yield
    # Or else it was the first run once more.
    kept = [str(file.relative_to(folder)) for file in folder.rglob("*") if _is_sqlite(file)]
    assert kept == [], "kept in a file: name no store, or mark the test with `sqlite_file`"


def _is_sqlite(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as start:
        return start.read(15) == b"SQLite format 3"


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
