"""Workers and clients share a store, workers are killed, and every number adds up.

The run of 20,000 calls is `python bench/soak.py`.
"""

import asyncio
from pathlib import Path

import pytest
from soak_run import soak
from soak_scene import SoakScene


@pytest.mark.slow
def test_every_call_ends_once_on_postgresql(tmp_path: Path, postgres_store: str) -> None:
    scene = SoakScene(tmp_path, postgres_store, lease=1.5, expiry=6.0)
    count = asyncio.run(soak(scene, calls=300, workers=2, clients=4, kills=3))
    assert count.faults == []
    assert count.kills >= 1
    assert count.approvals["spent"] > 0


@pytest.mark.slow
def test_every_call_ends_once_on_sqlite(tmp_path: Path) -> None:
    scene = SoakScene(tmp_path, f"sqlite:///{tmp_path / 'ledger.db'}", lease=1.5, expiry=6.0)
    count = asyncio.run(soak(scene, calls=160, workers=2, clients=4, kills=2))
    assert count.faults == []
    assert count.kills >= 1
