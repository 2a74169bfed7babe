"""Which ledger does a verb that only reads look into?"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from toolkeeper.cli.option import DEFAULT_CONFIG
from toolkeeper.runtime import load_configuration
from toolkeeper.runtime.clock import SystemClock
from toolkeeper_contract import ConfigError, Ledger
from toolkeeper_ledger import open_ledger


@asynccontextmanager
async def ledger_to_read(config: Path, store: str | None) -> AsyncIterator[Ledger]:
    """The ledger at `store`, or the one that `config` names; opened read-only, never created."""
    if store is not None and config != DEFAULT_CONFIG:
        raise ConfigError("give either `--config` or `--store`, not both")
    url = store if store is not None else load_configuration(config, os.environ).store
    ledger = open_ledger(url, clock=SystemClock(), read_only=True, create=False)
    try:
        yield ledger
    finally:
        await ledger.close()
