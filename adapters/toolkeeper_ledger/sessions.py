"""How are sessions, runs, plans and kept results written and found?"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from toolkeeper_contract import (
    Event,
    Invocation,
    KeptResult,
    Plan,
    PlannedTurn,
    RunRecord,
    SessionRecord,
    canonical_text,
    digest_bytes,
)
from toolkeeper_ledger.chain import GENESIS
from toolkeeper_ledger.fault import Fault, conflict, unavailable
from toolkeeper_ledger.history import append
from toolkeeper_ledger.look import Look
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.renderings import keep_rendering
from toolkeeper_ledger.rows import (
    instant,
    intent_text,
    loads,
    run_of,
    run_row,
    session_of,
    session_row,
)
from toolkeeper_ledger.schema import plans, results, runs, sessions

_SESSION = Prepared(select(sessions).where(sessions.c.session_id == bindparam("session")))
_SESSION_COLUMNS = sessions.columns.keys()
_RUN = select(runs).where(runs.c.run_id == bindparam("run"))
_RUN_OR_TURN = select(runs.c.run_id).where(
    (runs.c.run_id == bindparam("run"))
    | ((runs.c.session_id == bindparam("session")) & (runs.c.turn == bindparam("turn_number")))
)
_PLAN = select(plans.c.body).where(plans.c.digest == bindparam("digest"))
_RUNS = select(runs).where(runs.c.session_id == bindparam("session")).order_by(runs.c.turn)
_INTENT = (
    update(sessions)
    .where(sessions.c.session_id == bindparam("session"))
    .values(intent=bindparam("new_intent"))
)
_TURN = (
    update(sessions)
    .where(sessions.c.session_id == bindparam("session"))
    .values(turn=bindparam("new_turn"))
)
_TURNS = (
    select(runs.c.session_id, runs.c.turn, plans.c.digest, plans.c.body)
    .join(plans, plans.c.digest == runs.c.plan_digest)
    .order_by(runs.c.ordinal)
)
_RESULTS = select(results).where(results.c.handle.in_(bindparam("result_handles", expanding=True)))
_AT_ONCE = 500
_RESULTS_BY = (
    select(results)
    .where(
        results.c.session_id == bindparam("session"),
        results.c.invocation_id == bindparam("invocation"),
    )
    .order_by(results.c.handle)
)
_OWN_RESULT = (
    select(results.c.text, results.c.data, results.c.mime_type)
    .join(sessions, sessions.c.session_id == results.c.session_id)
    .where(
        results.c.handle == bindparam("result_handle"),
        results.c.session_id == bindparam("session"),
        sessions.c.user_name == bindparam("user"),
        sessions.c.agent == bindparam("agent_name"),
    )
)


def open_session(
    connection: Connection, session: SessionRecord, at: datetime, events: Sequence[Event]
) -> None:
    if _SESSION.run(connection, {"session": session.session_id}).fetchone() is not None:
        raise conflict(f"session `{session.session_id}` is already in the ledger")
    connection.execute(
        insert(sessions), {**session_row(session), "head_seq": 0, "head_hash": GENESIS}
    )
    append(connection, session.session_id, at, events)


def session_look(session_id: str) -> Look[SessionRecord | None]:
    """Read before every model step, to see what another process has changed."""
    return Look(_SESSION, {"session": session_id}, _session)


def _session(row: Sequence[Any] | None) -> SessionRecord | None:
    return None if row is None else session_of(dict(zip(_SESSION_COLUMNS, row, strict=True)))


def set_intent(connection: Connection, session_id: str, intent: Any) -> None:
    changed = connection.execute(
        _INTENT, {"session": session_id, "new_intent": intent_text(intent)}
    )
    if changed.rowcount != 1:
        raise missing_session(session_id)


def missing_session(session_id: str) -> Exception:
    return conflict(f"session `{session_id}` is not in the ledger", "open the session first")


def begin_run(
    connection: Connection,
    run: RunRecord,
    plan: Plan,
    at: datetime,
    events: Sequence[Event],
    rendering: str | None,
) -> None:
    if run.plan_digest != plan.digest:
        raise conflict(f"run `{run.run_id}` names another plan than the one it brings")
    turned = connection.execute(_TURN, {"session": run.session_id, "new_turn": run.turn})
    if turned.rowcount != 1:
        raise missing_session(run.session_id)
    taken = connection.execute(
        _RUN_OR_TURN, {"run": run.run_id, "session": run.session_id, "turn_number": run.turn}
    ).first()
    if taken is not None:
        raise conflict(
            f"turn {run.turn} of session `{run.session_id}` has already begun",
            "another process is using this session",
        )
    if connection.execute(_PLAN, {"digest": plan.digest}).first() is None:
        connection.execute(
            insert(plans), {"digest": plan.digest, "body": canonical_text(plan.body())}
        )
    keep_rendering(connection, run, rendering)
    connection.execute(insert(runs), run_row(run))
    append(connection, run.session_id, at, events)


def find_run(connection: Connection, run_id: str) -> RunRecord | None:
    row = connection.execute(_RUN, {"run": run_id}).mappings().first()
    return None if row is None else run_of(row)


def read_runs(connection: Connection, session_id: str) -> list[RunRecord]:
    """The session's turns in their order."""
    return [run_of(row) for row in connection.execute(_RUNS, {"session": session_id}).mappings()]


