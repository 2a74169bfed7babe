"""How does one transaction run on a PostgreSQL server?

READ COMMITTED to write: works lock the session they are about, and change rows only as they found
them. A connection that died is replaced. What was not committed runs again; after a COMMIT whose
answer was lost the server is asked what became of it, for to write twice would be as wrong as to
write nothing.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from sqlalchemy import URL, Connection, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError

from toolkeeper_contract import Code, RunError
from toolkeeper_ledger.chain import Head
from toolkeeper_ledger.database import TRIES, Moved, Withdrawn
from toolkeeper_ledger.engine_log import OPTIONS
from toolkeeper_ledger.fault import conflict, unavailable
from toolkeeper_ledger.group import Together, Undone
from toolkeeper_ledger.history import HEADS
from toolkeeper_ledger.look import Look, Looks
from toolkeeper_ledger.postgres_connection import (
    begin,
    begin_to_read,
    check_version,
    commit,
    discard,
    driver_of,
    is_lost,
    pipelined,
)
from toolkeeper_ledger.postgres_fault import IN_DOUBT, fault_of, is_overtaken, may_pass
from toolkeeper_ledger.postgres_shortcut import Shortcut, once_more, works_of
from toolkeeper_ledger.postgres_text import keep_any_text

T = TypeVar("T")

_STATUS = "SELECT pg_xact_status(%s::xid8)"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class _Lost(Exception):
    """The connection died; `fault` is what is told if it cannot be replaced."""


class _Unheard(Exception):
    """The connection died after works were sent that a look at their rows can tell of."""


class _InDoubt(Exception):
    """The connection died while transaction `number` was being committed; `answer` is its."""

    def __init__(self, number: str, answer: object) -> None:
        super().__init__()
        self.number = number
        self.answer = answer


class PostgresDatabase:
    """One PostgreSQL database: a connection to write, and some to read.

    `patience` is in seconds: how long a transaction waits for a lock, and for a server that is
    being restarted. Called from threads; writes run one at a time.
    """

    def __init__(self, url: URL, *, read_only: bool, patience: float) -> None:
        self.read_only = read_only
        self._patience = patience
        options: dict[str, Any] = {
            "connect_timeout": 10,
            "application_name": "toolkeeper",
            "client_encoding": "utf8",
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
        }
        self._engine = create_engine(
            url,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",  # transactions begin and end as written here
            connect_args={name: options[name] for name in options if name not in url.query},
            **OPTIONS,
        )
        event.listen(self._engine, "connect", self._set_up)
        self._watching = False
        self._lock = threading.RLock()
        self._writer: Connection | None = None
        self._shortcut = Shortcut()
        self._idle: list[Connection] = []
        self._idle_lock = threading.Lock()

    @property
    def heads(self) -> dict[str, Head]:
        """Where sessions were left, as far as this process knows."""
        return self._shortcut.heads

    def write(self, work: Callable[[Connection], T]) -> T:
        if self.read_only:
            raise RunError(
                Code.LEDGER_UNAVAILABLE, "the store was opened to be read only", "open it to write"
            )
        with self._lock:
            for number in range(TRIES):
                try:
                    if number == 0:
                        done = self._write_at_once(work)
                        if done is not None:
                            return done[0]
                    return self._write_once(work)
                except (IntegrityError, psycopg.IntegrityError, Moved, _Lost):
                    continue
                except _Unheard:
                    return self._write_unless_done(work)
                except _InDoubt as doubt:
                    if self._was_committed(doubt.number):
                        return doubt.answer  # type: ignore[return-value]
                except UnicodeEncodeError:
                    raise RunError(
                        Code.LEDGER_UNAVAILABLE, "a record holds text that cannot be kept"
                    ) from None
                except (DBAPIError, psycopg.Error) as error:
                    if not is_overtaken(error):
                        raise unavailable(fault_of(error)) from None
        raise conflict("the record contradicts one that is already in the ledger")

    def read(self, work: Callable[[Connection], T]) -> T:
        for _ in range(TRIES):
            connection = self._reader()
            try:
                answer = self._look(connection, work)
            except (DBAPIError, psycopg.Error) as error:
                lost = is_lost(connection)
                discard(connection)
                if lost or is_overtaken(error):
                    continue
                raise unavailable(fault_of(error)) from None
            except BaseException:
                discard(connection)
                raise
            with self._idle_lock:
                self._idle.append(connection)
            return answer
        raise unavailable(fault_of(psycopg.OperationalError()))

    def close(self) -> None:
        with self._lock, self._idle_lock:
            for connection in self._idle:
                discard(connection)
            self._idle.clear()
            self._drop()
            self._engine.dispose()

    def connect(self) -> Connection:
        """A connection of the caller's own, in no transaction.

        A server that is away is waited for; RunError(ledger.unavailable) when it stays away.
        """
        deadline = time.monotonic() + self._patience
        pause = _FIRST_PAUSE
        while True:
            try:
                return self._engine.connect()
            except (DBAPIError, psycopg.Error) as error:
                fault = fault_of(error, connecting=True)
                if not may_pass(fault) or time.monotonic() + pause > deadline:
                    raise unavailable(fault) from None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def connect_once(self) -> Connection:
        """As `connect`, without any waiting, and with the driver's own error."""
        return self._engine.connect()

    def watch_version(self) -> None:
        """From now on every new connection looks first whether the tables are of our version."""
        with self._lock:
            self._watching = True
            self._drop()

    def _set_up(self, connection: "psycopg.Connection[Any]", record: object) -> None:
        keep_any_text(connection)
        connection.execute(f"SET lock_timeout = {int(self._patience * 1000)}")
        if self._watching:
            check_version(connection)

    def _look(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        if isinstance(work, Looks):
            with pipelined(driver_of(connection)):
                asked = [look.statement.run(connection, look.values) for look in work.looks]
            answers: Any = [
                look.answer(cursor.fetchone())
                for look, cursor in zip(work.looks, asked, strict=True)
            ]
            return answers  # type: ignore[no-any-return]
        alone = isinstance(work, Look)
        if not alone:
            begin_to_read(connection)
        answer = work(connection)
        if not alone:
            commit(connection)
        return answer

    def _reader(self) -> Connection:
        with self._idle_lock:
            if self._idle:
                return self._idle.pop()
        return self.connect()

    def _write_at_once(self, work: Callable[[Connection], T]) -> tuple[T] | None:
        """The answer of work that can be done in one message; None for any other."""
        connection = self._connected()
        sent = False
        try:
            messages = self._shortcut.messages(connection, works_of(work))
            if messages is None:
                return None
            sent = True
            answers: Any = self._shortcut.send(connection, messages)
        except (DBAPIError, psycopg.Error) as error:
            lost = is_lost(connection)
            self._undo()
            if lost:
                raise (_Unheard if sent else _Lost) from None
            if isinstance(work, Together):
                raise Undone from None
            if isinstance(error, psycopg.errors.DivisionByZero):
                raise Moved from None
            raise
        except BaseException as error:
            self._drop()  # what was sent is not committed without the pipeline's end
            if isinstance(work, Together) and isinstance(error, Exception):
                raise Undone from None
            raise
        answer: T = answers if isinstance(work, Together) else answers[0]
        return (answer,)

    def _write_unless_done(self, work: Callable[[Connection], T]) -> T:
        if not isinstance(work, Together):
            answer: T = self.write(once_more(work))
            return answer
        try:
            answers: Any = [self.write(once_more(each)) for each in work.works]
        except RunError:
            # Some are written by now, and would not be known as their own when tried again.
            raise unavailable(IN_DOUBT) from None
        return answers  # type: ignore[no-any-return]

    def _write_once(self, work: Callable[[Connection], T]) -> T:
        connection = self._connected()
        number = None
        try:
            number = begin(connection)
            answer = work(connection)
        except Withdrawn as withdrawn:
            self._undo()
            return withdrawn.answer  # type: ignore[return-value]
        except (DBAPIError, psycopg.Error):
            lost = is_lost(connection)
            self._undo()
            if lost:
                raise _Lost from None
            raise
        except BaseException:
            self._undo()
            raise
        try:
            commit(connection)
        except psycopg.Error as error:
            lost = is_lost(connection)
            self._undo()
            if lost:
                raise _InDoubt(number, answer) from None
            raise error
        except BaseException:
            self._drop()
            raise
        return answer

    def _was_committed(self, number: str) -> bool:
        """What became of a transaction; RunError when nobody can say."""
        deadline = time.monotonic() + self._patience
        while True:
            connection = self.connect()
            try:
                status = driver_of(connection).execute(_STATUS, [number]).fetchone()
            except psycopg.errors.InvalidParameterValue:
                return False  # the server has never heard of it
            except (DBAPIError, psycopg.Error):
                status = ("unknown",)
            finally:
                discard(connection)
            if status == ("committed",):
                return True
            if status == ("aborted",):
                return False
            if time.monotonic() > deadline:
                raise unavailable(IN_DOUBT)
            time.sleep(_FIRST_PAUSE)

    def _connected(self) -> Connection:
        if self._writer is None:
            self._writer = self.connect()
            self._writer.info[HEADS] = self._shortcut.heads
            driver_of(self._writer).execute("SET plan_cache_mode = force_generic_plan")
        return self._writer

    def _undo(self) -> None:
        """Ends the transaction without a trace; a connection that cannot is let go."""
        assert self._writer is not None
        if is_lost(self._writer):
            self._drop()
            return
        try:
            driver_of(self._writer).rollback()
        except BaseException as error:
            self._drop()
            if not isinstance(error, DBAPIError | psycopg.Error):
                raise

    def _drop(self) -> None:
        if self._writer is not None:
            discard(self._writer)
            self._writer = None
