"""Where is the ledger?"""

from pathlib import Path as FilePath

from toolkeeper_contract import ConfigError, did_you_mean

DEFAULT_STORE = "sqlite:///toolkeeper.db"

VARIABLE = "TOOLKEEPER_STORE"
"""The environment variable that names the store where the configuration names none."""

_SCHEMES = ("sqlite", "postgresql")


def absolute_store(url: str, folder: FilePath) -> str:
    """`url` with a relative SQLite file made absolute from `folder`.

    Raises ConfigError, without file or line, for anything that is not a store; the URL itself is
    not quoted, for it may hold a password.
    """
    scheme, colon, rest = url.partition("://")
    if not colon:
        raise ConfigError(
            "this is not the address of a store", "write `sqlite:///toolkeeper.db`, say"
        )
    dialect = scheme.partition("+")[0]
    if dialect not in _SCHEMES:
        raise ConfigError("this kind of store is not known", did_you_mean(dialect, _SCHEMES))
    if dialect != "sqlite":
        return url
    file, question, query = rest.partition("?")
    if not file.startswith("/"):
        raise ConfigError(
            "the address of an sqlite store has three slashes",
            "write `sqlite:///toolkeeper.db` for a file beside this one",
        )
    name = file[1:]
    if not name or name == ":memory:":
        raise ConfigError(
            "the store must be a file, so that other processes find it",
            "write `sqlite:///toolkeeper.db`, say",
        )
    if name.endswith("/"):
        raise ConfigError("the store is a directory, not a file")
    return f"{scheme}:///{folder.absolute() / name}{question}{query}"
