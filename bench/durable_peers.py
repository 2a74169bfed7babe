"""How do others make a tool call a durable step? Each as its own documentation shows it.

LangGraph: a graph whose node runs the tool, with a checkpoint before and after (durability `sync`).
DBOS: a workflow of one step. Neither has a policy, an audit trail or approvals to look for.
SQLAlchemy: what a program would write itself, one row that is inserted before the call and updated
after it, in a transaction each.
"""

import json
import sqlite3
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from durable_office import ARGUMENTS, TITLE

VALUES = json.loads(ARGUMENTS)
WARM_UP = 30


def add_note(title: str, body: str, tags: list[str]) -> str:
    """Add a note to the notebook."""
    return f"added {title}"


def langgraph(store: str, mode: str, callers: int, calls: int, folder: Path) -> tuple[float, float]:
    """Median microseconds of a call, and calls a second."""
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool(add_note)]))
    graph.add_edge(START, "tools")
    if store == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver

        connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
        connection.execute(f"PRAGMA synchronous = {mode}")
        saver = SqliteSaver(connection)
    else:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        # The settings that the saver's documentation asks for.
        settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        saver = PostgresSaver(ConnectionPool(store, min_size=callers, kwargs=settings, open=True))
    saver.setup()
    application = graph.compile(checkpointer=saver)

    def call(number: int) -> None:
        asked = {"name": "add_note", "args": VALUES, "id": f"c{number}", "type": "tool_call"}
        answer = application.invoke(
            {"messages": [AIMessage("", tool_calls=[asked])]},
            {"configurable": {"thread_id": f"t{number}"}},
            durability="sync",
        )
        assert answer["messages"][-1].content == f"added {TITLE}", answer

    return in_threads(call, callers, calls)


def dbos(store: str, mode: str, callers: int, calls: int, folder: Path) -> tuple[float, float]:
    """The same; `mode` is not its to choose on SQLite."""
    from dbos import DBOS

    url = f"sqlite:///{folder / 'dbos.db'}" if store == "sqlite" else store
    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR"})
    step = DBOS.step()(add_note)

    @DBOS.workflow()
    def noted(values: dict[str, object]) -> str:
        return step(**values)

    DBOS.launch()

    def call(number: int) -> None:
        assert noted(VALUES) == f"added {TITLE}"

    try:
        return in_threads(call, callers, calls)
    finally:
        DBOS.destroy()


def row_alone(store: str, mode: str, callers: int, calls: int, folder: Path) -> tuple[float, float]:
    """The same; nothing around the call but its row."""
    import sqlalchemy as sa

    metadata = sa.MetaData()
    names = ("session_id", "tool", "arguments", "digest", "result", "began_at", "ended_at")
    rows = sa.Table(
        "calls",
        metadata,
        sa.Column("call_id", sa.String, primary_key=True),
        sa.Column("state", sa.String, nullable=False),
        *(sa.Column(name, sa.Text) for name in names),
        sa.Index("calls_by_session", "session_id"),
    )
    if store == "sqlite":
        engine = sa.create_engine(f"sqlite:///{folder / 'calls.db'}")

        @sa.event.listens_for(engine, "connect")
        def set_up(connection: sqlite3.Connection, record: object) -> None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {mode}")
    else:
        engine = sa.create_engine(store.replace("postgresql:", "postgresql+psycopg:"), pool_size=8)
    metadata.create_all(engine)
    begin, end = sa.insert(rows), sa.update(rows).where(rows.c.call_id == sa.bindparam("call"))

    def call(number: int) -> None:
        now = datetime.now(UTC).isoformat()
        row = {"call_id": f"c{number}", "state": "running", "session_id": f"s{number % callers}"}
        row |= {"tool": "notes.add", "arguments": ARGUMENTS, "began_at": now, "digest": "0" * 64}
        with engine.begin() as connection:
            connection.execute(begin, row)
        result = add_note(**VALUES)
        ended = {"call": row["call_id"], "state": "settled", "result": result, "ended_at": now}
        with engine.begin() as connection:
            connection.execute(end, ended)

    try:
        if store == "sqlite":
            # Threads would only wait for the file's one lock.
            return in_threads(call, 1, calls)
        return in_threads(call, callers, calls)
    finally:
        engine.dispose()


def in_threads(call: Callable[[int], None], callers: int, calls: int) -> tuple[float, float]:
    """Median microseconds of `call`, and calls a second, over `callers` threads."""
    took: list[float] = []

    def timed(number: int) -> None:
        began = time.perf_counter()
        call(number)
        took.append(time.perf_counter() - began)

    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(timed, range(-WARM_UP, 0)))
        took.clear()
        began = time.perf_counter()
        list(pool.map(timed, range(calls)))
        whole = time.perf_counter() - began
    return statistics.median(took) * 1e6, calls / whole
