"""The tables mean the same on every database, and the questions asked often have their index."""

import asyncio
import sqlite3
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from toolkeeper_ledger import SqlLedger, call_rows, calls, history, loadings, sessions
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.schema import metadata

PREPARED = [
    value
    for module in (call_rows, calls, history, loadings, sessions)
    for value in vars(module).values()
    if isinstance(value, Prepared)
]


def test_the_tables_and_statements_can_be_written_for_postgresql() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for table in metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            assert "CREATE INDEX" in str(CreateIndex(index).compile(dialect=dialect))
    assert len(PREPARED) >= 7
    for prepared in PREPARED:
        assert "%(" in str(prepared._statement.compile(dialect=dialect))


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda ledger, clock: ledger.parked(), "invocations_parked"),
        (lambda ledger, clock: ledger.parked("ses_1"), "invocations_parked"),
        (lambda ledger, clock: ledger.retryable("ses_1"), "invocations_retryable"),
        (lambda ledger, clock: ledger.retryable(), "invocations_retryable"),
        (lambda ledger, clock: ledger.invocations("ses_1"), "invocations_by_run"),
        (lambda ledger, clock: ledger.invocations(None, "run_1"), "invocations_by_run"),
        (lambda ledger, clock: ledger.events("ses_1"), "events_1"),
        (lambda ledger, clock: ledger.events(None, "inv_1"), "events_of_repeats"),
        (lambda ledger, clock: ledger.events(None, "inv_1"), "events_1 (session_id=?"),
        (lambda ledger, clock: ledger.backlog(clock.now()), "invocations_missed"),
        (lambda ledger, clock: ledger.backlog(clock.now()), "COVERING INDEX"),
        (lambda ledger, clock: ledger.loadings(["ses_1", "ses_2"]), "events_of_loading"),
        (
            lambda ledger, clock: ledger.loadings(["ses_1", "ses_2"]),
            "events_1 (session_id=? AND seq",
        ),
        (lambda ledger, clock: ledger.runs("ses_1"), "runs_1"),
        (lambda ledger, clock: ledger.usable_approval("b", clock.now()), "approvals_by_binding"),
        (lambda ledger, clock: ledger.approval_of("inv_1"), "approvals_by_invocation"),
        (lambda ledger, clock: ledger.approvals(pending_only=True), "approvals_by_state"),
        (lambda ledger, clock: ledger.reap(clock.now()), "approvals_by_state"),
        (lambda ledger, clock: ledger.reap(clock.now()), "invocations_leased"),
        (lambda ledger, clock: ledger.twin("key"), "invocations_2"),
        (lambda ledger, clock: ledger.invocation("inv_1"), "invocations_1"),
    ],
)
def test_a_question_asked_often_has_its_index(
    sql: SqlLedger, clock: Any, make: ModuleType, tmp_path: Path, ask: Any, index: str
) -> None:
    make.begin(sql)
    asyncio.run(sql.claim(make.a_row("inv_1"), clock.now(), []))
    assert asyncio.run(sql.parked()) == []
    asked: list[str] = []
    database = sql._writer._database  # type: ignore[attr-defined]
    database._reader.connection.driver_connection.set_trace_callback(asked.append)
    asyncio.run(ask(sql, clock))
    plain = sqlite3.connect(tmp_path / "ledger.db")
    used = [
        row[3]
        for statement in asked
        if statement.startswith("SELECT")
        for row in plain.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    plain.close()
    assert any(index in step for step in used), used
    assert not any(step in ("SCAN events", "SCAN invocations", "SCAN runs") for step in used), used
