"""No single tampering with a store escapes an audit, and its first place is named."""

import asyncio
import importlib.util
import sqlite3
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import Event
from toolkeeper_ledger import AuditReport, Head, open_ledger

LEDGER_TESTS = Path(__file__).parents[1] / "ledger"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"audit_{name}", LEDGER_TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MAKING, TELLING = _load("making"), _load("telling")


def made(path: Path, *, pruned: bool) -> list[Head]:
    """A store with two sessions, of which the first may be pruned and have gone on; its heads."""
    clock = MAKING.HandClock()
    ledger = open_ledger(f"sqlite:///{path}", clock=clock)

    async def tell() -> list[Head]:
        await TELLING.Teller(ledger, MAKING).everything()
        if pruned:
            clock.forward(days=1)
            assert await ledger.prune_session("ses_1", clock.now() - timedelta(hours=1))
        for number in range(3):
            await ledger.append("ses_1", [Event("session.read", {"n": number})])
        other = TELLING.Teller(ledger, MAKING, "ses_2")
        other.now = clock.now()
        await other.everything()
        heads = list(await ledger.heads())
        await ledger.close()
        return heads

    return asyncio.run(tell())


def audited(path: Path, *kept: Head) -> AuditReport:
    ledger = open_ledger(f"sqlite:///{path}", clock=MAKING.HandClock(), read_only=True)

    async def work() -> AuditReport:
        report = await ledger.audit(kept=kept)
        await ledger.close()
        return report

    return asyncio.run(work())


STORES: dict[bool, tuple[bytes, list[Head]]] = {}


def a_store(path: Path, pruned: bool) -> list[Head]:
    if pruned not in STORES:
        heads = made(path, pruned=pruned)
        STORES[pruned] = (path.read_bytes(), heads)
    path.write_bytes(STORES[pruned][0])
    return STORES[pruned][1]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.data())
def test_one_changed_place_among_the_events_is_found(pruned: bool, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        heads = a_store(path, pruned)
        assert audited(path, *heads).findings == []
        connection = sqlite3.connect(path)
        events = connection.execute(
            "SELECT ordinal, session_id, seq FROM events ORDER BY ordinal"
        ).fetchall()
        ordinal, session, seq = data.draw(st.sampled_from(events))
        first = min(each[2] for each in events if each[1] == session)
        last = max(each[2] for each in events if each[1] == session)
        way = data.draw(st.sampled_from(("change", "remove", "swap", "insert", "cut")))
        if way == "change":
            column = data.draw(
                st.sampled_from(("name", "at", "run_id", "invocation_id", "data", "hash"))
            )
            value = data.draw(TEXT)
            connection.execute(
                f"UPDATE events SET {column} = ? WHERE ordinal = ?", (value, ordinal)
            )
            expected = seq
        elif way == "remove":
            connection.execute("DELETE FROM events WHERE ordinal = ?", (ordinal,))
            expected = seq
        elif way == "swap":
            others = [each[2] for each in events if each[1] == session and each[2] != seq]
            other = data.draw(st.sampled_from(others))
            for old, new in ((seq, 9999), (other, seq), (9999, other)):
                connection.execute(
                    "UPDATE events SET seq = ? WHERE session_id = ? AND seq = ?",
                    (new, session, old),
                )
            expected = min(seq, other)
        elif way == "insert":
            connection.execute(
                "UPDATE events SET seq = seq + 1000 WHERE session_id = ? AND seq >= ?",
                (session, seq),
            )
            connection.execute(
                "INSERT INTO events (session_id, seq, at, name, data, hash)"
                " SELECT session_id, ?, at, name, '{\"new\":1}', hash FROM events"
                " WHERE ordinal = ?",
                (seq, ordinal),
            )
            connection.execute(
                "UPDATE events SET seq = seq - 999 WHERE session_id = ? AND seq > 1000", (session,)
            )
            expected = seq
        else:
            # The tail goes, and whoever took it knows how a store has to look.
            cut = data.draw(st.integers(first, max(first, last - 1)))
            connection.execute(
                "UPDATE sessions SET head_seq = ?, head_hash ="
                " (SELECT hash FROM events WHERE session_id = ?1 AND seq = ?)"
                " WHERE session_id = ?1".replace("?1", f"'{session}'"),
                (cut, cut),
            )
            connection.execute(
                "DELETE FROM events WHERE session_id = ? AND seq > ?", (session, cut)
            )
            expected = cut + 1
        changed = connection.total_changes
        connection.commit()
        connection.close()
        report = audited(path, *heads)
        if way == "change" and not report.findings:
            # The only way to change nothing is to write what was there.
            assert unchanged(path, STORES[pruned][0], folder)
            return
        if way == "cut" and cut == last:
            return
        assert changed
        found = report.findings[0]
        assert (found.session_id, found.of) == (session, "event")
        # In a pruned session the event that says so is the first; without it all before is owed.
        owed = 1 if pruned and expected == first and first > 1 else expected
        assert found.seq in (expected, owed)


def unchanged(path: Path, before: bytes, folder: str) -> bool:
    old = Path(folder) / "before.db"
    old.write_bytes(before)
    dumps: list[Any] = []
    for file in (path, old):
        connection = sqlite3.connect(file)
        dumps.append(connection.execute("SELECT * FROM events ORDER BY ordinal").fetchall())
        connection.close()
    return bool(dumps[0] == dumps[1])


COLUMNS = (
    ("call", "invocations", "tool"),
    ("call", "invocations", "call_id"),
    ("call", "invocations", "outcome"),
    ("call", "invocations", "code"),
    ("call", "invocations", "decision"),
    ("call", "invocations", "arguments"),
    ("call", "invocations", "arguments_digest"),
    ("call", "invocations", "result"),
    ("call", "invocations", "bytes"),
    ("call", "invocations", "state"),
    ("call", "invocations", "settled_at"),
    ("call", "invocations", "approval_id"),
    ("approval", "approvals", "state"),
    ("approval", "approvals", "decided_by"),
    ("approval", "approvals", "spent_by"),
    ("approval", "approvals", "approvers"),
    ("approval", "approvals", "expires_at"),
    ("approval", "approvals", "tool"),
    ("approval", "approvals", "agent"),
    ("approval", "approvals", "arguments"),
    ("approval", "approvals", "input_schema"),
    ("approval", "approvals", "decision"),
    ("approval", "approvals", "operands"),
    ("run", "runs", "plan_digest"),
    ("session", "sessions", "agent"),
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(COLUMNS), TEXT, st.data())
def test_one_changed_place_among_the_rows_is_found(
    place: tuple[str, str, str], value: str, data: st.DataObject
) -> None:
    of, table, column = place
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        heads = a_store(path, False)
        connection = sqlite3.connect(path)
        rows = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        row, was = data.draw(st.sampled_from(rows))
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        connection.commit()
        connection.close()
        findings = audited(path, *heads).findings
        assert [finding.of for finding in findings] == ([] if value == was else [of])


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(("invocations", "approvals", "runs")), st.data())
def test_one_row_that_was_removed_is_found(table: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        heads = a_store(path, False)
        connection = sqlite3.connect(path)
        rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
        connection.execute(
            f"DELETE FROM {table} WHERE rowid = ?", (data.draw(st.sampled_from(rows)),)
        )
        connection.commit()
        connection.close()
        finding = audited(path, *heads).findings[0]
        assert finding.kind == "removed"
        assert finding.seq is not None