def find_plan(connection: Connection, digest: str) -> Plan | None:
    body = connection.execute(_PLAN, {"digest": digest}).scalars().first()
    return None if body is None else _plan(digest, body)


def _plan(digest: str, body: str) -> Plan:
    # A plan is what a run may call: one that is not what its digest says must not be used.
    if digest_bytes(body.encode("utf-8")) != digest:
        raise unavailable(
            Fault("a plan was changed after it was stored", "restore the store from a backup")
        )
    return Plan.from_body(loads(body))


def planned_turns(connection: Connection) -> list[PlannedTurn]:
    known: dict[str, Plan] = {}
    turns: list[PlannedTurn] = []
    for row in connection.execute(_TURNS):
        if row.digest not in known:
            known[row.digest] = _plan(row.digest, row.body)
        turns.append(PlannedTurn(row.session_id, row.turn, known[row.digest]))
    return turns


def keep_results(
    connection: Connection, invocation: Invocation, kept: Mapping[str, KeptResult], at: datetime
) -> None:
    if not kept:
        return
    if session_look(invocation.session_id)(connection) is None:
        raise missing_session(invocation.session_id)
    handles = list(kept)
    there = {}
    for start in range(0, len(handles), _AT_ONCE):
        query = {"result_handles": handles[start : start + _AT_ONCE]}
        for row in connection.execute(_RESULTS, query):
            there[row.handle] = (row.invocation_id, _kept(row))
    for handle, found in there.items():
        if found != (invocation.invocation_id, kept[handle]):
            raise conflict(f"the result handle `{handle}` is already in use")
    new = [(handle, result) for handle, result in kept.items() if handle not in there]
    if new:
        connection.execute(
            insert(results),
            [
                {
                    "handle": handle,
                    "invocation_id": invocation.invocation_id,
                    "session_id": invocation.session_id,
                    "text": result.text,
                    "data": result.data,
                    "mime_type": result.mime_type,
                    "kept_at": instant(at),
                }
                for handle, result in new
            ],
        )


def kept_result(
    connection: Connection, handle: str, session_id: str, user: str, agent: str
) -> KeptResult | None:
    scope = {"result_handle": handle, "session": session_id, "user": user, "agent_name": agent}
    found = connection.execute(_OWN_RESULT, scope).first()
    return None if found is None else _kept(found)


def kept_by(connection: Connection, session_id: str, invocation_id: str) -> dict[str, KeptResult]:
    query = {"session": session_id, "invocation": invocation_id}
    return {row.handle: _kept(row) for row in connection.execute(_RESULTS_BY, query)}


def _kept(row: Row[Any, Any, Any, *tuple[Any, ...]]) -> KeptResult:
    data = None if row.data is None else bytes(row.data)
    return KeptResult(row.text, data, row.mime_type)
