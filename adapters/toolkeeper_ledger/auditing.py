"""Is everything in the store still as it was written?

One snapshot is read, a page at a time: each session's chain, then its rows beside what its events
say of them. Where a chain is broken its events are no witnesses, so only that is told of a session.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, RowMapping, Select, Table, select

from toolkeeper_contract import RecordedEvent, RunError, digest_bytes
from toolkeeper_ledger.accepted import find_definition
from toolkeeper_ledger.chain import FaultKind, Head, Walk
from toolkeeper_ledger.finding import Finding, Subject, chain_finding
from toolkeeper_ledger.paging import paged
from toolkeeper_ledger.row_check import (
    approval_fault,
    call_fault,
    grant_fault,
    run_fault,
    session_fault,
)
from toolkeeper_ledger.rows import event_of
from toolkeeper_ledger.schema import (
    accepted_definitions,
    approvals,
    events,
    grants,
    invocations,
    plans,
    renderings,
    results,
    runs,
    sessions,
)
from toolkeeper_ledger.session_calls import call_places, misplaced, rows_at
from toolkeeper_ledger.story import Story

Check = Callable[[RowMapping, Story], tuple[int | None, str] | None]
_UNREADABLE = (RunError, ValueError, TypeError, KeyError, AttributeError)
_OWN: tuple[tuple[Subject, Table, Column[Any], Check], ...] = (
    (Subject.RUN, runs, runs.c.run_id, run_fault),
    (Subject.CALL, invocations, invocations.c.invocation_id, call_fault),
    (Subject.APPROVAL, approvals, approvals.c.approval_id, approval_fault),
)
_GIVEN = (
    select(grants)
    .join(approvals, approvals.c.approval_id == grants.c.approval_id)
    .order_by(grants.c.ordinal)
)
_HEARD = (events, runs, approvals, results)


@dataclass(slots=True)
class AuditReport:
    """What an audit has looked at, and what it found, in the order of sessions and events.

    `pruned` tells up to which event a session was pruned; `unknown` are kept heads from before
    that, of which nothing can be said any more.
    """

    sessions: int = 0
    events: int = 0
    calls: int = 0
    approvals: int = 0
    grants: int = 0
    heads: int = 0
    pruned: dict[str, int] = field(default_factory=dict)
    unknown: list[Head] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def audit(
    connection: Connection,
    *,
    session_id: str | None = None,
    kept: Sequence[Head] = (),
    everywhere: bool = True,
) -> AuditReport:
    """Looks at one session or at the whole store; `kept` are heads that were kept elsewhere.

    `everywhere`: also looks at every call of the store, for those that say that they are of the
    session and stand in a run that is not.
    """
    report = AuditReport()
    strays = misplaced(connection, session_id) if everywhere else {}
    by_session: dict[str, list[Head]] = {}
    for head in kept:
        if session_id in (None, head.session_id):
            by_session.setdefault(head.session_id, []).append(head)
            report.heads += 1
    query: Select[Any] = select(sessions)
    if session_id is not None:
        query = query.where(sessions.c.session_id == session_id)
    for row in paged(connection, query, sessions.c.session_id):
        report.sessions += 1
        name = row["session_id"]
        kept_of_it = by_session.pop(name, [])
        _audit_session(connection, row, kept_of_it, strays.get(name, []), report)
    for name, heads in sorted(by_session.items()):
        last = max(head.seq for head in heads)
        says = f"session {name} is gone; a head of its event {last} was kept"
        report.findings.append(Finding(name, last, FaultKind.REMOVED, Subject.SESSION, name, says))
    report.findings += _ownerless(connection, session_id, strays)
    if session_id is None:
        report.findings += _contents(connection)
    return report


def _audit_session(
    connection: Connection,
    row: RowMapping,
    kept: Sequence[Head],
    strays: Sequence[int],
    report: AuditReport,
) -> None:
    name = row["session_id"]
    if not isinstance(row["head_seq"], int):
        says = f"session {name} cannot be read"
        report.findings.append(Finding(name, None, FaultKind.CHANGED, Subject.SESSION, name, says))
        return
    walk = Walk(Head(name, row["head_seq"], row["head_hash"]), kept)
    story = Story()
    told = _events(connection, name)
    fault = None
    for record in told:
        if not walk.step(record):
            fault = walk.fault(record, list(told))
            break
        report.events += 1
        story.hear(record)
    fault = fault or walk.end()
    if walk.pruned.seq:
        report.pruned[name] = walk.pruned.seq
        report.unknown += walk.unknown()
    if fault is not None:
        report.findings.append(chain_finding(fault))
        return
    found = [*_row_findings(connection, row, strays, story, report)]
    report.findings += sorted(found, key=lambda each: each.seq or walk.seq + 1)


def _events(connection: Connection, session_id: str) -> Iterator[RecordedEvent]:
    query = select(events).where(events.c.session_id == session_id)
    return (event_of(row) for row in paged(connection, query, events.c.seq))


def _calls(connection: Connection, session_id: str, strays: Sequence[int]) -> Iterator[RowMapping]:
    places = sorted({*call_places(connection, session_id), *strays})
    return (row for row in rows_at(connection, places) if row["session_id"] == session_id)


def _row_findings(
    connection: Connection,
    session: RowMapping,
    strays: Sequence[int],
    story: Story,
    report: AuditReport,
) -> Iterator[Finding]:
    name = session["session_id"]
    yield from _checked(name, Subject.SESSION, name, session, story, session_fault)
    seen: dict[Subject, set[str]] = {subject: set() for subject in Subject}
    for subject, table, key, check in _OWN:
        if table is invocations:
            rows = _calls(connection, name, strays)
        else:
            query = select(table).where(table.c.session_id == name)
            rows = paged(connection, query, table.c.ordinal)
        for row in rows:
            seen[subject].add(row[key.name])
            yield from _checked(name, subject, row[key.name], row, story, check)
    for row in connection.execute(_GIVEN.where(approvals.c.session_id == name)).mappings():
        seen[Subject.GRANT].add(row["grant_id"])
        yield from _checked(name, Subject.GRANT, row["grant_id"], row, story, grant_fault)
    report.calls += len(seen[Subject.CALL])
    report.approvals += len(seen[Subject.APPROVAL])
    report.grants += len(seen[Subject.GRANT])
    for subject, missing, seq in story.unmet(seen):
        says = f"{subject.value} {missing} is gone, of which event {seq} tells"
        yield Finding(name, seq, FaultKind.REMOVED, subject, missing, says)
    kept = select(results.c.handle, results.c.invocation_id).where(results.c.session_id == name)
    for result in connection.execute(kept):
        if result.invocation_id not in seen[Subject.CALL]:
            says = f"result {result.handle} is of a call that is not there"
            yield Finding(name, None, FaultKind.INSERTED, Subject.RESULT, result.handle, says)


def _checked(
    session_id: str,
    subject: Subject,
    name: str,
    row: RowMapping,
    story: Story,
    check: Check,
) -> Iterator[Finding]:
    try:
        fault = check(row, story)
    except _UNREADABLE:
        fault = (None, "cannot be read")
    if fault is not None:
        seq, clause = fault
        kind = FaultKind.INSERTED if clause.startswith("no event tells") else FaultKind.CHANGED
        joint = ": " if clause.startswith("no event") or clause.startswith("its ") else " "
        yield Finding(
            session_id, seq, kind, subject, name, f"{subject.value} {name}{joint}{clause}"
        )


def _ownerless(
    connection: Connection, session_id: str | None, strays: Iterable[str]
) -> Iterator[Finding]:
    """Rows of sessions that are not there; a database that is told to lets no such row in."""
    known = select(sessions.c.session_id)
    gone: dict[str, str] = {}
    for table in _HEARD:
        query = select(table.c.session_id).distinct().where(table.c.session_id.not_in(known))
        if session_id is not None:
            query = query.where(table.c.session_id == session_id)
        for name in connection.execute(query).scalars():
            gone.setdefault(name, table.name)
    # A call that is in the run of a session that is gone is told of with the run.
    for name in strays:
        if connection.execute(known.where(sessions.c.session_id == name)).first() is None:
            gone.setdefault(name, invocations.name)
    for name, table_name in sorted(gone.items()):
        says = f"session {name} is gone, and its {table_name} are there"
        yield Finding(name, None, FaultKind.REMOVED, Subject.SESSION, name, says)
    asked = select(approvals.c.approval_id)
    for name in connection.execute(
        select(grants.c.grant_id).where(grants.c.approval_id.not_in(asked))
    ).scalars():
        says = f"grant {name} was given with an approval that is not there"
        yield Finding(None, None, FaultKind.INSERTED, Subject.GRANT, name, says)


def _contents(connection: Connection) -> Iterator[Finding]:
    """What many sessions share, and is kept under the digest of its text."""
    for table, noun in ((plans, "plan"), (renderings, "rendering")):
        for row in paged(connection, select(table), table.c.digest, size=50):
            if digest_bytes(str(row["body"]).encode("utf-8", "replace")) != row["digest"]:
                yield _changed_content(noun, row["digest"])
    for name in connection.execute(select(accepted_definitions.c.fingerprint)).scalars().all():
        try:
            find_definition(connection, name)
        except _UNREADABLE:
            yield _changed_content("definition", name)


def _changed_content(noun: str, name: str) -> Finding:
    says = f"{noun} {name} is not what its digest says"
    return Finding(None, None, FaultKind.CHANGED, Subject.CONTENT, name, says)
