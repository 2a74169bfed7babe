"""What is found, and what can still be done, after workers died?

Another process reaps once, with a clock on which every lease is over, looks; answers what waits,
takes up everything, and looks again. What it finds is held against what is known outside.
"""

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import timedelta

from scene import MovedClock

from toolkeeper.runtime.resumption import resume_all
from toolkeeper_contract import ApprovalState, Code, Ending, State
from toolkeeper_ledger import open_ledger, verify

AFTERWARDS = timedelta(minutes=20)
"""When it is looked: every lease is over, also those that were taken on a clock ahead."""

FINDINGS = (
    "duplicate effects",
    "lost",
    "stuck",
    "unreported",
    "not taken up",
    "approvals spent twice",
    "broken chains",
)
"""What must be 0 each."""


async def look(scene):
    """Counts of FINDINGS, and `unknown`: writes of which is said that their outcome is unknown."""
    found = Counter(dict.fromkeys((*FINDINGS, "unknown"), 0))
    running = await _running(scene)
    async with scene.keeper(ahead=AFTERWARDS) as keeper:
        # Opening has reaped, once.
        ledger = keeper.ledger
        rows = {row.invocation_id: row for row in await ledger.invocations()}
        found["stuck"] += sum(row.state is State.RUNNING for row in rows.values())
        reaped = Counter(
            record.event.invocation_id
            for record in await ledger.events()
            if record.event.name == "lease.reaped"
        )
        retryable = {row.invocation_id for row in await ledger.retryable()}
        for name, before in running.items():
            row = rows[name]
            harmless = row.side_effect.endswith("_read") or "idempotent" in row.flags
            if harmless:
                # Run once more, or, where it has spent an approval, failed for everybody to see.
                again = before.approval_id is None
                found["unreported"] += (name in retryable) is not again
                found["unreported"] += row.code is not Code.FAILED
            else:
                found["unreported"] += row.code is not Code.FAILED_UNKNOWN_OUTCOME
            found["unreported"] += reaped[name] < 1
        desk = keeper.desk()
        for approval in await ledger.approvals(pending_only=True):
            await desk.answer(approval.approval_id, ApprovalState.APPROVED)
        await resume_all(keeper)
        found["not taken up"] += len(await ledger.retryable())
        rows = await ledger.invocations()
        found["unknown"] += sum(row.code is Code.FAILED_UNKNOWN_OUTCOME for row in rows)
        found["stuck"] += sum(row.state is not State.SETTLED for row in rows)
        found["stuck"] += len(await ledger.reap(keeper.clock.now()))
        events = await ledger.events()
        approvals = await ledger.approvals(pending_only=False)
        heads = await ledger.heads()
        for head in heads:
            found["broken chains"] += verify(await ledger.events(head.session_id), head) is not None
        for row in rows:
            if row.handle is not None:
                kept = await ledger.kept_by(row.session_id, row.invocation_id)
                found["lost"] += row.handle not in kept
    _effects(scene, rows, found)
    _told(scene, rows, events, found)
    _spent(approvals, events, found)
    if scene.store.startswith("sqlite"):
        with closing(sqlite3.connect(scene.file)) as connection:
            found["broken chains"] += connection.execute("PRAGMA integrity_check").fetchone() != (
                "ok",
            )
    return dict(found)


async def _running(scene):
    """The rows whose workers are dead, before anybody has cleaned up."""
    ledger = open_ledger(scene.store, clock=MovedClock(timedelta()))
    try:
        rows = await ledger.invocations()
        return {row.invocation_id: row for row in rows if row.state is State.RUNNING}
    finally:
        await ledger.close()


def _effects(scene, rows, found):
    happened = Counter((line["what"], line["title"]) for line in scene.effects.lines())
    by_title = {}
    for row in rows:
        by_title.setdefault((row.tool.split(".")[1], row.arguments["title"]), []).append(row)
    for call, times in happened.items():
        own = by_title.get(call, [])
        if not own:
            # It ran, and nothing tells of it.
            found["lost"] += 1
        elif not any(_may_repeat(row) for row in own):
            ended = sum(row.outcome is not Ending.REFUSED for row in own)
            found["duplicate effects"] += max(0, times - ended)
    for call, own in by_title.items():
        completed = sum(row.outcome is Ending.COMPLETED for row in own)
        found["lost"] += max(0, completed - happened[call])


def _may_repeat(row):
    return row.side_effect.endswith("_read") or "idempotent" in row.flags


def _told(scene, rows, events, found):
    """Whatever the host was told stands in the ledger; what it began and was not told may."""
    by_id = {row.invocation_id: row for row in rows}
    titles = {row.arguments["title"] for row in rows}
    effects = {line["title"] for line in scene.effects.lines()}
    for line in scene.journal.lines():
        if "told" in line:
            row = by_id.get(line["invocation_id"])
            if row is None or (
                line["outcome"] != Ending.SUSPENDED.value and row.outcome != line["outcome"]
            ):
                found["lost"] += 1
        elif line["began"] not in titles and line["began"] in effects:
            found["lost"] += 1
    for record in events:
        name = record.event.invocation_id
        if name is not None and name not in by_id:
            found["lost"] += 1
    named = {record.event.invocation_id for record in events}
    found["lost"] += sum(row.invocation_id not in named for row in rows)


def _spent(approvals, events, found):
    claimed = Counter(
        record.event.data["approval_id"]
        for record in events
        if record.event.name == "call.claimed" and record.event.data.get("approval_id")
    )
    for approval in approvals:
        times = claimed[approval.approval_id]
        found["approvals spent twice"] += max(0, times - 1)
        spent = approval.state is ApprovalState.SPENT
        found["lost"] += spent is not (times > 0)
