"""How does a transaction tell other processes that they may want to look?"""

from sqlalchemy import Connection, text

CHANNEL = "toolkeeper_changed"

_NOTIFY = text(f"NOTIFY {CHANNEL}")


def announce(connection: Connection) -> None:
    """Wakes who listens, when and if the transaction is committed.

    On SQLite nothing has to be done: a commit is seen as one.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_NOTIFY)
