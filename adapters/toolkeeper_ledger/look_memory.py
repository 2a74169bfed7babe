"""What did a look find, where nothing can have changed since?

A call looks at its session before every step, to see what another process has changed. SQLite tells
each connection by one number whether another one has written, and what this process writes itself
it knows: where neither has happened, the answer is the one that was given last.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.calls import Claim, Settle
from toolkeeper_ledger.group import Together
from toolkeeper_ledger.look import Look
from toolkeeper_ledger.subscribed_writer import Subscribed

T = TypeVar("T")

_MOST = 10_000
_NOTHING = object()


def leaves_sessions(work: object) -> bool:
    """Whether this work changes nothing of sessions that a look could find (their heads aside)."""
    if isinstance(work, Together):
        return all(leaves_sessions(each) for each in work.works)
    if isinstance(work, Subscribed):
        return leaves_sessions(work.work)
    return isinstance(work, Claim) or (
        isinstance(work, Settle) and not work.tainted and not work.private
    )


class LookMemory:
    """Answers of looks at sessions, as long as they stand; for one connection that writes.

    Every commit of its own that may change a session has to `forget`, and so has whoever replaces
    the connection, since the number is the connection's own.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._answers: dict[Any, Any] = {}

    def answer(self, writer: Connection, look: Look[T], ask: Callable[[], T]) -> T:
        """What `ask()` gives, or gave last time."""
        (number,) = writer.connection.cursor().execute("PRAGMA data_version").fetchone()
        if number != self._number or len(self._answers) >= _MOST:
            self._answers.clear()
            # Read before the look: what is written in between is seen the next time.
            self._number = number
        key = (look.statement, *look.values.values())
        found: Any = self._answers.get(key, _NOTHING)
        if found is _NOTHING:
            found = self._answers[key] = ask()
        answer: T = found
        return answer

    def forget(self) -> None:
        self._answers.clear()
