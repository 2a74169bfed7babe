"""What does the operator read when a PostgreSQL server fails?

By SQLSTATE where the server gave one. A connection that never came about has none, so the server's
refusal is told by its words; in another language it is the general fault.
"""

from psycopg import Error
from sqlalchemy.exc import DBAPIError

from toolkeeper_ledger.fault import Fault

UNREACHABLE = Fault(
    "the store's server cannot be reached",
    "check that it runs, and the host and port in `store`",
)
LOST = Fault("the connection to the store's server was lost", "try again")
IN_DOUBT = Fault(
    "the store's server was lost at a commit, and did not come back to say whether it was written",
    "read the call with `toolkeeper audit show` before it is tried again",
)
TOO_OLD = Fault("the store's server is older than PostgreSQL 13", "use a newer server", wiring=True)
NOT_UNICODE = Fault(
    "the store's database does not hold Unicode",
    "create one with `createdb --encoding=UTF8 --template=template0`",
    wiring=True,
)
_CROWDED = Fault(
    "the store's server has no connection left",
    "raise its `max_connections`, or run fewer workers",
)
_STARTING = Fault("the store's server is starting or stopping", "try again in a moment")
_REFUSED = Fault(
    "the store's server did not accept the user or the password",
    "check both in `store`, and the server's pg_hba.conf",
    wiring=True,
)
_NO_DATABASE = Fault(
    "the store's database is not there", "create it with `createdb`, or name another", wiring=True
)
_NOT_ALLOWED = Fault(
    "the store's user may not use its tables",
    "grant the user the rights on the schema, or use the owner",
    wiring=True,
)
_READ_ONLY = Fault(
    "the store's server takes no writes",
    "name the primary server, not a standby",
    wiring=True,
)
_FULL = Fault("the disk of the store's server is full", "free some space and try again")
_LOCKED = Fault(
    "the store is locked by another process",
    "try again; if it lasts, look for a transaction that stays open",
)
_OVERTAKEN = Fault("the store is busy with the same rows", "try again")
_DAMAGED = Fault("the store is damaged", "restore it from a backup; do not delete it", wiring=True)
_TOO_BIG = Fault("a record is too big to be kept", "lower `result_bytes`")
_NO_MEMORY = Fault("the store's server has no memory left", "free some memory on it")
_NO_TABLES = Fault(
    "the store's tables are not as they were made", "restore them from a backup", wiring=True
)
_OPTIONS = Fault(
    "the store's URL has an option that cannot be used", "check what follows `?`", wiring=True
)
_UNKNOWN = Fault("the store cannot be used", "read the log of its server")

# By the beginning of the SQLSTATE; the first that fits.
_BY_STATE = {
    "40": _OVERTAKEN,
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "53300": _CROWDED,
    "53100": _FULL,
    "53200": _NO_MEMORY,
    "53": _FULL,
    "57P": _STARTING,
    "08": LOST,
    "25006": _READ_ONLY,
    "28": _REFUSED,
    "3D000": _NO_DATABASE,
    "42501": _NOT_ALLOWED,
    "42P01": _NO_TABLES,
    "42703": _NO_TABLES,
    "54": _TOO_BIG,
    "XX": _DAMAGED,
}
_BY_WORDS = {
    "too many clients": _CROWDED,
    "too many connections": _CROWDED,
    "remaining connection slots": _CROWDED,
    "starting up": _STARTING,
    "shutting down": _STARTING,
    "recovery": _STARTING,
    "not yet accepting": _STARTING,
    "authentication failed": _REFUSED,
    "no password supplied": _REFUSED,
    "pg_hba.conf": _REFUSED,
    "role ": _REFUSED,
    "does not exist": _NO_DATABASE,
    "permission denied": _REFUSED,
    "invalid uri query parameter": _OPTIONS,
    "invalid connection option": _OPTIONS,
    "invalid sslmode": _OPTIONS,
}
_PASSING = (UNREACHABLE, LOST, _STARTING, _CROWDED)


def origin(error: DBAPIError | Error) -> Error | None:
    """The driver's error."""
    found = error.orig if isinstance(error, DBAPIError) else error
    return found if isinstance(found, Error) else None


def fault_of(error: DBAPIError | Error, *, connecting: bool = False) -> Fault:
    """What happened, in words of our own."""
    cause = origin(error)
    if cause is None:
        return _UNKNOWN
    if cause.sqlstate:
        for start, fault in _BY_STATE.items():
            if cause.sqlstate.startswith(start):
                return fault
        return _UNKNOWN
    if connecting:
        words = str(cause).lower()
        for part, fault in _BY_WORDS.items():
            if part in words:
                return fault
        return UNREACHABLE
    return LOST


def is_overtaken(error: DBAPIError | Error) -> bool:
    """Whether another transaction was in the way, so that the work has to run again."""
    cause = origin(error)
    return cause is not None and cause.sqlstate in ("40001", "40P01")


def may_pass(fault: Fault) -> bool:
    """Whether the server may be back in a moment."""
    return fault in _PASSING
