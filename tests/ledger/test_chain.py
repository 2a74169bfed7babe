"""Any change to a session's history is found, and the first place named."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Event, RecordedEvent
from toolkeeper_ledger import GENESIS, ChainFault, FaultKind, Head, SqlLedger, verify
from toolkeeper_ledger.chain import extend


def a_chain(length: int = 6) -> tuple[Head, list[RecordedEvent]]:
    events = [Event("call.settled", {"n": n}, "run_1", f"inv_{n}") for n in range(length)]
    return extend(Head("ses_1"), "2026-11-29T12:00:00.000000+00:00", events)


def test_an_untouched_history_holds() -> None:
    head, events = a_chain()
    assert verify(events, head) is None
    assert verify([], Head("ses_1")) is None


def test_a_chain_grows_the_same_in_one_step_or_in_many() -> None:
    head, events = a_chain()
    step = Head("ses_1")
    for record in events:
        step, _ = extend(step, record.at, [record.event])
    assert step == head


def test_the_first_hash_follows_from_the_beginning() -> None:
    # The bytes of the chain are a promise to every store that was written with them.
    _, events = a_chain(1)
    assert GENESIS == "0" * 64
    assert events[0].hash == FIRST_HASH


FIRST_HASH = "fc4e111db6171ca2a706397214487c110182eac256fa02bc7b5d8db11f9e4693"


def test_a_cut_tail_is_found_by_a_head_kept_elsewhere() -> None:
    head, events = a_chain()
    assert verify(events[:-2], head) == ChainFault("ses_1", 5, FaultKind.REMOVED)
    assert verify([], head) == ChainFault("ses_1", 1, FaultKind.REMOVED)


def test_a_history_cut_together_with_its_head_is_found_by_one_kept_elsewhere() -> None:
    head, events = a_chain()
    cut = Head("ses_1", 4, events[3].hash)
    assert verify(events[:4], cut) is None
    assert verify(events[:4], cut, kept=head) == ChainFault("ses_1", 5, FaultKind.REMOVED)


def test_an_older_head_still_fits_a_history_that_went_on() -> None:
    kept, events = a_chain(3)
    head, more = extend(kept, events[0].at, [Event("call.settled")])
    longer = [*events, *more]
    assert verify(longer, head, kept=kept) is None
    rewritten = Head("ses_1", 2, "f" * 64)
    assert verify(longer, head, kept=rewritten) == ChainFault("ses_1", 2, FaultKind.CHANGED)


def test_an_event_behind_the_head_was_inserted_even_if_its_hash_is_right() -> None:
    head, events = a_chain(3)
    _, more = extend(head, events[0].at, [Event("call.settled")])
    assert verify([*events, *more], head) == ChainFault("ses_1", 4, FaultKind.INSERTED)


Tamper = Callable[[sqlite3.Connection], object]
SHIFT_UP = (
    "UPDATE events SET seq = seq + 1000 WHERE seq >= 3;"
    "UPDATE events SET seq = seq - 999 WHERE seq >= 1000;"
)
SHIFT_DOWN = (
    "UPDATE events SET seq = seq + 1000 WHERE seq > 3;"
    "UPDATE events SET seq = seq - 1001 WHERE seq >= 1000;"
)
SWAP = (
    "UPDATE events SET seq = 1000 WHERE seq = 3; UPDATE events SET seq = 3 WHERE seq = 4;"
    "UPDATE events SET seq = 4 WHERE seq = 1000;"
)
COPY = (
    "INSERT INTO events (session_id, seq, at, name, run_id, invocation_id, data, hash)"
    " SELECT session_id, {seq}, at, name, run_id, invocation_id, data, {hash} FROM events"
    " WHERE seq = 2;"
)


@pytest.mark.parametrize(
    ("script", "seq", "kind"),
    [
        ("UPDATE events SET data = '{\"n\":9}' WHERE seq = 3", 3, FaultKind.CHANGED),
        ("UPDATE events SET data = '{\"n\":' WHERE seq = 3", 3, FaultKind.CHANGED),
        ("UPDATE events SET seq = 99 WHERE seq = 8", 8, FaultKind.CHANGED),
        ("UPDATE events SET name = 'call.opened' WHERE seq = 1", 1, FaultKind.CHANGED),
        ("UPDATE events SET at = '2020' || substr(at, 5) WHERE seq = 8", 8, FaultKind.CHANGED),
        ("UPDATE events SET run_id = NULL WHERE seq = 4", 4, FaultKind.CHANGED),
        ("UPDATE events SET invocation_id = 'inv_9' WHERE seq = 5", 5, FaultKind.CHANGED),
        ("UPDATE events SET hash = '0' || substr(hash, 2) || 'x' WHERE seq = 2", 2, "changed"),
        ("DELETE FROM events WHERE seq = 3", 3, FaultKind.REMOVED),
        ("DELETE FROM events WHERE seq IN (3, 4)", 3, FaultKind.REMOVED),
        ("DELETE FROM events WHERE seq = 1", 1, FaultKind.REMOVED),
        ("DELETE FROM events WHERE seq = 8", 8, FaultKind.REMOVED),
        ("DELETE FROM events", 1, FaultKind.REMOVED),
        ("DELETE FROM events WHERE seq = 3;" + SHIFT_DOWN, 3, FaultKind.REMOVED),
        (SHIFT_UP + COPY.format(seq=3, hash="hash"), 3, FaultKind.INSERTED),
        (SHIFT_UP + COPY.format(seq=3, hash="'" + "a" * 64 + "'"), 3, FaultKind.INSERTED),
        (COPY.format(seq=9, hash="'" + "a" * 64 + "'"), 9, FaultKind.INSERTED),
        (SWAP, 3, FaultKind.REORDERED),
    ],
)
def test_tampering_with_the_store_is_found_where_it_begins(
    sql: SqlLedger, make: ModuleType, tmp_path: Path, script: str, seq: int, kind: str
) -> None:
    desk = make.Desk(sql, make.HandClock())
    make.begin(sql)
    for number in range(6):
        told = [Event("call.settled", {"n": number}, "run_1", f"inv_{number}")]
        desk.wait(sql.settle(make.a_row(f"inv_{number}"), told))

    def fault() -> ChainFault | None:
        (head,) = desk.wait(sql.heads())
        events: Sequence[RecordedEvent] = desk.wait(sql.events("ses_1"))
        return verify(events, head)

    assert fault() is None
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.executescript(script)
    connection.close()
    assert fault() == ChainFault("ses_1", seq, FaultKind(kind))


def test_every_session_has_a_chain_of_its_own(desk: Any, make: ModuleType) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    desk.park()
    desk.approve()
    heads = desk.wait(desk.ledger.heads())
    assert [(head.session_id, head.seq) for head in heads] == [("ses_1", 4), ("ses_2", 2)]
    for head in heads:
        assert verify(desk.wait(desk.ledger.events(head.session_id)), head) is None
