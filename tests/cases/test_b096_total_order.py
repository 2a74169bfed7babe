"""B96: the order is stable by accident (insertion, no ORDER BY) or in one process only.

Right: a total order with a unique last key everywhere: in the plan, in a search, in every query.
"""

import itertools
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from toolkeeper_contract import (
    Classification,
    Registry,
    SessionRecord,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_index import Catalog


def twin(source: str, name: str) -> Tool:
    """Tools of one class with the same words: only their identity tells them apart."""
    definition = ToolDefinition(name, None, "Find a thing.", {"type": "object"})
    identity = ToolIdentity(SourceKind.MCP, source, name)
    return Tool.of(
        identity, definition, Classification(SideEffect.NETWORK_READ, frozenset(), "rule")
    )


TWINS = [twin(source, name) for source, name in itertools.product("ba", ("find", "Find", "fin"))]


def test_equal_candidates_are_ordered_by_identity(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        agent = replace(keeper.agent("chat"), servers=("b", "a"))
        principal = keeper.configuration.principal("ana")
        record = SessionRecord("ses_1", "chat", "ana", "generic", keeper.clock.now())
        return {
            keeper.planning.plan(
                Registry({tool.name: tool for tool in order}),
                agent,
                principal,
                keeper.policy,
                record=record,
                intent=None,
            ).defined
            for order in itertools.islice(itertools.permutations(TWINS), 0, 720, 37)
        }

    plans = shop.turn(act)
    assert len(plans) == 1
    (defined,) = plans
    found = [name for name in defined if name.startswith("mcp.")]
    assert found == [
        "mcp.a.Find",
        "mcp.a.fin",
        "mcp.a.find",
        "mcp.b.Find",
        "mcp.b.fin",
        "mcp.b.find",
    ]


def test_equal_scores_are_ordered_by_name() -> None:
    answers = {
        tuple(tool.name for tool in Catalog(order).search("thing", limit=6).tools)
        for order in itertools.islice(itertools.permutations(TWINS), 0, 720, 37)
    }
    assert len(answers) == 1
    assert list(*answers) == sorted(tool.name for tool in TWINS)


@pytest.mark.sqlite_file
def test_every_query_for_several_rows_says_its_order(home: Any) -> None:
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(" ".join(statement.split()))

    home.run(
        {"id": "c1", "tool": "notes.add", "arguments": {"title": "tea"}},
        {"id": "c2", "tool": "notes.list", "arguments": {}},
    )
    event.listen(Engine, "before_cursor_execute", note)
    try:
        calls = home.here("audit", "calls")
        home.here("audit", "plans")
        home.here("audit", "events")
        home.here("audit", "show", calls[0]["invocation_id"])
        home.here("approvals", "list", "--all")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    selects = [text for text in statements if re.search(r"(?i)^select .* from (?!sqlite_)", text)]
    assert len(selects) >= 5
    for text in selects:
        assert "ORDER BY" in text or _by_key(text), text


def _by_key(text: str) -> bool:
    """Whether the query asks for one row by its key, or for one value."""
    where = re.search(r"WHERE (\w+\.)?(\w+) = \?( LIMIT .*)?$", text)
    key = where is not None and re.fullmatch(
        r"invocation_id|approval_id|session_id|run_id|digest|plan_digest", where.group(2)
    )
    return bool(key) or "count(" in text.lower() or "schema_version" in text


def test_rows_come_back_in_the_order_of_their_making(home: Any) -> None:
    ids = ["z", "a", "m", "B", "b"]
    home.run(*({"id": id, "tool": "notes.list", "arguments": {}} for id in ids), expect=0)
    assert [row["call_id"] for row in home.here("audit", "calls")] == ids
    events = home.here("audit", "events")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


@pytest.mark.sqlite_file
def test_the_order_does_not_hang_on_the_tables_own(home: Any, tmp_path: Path) -> None:
    ids = ["c1", "c2", "c3"]
    home.run(*({"id": id, "tool": "notes.add", "arguments": {"title": id}} for id in ids))
    before = [
        home.here("audit", "calls"),
        home.here("approvals", "list"),
        home.here("audit", "events"),
    ]
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("PRAGMA reverse_unordered_selects = ON")
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    for table in tables:
        # The same rows, written down in the other order.
        connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table} ORDER BY rowid DESC")
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"DELETE FROM {table}")
        connection.execute(f"INSERT INTO {table} ({','.join(columns)}) SELECT * FROM kept")
        connection.execute("DROP TABLE kept")
    connection.commit()
    connection.close()
    after = [
        home.here("audit", "calls"),
        home.here("approvals", "list"),
        home.here("audit", "events"),
    ]
    assert after == before
