"""Surroundings in which a store fails, for tests in this process."""

import sys
from pathlib import Path
from typing import Any

import pytest

# The driver is a script, and its parts import each other by their plain names.
sys.path.insert(0, str(Path(__file__).parent))

from scene import Scene


@pytest.fixture(params=["sqlite", "postgresql"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A scene on a fresh store of each kind of database."""
    if request.param == "sqlite":
        return Scene(tmp_path, f"sqlite:///{tmp_path / 'ledger.db'}")
    return Scene(tmp_path, request.getfixturevalue("postgres_store"))
