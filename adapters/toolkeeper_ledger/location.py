"""Which file, or which server, does a store's URL name?"""

from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from toolkeeper_contract import ConfigError

SYNCHRONOUS = ("NORMAL", "FULL")
"""What is committed survives the death of the process, or a power loss as well."""

_SHAPE = "write `sqlite:///toolkeeper.db`, or four slashes for an absolute path"
_SERVER_SHAPE = "write `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`"
_SQLITE = ("sqlite", "sqlite+pysqlite")
_SYNCHRONOUS = "synchronous"
_POSTGRES = ("postgresql", "postgresql+psycopg")


def is_on_server(url: str) -> bool:
    """Whether the store is a PostgreSQL database; ConfigError for what is no store.

    The URL itself is not quoted, here and below: it may carry a password.
    """
    kind = _parse(url).drivername
    if kind in _POSTGRES:
        return True
    if kind in _SQLITE:
        return False
    raise ConfigError(
        f"the store's kind `{kind}` is not supported",
        _SERVER_SHAPE if kind.startswith("postgres") else f"{_SHAPE}, or `postgresql://...`",
    )


def store_path(url: str) -> Path:
    """The path in `sqlite:///path`; a relative one is relative to the working directory."""
    parsed = _parse(url)
    if parsed.drivername not in _SQLITE:
        raise ConfigError(f"the store's kind `{parsed.drivername}` is not a file", _SHAPE)
    if parsed.host or parsed.query.keys() - {_SYNCHRONOUS}:
        raise ConfigError("the store's URL has a part that a file does not have", _SHAPE)
    if not parsed.database or parsed.database == ":memory:":
        raise ConfigError(
            "a store in memory would be gone with this process",
            f"{_SHAPE}; tests can use `MemoryLedger`",
        )
    if "\0" in parsed.database:
        raise ConfigError("the store's path has a character that no path can have", _SHAPE)
    return Path(parsed.database)


def synchronous_of(url: str) -> str | None:
    """How a file's URL has it synchronised, `sqlite:///path?synchronous=full`; None: not said.

    ConfigError for anything but `normal` and `full`.
    """
    wanted = _parse(url).query.get(_SYNCHRONOUS)
    if wanted is None:
        return None
    if not isinstance(wanted, str) or wanted.upper() not in SYNCHRONOUS:
        raise ConfigError(
            "the store cannot be synchronised that way",
            "write `?synchronous=full` to survive a power loss as well, or leave it out",
        )
    return wanted.upper()


def server_url(url: str) -> URL:
    """The URL of a PostgreSQL database, with the driver that is used for it."""
    parsed = _parse(url)
    if not parsed.database and "dbname" not in parsed.query:
        raise ConfigError("the store's URL names no database", _SERVER_SHAPE)
    return parsed.set(drivername="postgresql+psycopg")


def place(url: URL) -> str:
    """What may be told of a server's URL: host, port and database, never user or password."""
    host = url.host or str(url.query.get("host", "localhost"))
    port = f":{url.port}" if url.port else ""
    return f"{host}{port}/{url.database or url.query.get('dbname', '')}"


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigError("the store is not a URL", _SHAPE) from None
