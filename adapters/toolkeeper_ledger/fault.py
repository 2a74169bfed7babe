"""What does the operator read when the database fails?

The library's own text is never shown: it quotes statements and their values.
"""

import sqlite3
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from toolkeeper_contract import Code, ConfigError, RunError


@dataclass(frozen=True, slots=True)
class Fault:
    """`wiring` says that the store itself is the wrong one, so that waiting will not help."""

    message: str
    hint: str
    wiring: bool = False


NOT_A_DATABASE = Fault(
    "the store is not a SQLite database", "check the path in `store`", wiring=True
)

# By the beginning of SQLite's error name; extended codes go on (`SQLITE_BUSY_RECOVERY`).
_FAULTS = {
    "SQLITE_BUSY": Fault(
        "the store is locked by another process",
        "try again; if it lasts, look for a process that holds the store open",
    ),
    "SQLITE_LOCKED": Fault("the store is locked", "try again"),
    "SQLITE_FULL": Fault("the store's disk is full", "free some space and try again"),
    "SQLITE_IOERR": Fault(
        "the store cannot be read or written", "check the disk that holds it and try again"
    ),
    "SQLITE_READONLY": Fault(
        "the store cannot be written",
        "check who may write the file and its folder",
        wiring=True,
    ),
    "SQLITE_PERM": Fault("the store may not be opened", "check who may read it", wiring=True),
    "SQLITE_AUTH": Fault("the store may not be opened", "check who may read it", wiring=True),
    "SQLITE_CANTOPEN": Fault(
        "the store cannot be opened",
        "check that it is there, and who may read and write the file and its folder",
        wiring=True,
    ),
    "SQLITE_NOTADB": NOT_A_DATABASE,
    "SQLITE_CORRUPT": Fault(
        "the store is damaged", "restore it from a backup; do not delete it", wiring=True
    ),
    "SQLITE_TOOBIG": Fault("a record is too big to be kept", "lower `result_bytes`"),
    "SQLITE_NOMEM": Fault("there is no memory left for the store", "free some memory"),
}

_UNKNOWN = Fault(
    "the store cannot be used", "check the file with `sqlite3 FILE 'pragma quick_check'`"
)

DAMAGED = Fault("a record of the store is damaged", "restore the store from a backup")

GONE = Fault(
    "the store's file is gone or was replaced while it was in use",
    "put it back, or start again with another store",
)


def fault_of(error: DBAPIError | sqlite3.Error) -> Fault:
    """What happened, in words of our own."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(origin, "sqlite_errorname", None) or ""
    for start, fault in _FAULTS.items():
        if name.startswith(start):
            return fault
    return _UNKNOWN


def is_busy(error: DBAPIError | sqlite3.Error) -> bool:
    """Whether another process was in the way, so that trying again may help."""
    return fault_of(error) is _FAULTS["SQLITE_BUSY"]


def unavailable(fault: Fault) -> RunError:
    """The error of a store that was in use."""
    return RunError(Code.LEDGER_UNAVAILABLE, fault.message, fault.hint)


def closed() -> RunError:
    """The error of work that comes when the ledger was closed."""
    return RunError(Code.LEDGER_UNAVAILABLE, "the store was closed", "open it again")


def at_opening(fault: Fault, path: str) -> ConfigError | RunError:
    """The error of a store that is being opened: wiring faults are the developer's to mend."""
    if fault.wiring:
        return ConfigError(f"{fault.message}: `{path}`", fault.hint)
    return RunError(Code.LEDGER_UNAVAILABLE, f"{fault.message}: `{path}`", fault.hint)


def conflict(message: str, hint: str | None = None) -> RunError:
    """The error of a record that contradicts one that is there."""
    return RunError(Code.LEDGER_CONFLICT, message, hint)
