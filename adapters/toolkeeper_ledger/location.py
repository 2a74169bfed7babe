"""Which file does a store's URL name?"""

from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from toolkeeper_contract import ConfigError

_SHAPE = "write `sqlite:///toolkeeper.db`, or four slashes for an absolute path"


def store_path(url: str) -> Path:
    """The path in `sqlite:///path`; a relative one is relative to the working directory.

    ConfigError for anything else. The URL itself is not quoted: others carry a password.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigError("the store is not a URL", _SHAPE) from None
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise ConfigError(f"the store's kind `{parsed.drivername}` is not supported", _SHAPE)
    if parsed.host or parsed.query:
        raise ConfigError("the store's URL has a part that a file does not have", _SHAPE)
    if not parsed.database or parsed.database == ":memory:":
        raise ConfigError(
            "a store in memory would be gone with this process",
            f"{_SHAPE}; tests can use `MemoryLedger`",
        )
    if "\0" in parsed.database:
        raise ConfigError("the store's path has a character that no path can have", _SHAPE)
    return Path(parsed.database)


def is_there(url: str) -> bool:
    """Whether a store was begun at `url`: a file with something in it, whatever that is.

    ConfigError as `store_path`. A file that cannot be looked at is there: opening it says more.
    """
    path = store_path(url)
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
