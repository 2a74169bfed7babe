"""Which ledger does a verb change that works on the store itself?"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkeeper_ledger import SqlLedger


@asynccontextmanager
async def ledger_to_tend(config: Path, store: str | None) -> AsyncIterator["SqlLedger"]:
    """The ledger at `store`, else the one that `config` names; upgraded, but never created."""
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.configuration import load_configuration
    from toolkeeper_ledger import open_ledger

    url = store if store is not None else load_configuration(config, os.environ).store
    ledger = open_ledger(url, clock=SystemClock(), create=False)
    try:
        yield ledger
    finally:
        await ledger.close()
