"""Where does a process die, and how far did it come?

Nothing of this stands in the product: `lay` wraps, from the outside and in this process alone, the
stages in the spine's namespace, the work of every write transaction, each statement and each
commit. Everything that is wrapped calls `reach` with the name of the boundary that it has come to.
An armed wire kills the process there, with a signal that nothing can catch.
"""

import asyncio
import functools
import inspect
import os
import signal
import sys
import threading
from collections import Counter
from contextvars import ContextVar

import psycopg
from sqlalchemy import Engine, event

from toolkeeper_ledger import SqlLedger, key_file, postgres_home
from toolkeeper_ledger.calls import Claim, Settle
from toolkeeper_ledger.custody import Custody
from toolkeeper_ledger.postgres_calls import plain
from toolkeeper_ledger.postgres_database import PostgresDatabase
from toolkeeper_ledger.postgres_home import CONNECTIONS
from toolkeeper_ledger.postgres_lane import Lane
from toolkeeper_ledger.postgres_shortcut import Shortcut
from toolkeeper_ledger.postgres_wire import Wire, tune
from toolkeeper_ledger.postgres_writer import PostgresWriter
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.sqlite_database import SqliteDatabase
from toolkeeper_pipeline import ending, spine

KNOWN = (Claim, Settle)
"""Works that a writer may look at, and do in another way than by calling them."""

# Which method of the ledger asked for the transaction; the thread that runs it is another matter.
_ASKED: ContextVar[str | None] = ContextVar("asked", default=None)


class Tripwire:
    """Counts the boundaries that are passed; dies at the `nth` passing of `name`."""

    def __init__(self, name=None, nth=1):
        self.passed = Counter()
        self._name = name
        self._nth = nth
        self._armed = False
        self._threads = threading.local()

    def arm(self):
        """What is passed before this does not count: it only prepares the scene."""
        self._armed = True

    def reach(self, name):
        if not self._armed:
            return
        self.passed[name] += 1
        if name == self._name and self.passed[name] == self._nth:
            os.kill(os.getpid(), signal.SIGKILL)

    # what a transaction passes

    def work(self, name, work, connection):
        """Runs the work of a write transaction under the name of what it is for."""
        state = self._threads
        outer, state.name = getattr(state, "name", None), name
        state.uncommitted = [*getattr(state, "uncommitted", []), name]
        self.reach(f"{name}: transaction begun")
        try:
            answer = work(connection)
        finally:
            state.name = outer
        return answer

    def statement(self):
        name = getattr(self._threads, "name", None)
        if name is not None:
            self.reach(f"{name}: after a statement")

    def commit(self, commit):
        names = dict.fromkeys(getattr(self._threads, "uncommitted", []))
        for name in names:
            self.reach(f"{name}: before commit")
        answer = commit()
        self._threads.uncommitted = []
        for name in names:
            self.reach(f"{name}: after commit")
        return answer

    # what works pass that go to the server in one message each, a commit with them

    def in_one_message(self, names):
        self._threads.messages = names

    def sending(self, send):
        names = dict.fromkeys(self._threads.messages)
        for name in names:
            self.reach(f"{name}: before a message")
        answer = send()
        for name in names:
            self.reach(f"{name}: after commit")
        return answer

    def message(self):
        for name in dict.fromkeys(getattr(self._threads, "messages", [])):
            self.reach(f"{name}: a message on its way")

    def undone(self):
        self._threads.uncommitted = []


def lay(wire, at_home=False):
    """Wraps this process's stages, transactions, statements, commits and key files.

    `at_home`: a loop has its connections to a server from the first; without it, it never has any,
    so that the same boundaries are passed each time.
    """
    for module in (spine, ending):
        for name, stage in _stages(module):
            setattr(module, name, _staged(wire, name, stage))
    _lay_ledger(wire)
    _lay_database(wire)
    _lay_loop(wire)
    if at_home:
        _be_at_home()
    else:
        postgres_home.FEW = sys.maxsize
    key_file.os = _Watched(wire, "key file", os, ("open", "fsync", "link"))


def _stages(module):
    """The stages that a module puts together: functions of other modules of the pipeline."""
    return [
        (name, value)
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__.startswith("toolkeeper_pipeline.")
        and value.__module__ != module.__name__
    ]


def _staged(wire, name, stage):
    if inspect.iscoroutinefunction(stage):

        @functools.wraps(stage)
        async def run(*args):
            wire.reach(f"before {name}")
            state = await stage(*args)
            wire.reach(f"after {name}")
            return state

        return run

    @functools.wraps(stage)
    def decide(*args):
        wire.reach(f"before {name}")
        state = stage(*args)
        wire.reach(f"after {name}")
        return state

    return decide


