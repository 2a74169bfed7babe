"""The outbox in memory and the one in SQL give the same deliveries, whatever is done to them."""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import Event, Ledger, SessionRecord
from toolkeeper_ledger import MemoryLedger, open_ledger

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SINKS = {"hook": ("approval.asked", "call.settled"), "log": ("call.settled",)}
SESSIONS = ("ses_1", "ses_2")

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("tell"),
            st.sampled_from(SESSIONS),
            st.lists(st.sampled_from(["approval.asked", "call.settled", "run.began"]), max_size=3),
        ),
        st.tuples(
            st.just("take"),
            st.lists(st.sampled_from(sorted(SINKS)), min_size=1, unique=True),
            st.integers(1, 4),
        ),
        st.tuples(st.just("done"), st.integers(0, 5), st.none()),
        st.tuples(st.just("late"), st.integers(0, 5), st.integers(0, 90)),
        st.tuples(st.just("wait"), st.integers(1, 90), st.none()),
    ),
    max_size=14,
)


class Clock:
    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time


async def played(ledger: Ledger, clock: Clock, steps: list[Any]) -> list[Any]:
    """What each step gave, without the ids that a store makes up."""
    for session_id in SESSIONS:
        await ledger.open_session(SessionRecord(session_id, "chat", "ana", "generic", START), [])
    ledger.subscribe(SINKS)
    seen: list[Any] = []
    held: list[Any] = []
    for step, one, two in steps:
        if step == "tell":
            await ledger.append(one, [Event(name, {}) for name in two])
        elif step == "take":
            until = clock.time + timedelta(seconds=60)
            taken = await ledger.take_deliveries(one, clock.time, until, two)
            held += taken
            seen.append(
                [
                    (
                        each.sink,
                        each.event.session_id,
                        each.event.seq,
                        each.attempts,
                        each.last_error,
                    )
                    for each in taken
                ]
            )
        elif step == "done" and held:
            await ledger.delivered(held[one % len(held)].delivery_id)
        elif step == "late" and held:
            due = clock.time + timedelta(seconds=two)
            await ledger.postpone(held[one % len(held)].delivery_id, due, "not now")
        elif step == "wait":
            clock.time += timedelta(seconds=one)
        seen.append((await ledger.backlog(clock.time)).undelivered)
    await ledger.close()
    return seen


@settings(max_examples=40)
@given(STEPS)
def test_both_outboxes_give_the_same_deliveries(steps: list[Any]) -> None:
    clock = Clock()
    in_memory = asyncio.run(played(MemoryLedger(clock), clock, steps))
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        ledger = open_ledger(f"sqlite:///{Path(folder) / 'ledger.db'}", clock=clock)
        assert asyncio.run(played(ledger, clock, steps)) == in_memory
