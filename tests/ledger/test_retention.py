"""What is pruned is gone, what stays verifies, and what somebody needs is kept."""

import asyncio
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect, text

from toolkeeper_contract import ApprovalState, Event
from toolkeeper_ledger import Head, SqlLedger, open_ledger
from toolkeeper_ledger.retention import Retained

LATER = timedelta(days=100)


def prune(ledger: SqlLedger, clock: Any) -> dict[str, Retained]:
    """Prunes all that is older than ninety days; what became of each old session."""

    async def work() -> dict[str, Retained]:
        before = clock.now() - timedelta(days=90)
        found = {}
        for old in await ledger.old_sessions(before):
            pruned = old
            if old.kept_for is None:
                done = await ledger.prune_session(old.session_id, before)
                assert done is not None
                pruned = done
            found[old.session_id] = pruned
        return found

    return asyncio.run(work())


def counts(url: str) -> dict[str, int]:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        names = inspect(connection).get_table_names()
        found = {
            name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()
            for name in names
        }
    engine.dispose()
    return {name: count for name, count in found.items() if name != "toolkeeper_schema"}


def test_the_content_of_an_old_session_goes_and_its_chain_still_holds(
    any_sql: SqlLedger, any_store: str, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    asyncio.run(telling.Teller(any_sql, make).everything())
    (before,) = asyncio.run(any_sql.heads())
    clock.forward(days=100)
    kept = prune(any_sql, clock)["ses_1"]
    assert kept.kept_for is None
    assert (kept.content.turns, kept.content.calls, kept.content.results) == (1, 6, 1)
    assert kept.content.events == before.seq
    left = counts(any_store)
    assert {name for name, count in left.items() if count} == {"sessions", "events"}
    assert (left["sessions"], left["events"]) == (1, 1)
    (event,) = asyncio.run(any_sql.events("ses_1"))
    assert (event.seq, event.event.name) == (before.seq + 1, "session.pruned")
    assert event.event.data["through"] == before.seq
    assert event.event.data["hash"] == before.hash
    report = asyncio.run(any_sql.audit())
    assert report.findings == []
    assert report.pruned == {"ses_1": before.seq}
    # And there is nothing left to prune.
    clock.forward(days=100)
    assert prune(any_sql, clock) == {}


def test_a_pruned_session_goes_on(
    any_sql: SqlLedger, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    teller = telling.Teller(any_sql, make)
    asyncio.run(teller.everything())
    asyncio.run(any_sql.set_intent("ses_1", {"disabled": ["x"]}))
    session = asyncio.run(any_sql.session("ses_1"))
    assert session is not None
    assert session.tainted
    clock.forward(days=100)
    prune(any_sql, clock)
    # Its marks, its delegation and its turn's number are what they were.
    assert asyncio.run(any_sql.session("ses_1")) == session
    teller.run, teller.now = "run_2", clock.now()

    async def next_turn() -> None:
        run = make.a_run("run_2", "ses_1", turn=2)
        began = Event("run.began", {"turn": 2, "plan": run.plan_digest}, "run_2")
        await any_sql.begin_run(run, make.PLAN, [began])
        await teller.ran("again")

    asyncio.run(next_turn())
    report = asyncio.run(any_sql.audit())
    assert report.findings == []
    assert report.calls == 1
    first = report.pruned["ses_1"]
    clock.forward(days=100)
    assert prune(any_sql, clock)["ses_1"].content.calls == 1
    report = asyncio.run(any_sql.audit())
    assert report.findings == []
    assert report.pruned["ses_1"] > first


def test_heads_are_held_against_what_stays(
    any_sql: SqlLedger, any_store: str, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    asyncio.run(telling.Teller(any_sql, make).everything())
    third = asyncio.run(any_sql.events("ses_1"))[2]
    old = Head("ses_1", third.seq, third.hash)
    (last,) = asyncio.run(any_sql.heads())
    clock.forward(days=100)
    prune(any_sql, clock)
    asyncio.run(any_sql.append("ses_1", [Event("session.read")]))
    (new,) = asyncio.run(any_sql.heads())

    def audit(*kept: Head) -> Any:
        return asyncio.run(any_sql.audit(kept=kept))

    report = audit(old, last, new)
    assert report.findings == []
    assert report.unknown == [old]
    # The last event that was pruned is still vouched for, and all behind it.
    for wrong in (last, new, Head("ses_1", new.seq + 1, new.hash)):
        forged = Head("ses_1", wrong.seq, "e" * 64)
        assert audit(forged).findings, wrong
    telling.tamper(any_store, "UPDATE events SET data = '{\"n\":1}' WHERE name = 'session.read'")
    (finding,) = audit(new).findings
    assert (finding.seq, finding.kind) == (new.seq, "changed")


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE events SET data = replace(data, '\"calls\":6', '\"calls\":5')", "changed"),
        ('UPDATE events SET data = replace(data, \'"hash":"\', \'"hash":"0\')', "changed"),
        ("UPDATE events SET data = replace(data, '\"through\":', '\"through\":1')", "changed"),
        ("UPDATE events SET at = '2020' WHERE name = 'session.pruned'", "changed"),
        ("UPDATE events SET name = 'session.read' WHERE name = 'session.pruned'", "removed"),
        ("DELETE FROM events WHERE name = 'session.pruned'", "removed"),
        ("UPDATE events SET seq = 1 WHERE name = 'session.pruned'", "changed"),
    ],
)
def test_what_says_that_a_session_was_pruned_cannot_be_changed(
    sql: SqlLedger,
    store: str,
    clock: Any,
    make: ModuleType,
    telling: ModuleType,
    statement: str,
    kind: str,
) -> None:
    asyncio.run(telling.Teller(sql, make).everything())
    clock.forward(days=100)
    prune(sql, clock)
    telling.tamper(store, statement)
    (finding,) = asyncio.run(sql.audit()).findings
    assert finding.kind == kind


def test_removing_events_is_no_pruning(
    sql: SqlLedger, store: str, make: ModuleType, telling: ModuleType
) -> None:
    asyncio.run(telling.Teller(sql, make).everything())
    telling.tamper(store, "DELETE FROM events WHERE seq <= 4")
    (finding,) = asyncio.run(sql.audit()).findings
    assert (finding.seq, finding.kind) == (1, "removed")


def test_what_is_not_finished_keeps_its_session(
    any_sql: SqlLedger, any_store: str, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    def teller(name: str) -> Any:
        return telling.Teller(any_sql, make, name)

    async def open_ones() -> None:
        for name in ("parked", "running", "approved", "granted", "owed", "young", "old"):
            await teller(name).open()
        await teller("parked").asked("a")
        await teller("running").running("b")
        approved = teller("approved")
        await approved.answered(await approved.asked("c"), ApprovalState.APPROVED)
        giver = teller("granted")
        asked = await giver.asked("d")
        grant = giver.grant("grt_1", asked, expires_at=make.START + timedelta(days=365))
        await giver.answered(asked, ApprovalState.APPROVED, grant)
        await giver.ran("d", approval_id=asked.approval_id)

    asyncio.run(open_ones())
    telling.tamper(
        any_store,
        "INSERT INTO outbox (ordinal, sink, session_id, seq, attempts, due_at)"
        " VALUES (1, 'hook', 'owed', 1, 0, 'x')",
    )
    clock.forward(days=100)
    asyncio.run(any_sql.append("young", [Event("session.read")]))
    before = counts(any_store)
    found = prune(any_sql, clock)
    assert {name: each.kept_for for name, each in found.items()} == {
        "approved": "it has a call that is not finished",
        "granted": "a grant that was given in it holds",
        "old": None,
        "owed": "an event of it was not delivered yet",
        "parked": "it has a call that is not finished",
        "running": "it has a call that is not finished",
    }
    after = counts(any_store)
    assert after["invocations"] == before["invocations"]
    assert after["approvals"] == before["approvals"]
    # Once nothing waits any more it goes: the write that was running is reaped as unknown.
    asyncio.run(any_sql.reap(clock.now()))
    clock.forward(days=100)
    found = prune(any_sql, clock)
    assert [name for name, each in found.items() if each.kept_for is None] == [
        "approved",
        "parked",
        "running",
        "young",
    ]
    assert asyncio.run(any_sql.audit()).findings == []


def test_a_read_that_may_run_again_keeps_its_session(
    sql: SqlLedger, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    teller = telling.Teller(sql, make)

    async def die() -> None:
        await teller.open()
        row = teller.row("read", side_effect="workspace_read")
        until = teller.now + timedelta(minutes=5)
        await sql.claim(row, until, [teller.decided(row), teller.claimed(row)])
        await sql.reap(clock.forward(hours=1))

    asyncio.run(die())
    clock.forward(days=100)
    assert prune(sql, clock)["ses_1"].kept_for == "it has a call that is not finished"


def test_a_session_that_a_younger_one_looks_into_stays(
    sql: SqlLedger, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    giver = telling.Teller(sql, make, "giver")

    async def begin() -> None:
        await telling.Teller(sql, make, "grandparent").open()
        await telling.Teller(sql, make, "parent").open(parent="grandparent")
        await telling.Teller(sql, make, "old child").open(parent="parent")
        await giver.open()
        asked = await giver.asked("d")
        grant = giver.grant("grt_1", asked)
        await giver.answered(asked, ApprovalState.APPROVED, grant)
        await giver.ran("d", approval_id=asked.approval_id)
        child = telling.Teller(sql, make, "child")
        await child.open(parent="parent")
        await child.ran("under it", grant_id="grt_1")

    asyncio.run(begin())
    clock.forward(days=100)
    asyncio.run(sql.append("child", [Event("session.read")]))
    found = prune(sql, clock)
    assert {name: each.kept_for for name, each in found.items()} == {
        "giver": "a call of session child, which stays, ran under its grant",
        "grandparent": "session parent came from it and stays",
        "old child": None,
        "parent": "session child came from it and stays",
    }
    clock.forward(days=100)
    assert {each.kept_for for each in prune(sql, clock).values()} == {None}
    assert asyncio.run(sql.audit()).findings == []


def test_evidence_is_not_pruned(
    sql: SqlLedger, store: str, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    asyncio.run(telling.Teller(sql, make).everything())
    telling.tamper(store, "UPDATE invocations SET result = 'x' WHERE result IS NOT NULL")
    clock.forward(days=100)
    kept = prune(sql, clock)["ses_1"]
    assert kept.faulty
    assert asyncio.run(sql.audit()).calls == 6


def test_what_another_session_shows_too_stays(
    sql: SqlLedger, store: str, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    asyncio.run(telling.Teller(sql, make).everything())
    asyncio.run(telling.Teller(sql, make, "ses_2").everything())
    clock.forward(days=100)
    asyncio.run(sql.append("ses_2", [Event("session.read")]))
    prune(sql, clock)
    assert counts(store)["plans"] == 1
    assert asyncio.run(sql.plan(make.PLAN.digest)) == make.PLAN


def test_a_session_that_was_used_meanwhile_is_not_pruned(
    sql: SqlLedger, clock: Any, make: ModuleType, telling: ModuleType
) -> None:
    asyncio.run(telling.Teller(sql, make).everything())
    clock.forward(days=100)
    before = clock.now() - timedelta(days=90)
    assert [old.session_id for old in asyncio.run(sql.old_sessions(before))] == ["ses_1"]
    asyncio.run(sql.append("ses_1", [Event("session.read")]))
    assert asyncio.run(sql.prune_session("ses_1", before)) is None
    assert asyncio.run(sql.prune_session("ses_9", before)) is None
    assert asyncio.run(sql.audit()).calls == 6


def test_what_was_pruned_cannot_be_read_in_the_file(
    store: str, clock: Any, make: ModuleType, telling: ModuleType, tmp_path: Path
) -> None:
    ledger = open_ledger(store, clock=clock)
    teller = telling.Teller(ledger, make)
    canary = "zanzibar" * 40

    async def tell() -> None:
        await teller.open()
        await teller.kept("kept", canary)
        await teller.ran("read", arguments={"text": canary})

    asyncio.run(tell())
    asyncio.run(ledger.close())
    assert b"zanzibar" in (tmp_path / "ledger.db").read_bytes()
    clock.forward(days=100)
    ledger = open_ledger(store, clock=clock)
    prune(ledger, clock)
    asyncio.run(ledger.close())
    for file in tmp_path.iterdir():
        assert b"zanzibar" not in file.read_bytes(), file