def _lay_ledger(wire):
    for kind in KNOWN:
        kind.__call__ = _done(wire, kind)
    for name, method in [*vars(Custody).items(), *vars(SqlLedger).items()]:
        if inspect.iscoroutinefunction(method) and not name.startswith("_"):
            setattr(SqlLedger, name, _asking(method, name))
    make = SqlLedger.__init__

    def init(self, writer, *args, **more):
        make(self, writer, *args, **more)
        write = writer.write

        async def labelled(work, *args):
            if isinstance(work, KNOWN):
                return await write(work, *args)
            name = _ASKED.get() or "other"
            return await write(lambda c: wire.work(name, work, c), *args)

        writer.write = labelled

    SqlLedger.__init__ = init


def _done(wire, kind):
    step_by_step = kind.__call__

    def done(self, connection):
        return wire.work(kind.__name__.lower(), lambda c: step_by_step(self, c), connection)

    return done


def _asking(method, name):
    @functools.wraps(method)
    async def ask(*args, **more):
        token = _ASKED.set(name)
        try:
            return await method(*args, **more)
        finally:
            _ASKED.reset(token)

    return ask


def _lay_database(wire):
    for name in ("run", "run_many"):
        setattr(Prepared, name, _counted(wire, getattr(Prepared, name)))
    event.listen(Engine, "after_cursor_execute", lambda *_: wire.statement())
    commit, undo = SqliteDatabase._commit, SqliteDatabase._undo

    def committed(self, driver):
        wire.commit(lambda: commit(self, driver))

    def undone(self, driver):
        wire.undone()
        undo(self, driver)

    SqliteDatabase._commit, SqliteDatabase._undo = committed, undone
    execute, rollback = psycopg.Connection.execute, psycopg.Connection.rollback

    def executed(self, query, *args, **more):
        if query != "COMMIT":
            return execute(self, query, *args, **more)
        return wire.commit(lambda: execute(self, query, *args, **more))

    def rolled_back(self):
        wire.undone()
        rollback(self)

    psycopg.Connection.execute = executed
    psycopg.Connection.rollback = rolled_back
    messages, send = Shortcut.messages, Shortcut.send

    def looked_at(self, connection, works):
        found = messages(self, connection, works)
        wire.in_one_message(
            [] if found is None else [type(each).__name__.lower() for each in works]
        )
        return found

    def sent(self, connection, found):
        return wire.sending(lambda: send(self, connection, found))

    Shortcut.messages, Shortcut.send = looked_at, sent
    message = psycopg.RawCursor.execute

    def executed_raw(self, *args, **more):
        answer = message(self, *args, **more)
        wire.message()
        return answer

    psycopg.RawCursor.execute = executed_raw
    for database in (SqliteDatabase, PostgresDatabase):
        database.write = _opening(wire, database.write)


def _lay_loop(wire):
    send, heard = Wire.send, Lane._heard

    def sent(self, statements, hear):
        names = _works(hear.args[1]) if isinstance(hear.func.__self__, Lane) else ()
        for name in names:
            wire.reach(f"{name}: before a message")
        send(self, statements, hear)
        for name in names:
            wire.reach(f"{name}: a message on its way")

    def told(self, connection, group, batch):
        if not batch.lost and batch.error is None:
            for name in _works(group):
                wire.reach(f"{name}: after commit")
        heard(self, connection, group, batch)

    Wire.send, Lane._heard = sent, told


def _works(group):
    return dict.fromkeys(type(plain(load.order.work)).__name__.lower() for load in group)


def _be_at_home():
    write, read = PostgresWriter.write, PostgresWriter.read

    def arrive(writer):
        home = writer._at_home(asyncio.get_running_loop())
        if home is not None and home.lane is None and not home._closed:
            made = [writer._database.connect_once() for _ in range(CONNECTIONS)]
            for connection in made:
                tune(connection)
            home._arrive(made)

    async def written(self, work):
        arrive(self)
        return await write(self, work)

    async def looked(self, work):
        arrive(self)
        return await read(self, work)

    PostgresWriter.write, PostgresWriter.read = written, looked


def _opening(wire, write):
    @functools.wraps(write)
    def written(self, work):
        # Whoever opens a store writes without a ledger, and in the thread that it is in.
        if _ASKED.get() is None and threading.current_thread() is threading.main_thread():
            inner = work

            def work(connection):
                return wire.work("open", inner, connection)

        return write(self, work)

    return written


def _counted(wire, run):
    @functools.wraps(run)
    def counted(*args):
        answer = run(*args)
        wire.statement()
        return answer

    return counted


class _Watched:
    """A module of which some functions are boundaries; the rest is as it is."""

    def __init__(self, wire, label, module, names):
        self._wire, self._label, self._module, self._names = wire, label, module, names

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if name not in self._names:
            return found

        def called(*args, **more):
            answer = found(*args, **more)
            self._wire.reach(f"{self._label}: after {name}")
            return answer

        return called
