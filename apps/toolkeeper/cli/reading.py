"""Which ledger does a verb that only reads look into?"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkeeper_ledger import SqlLedger


@asynccontextmanager
async def ledger_to_read(config: Path, store: str | None) -> AsyncIterator["SqlLedger"]:
    """The ledger at `store`, else the one that `config` names; read-only, never created.

    With `store` no configuration is needed, so none is looked at.
    """
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.configuration import load_configuration
    from toolkeeper_ledger import open_ledger

    url = store if store is not None else load_configuration(config, os.environ).store
    ledger = open_ledger(url, clock=SystemClock(), read_only=True, create=False)
    try:
        yield ledger
    finally:
        await ledger.close()
