"""When a delivery is tried again."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkeeper_contract import LONGEST_PAUSE
from toolkeeper_sinks import Schedule

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def test_pauses_double_up_to_the_longest() -> None:
    pauses = [
        (Schedule().next_attempt(attempts, NOW, NOW, lambda: 1.0) or NOW) - NOW
        for attempts in (1, 2, 3, 4, 12, 13, 500)
    ]
    assert [pause.total_seconds() for pause in pauses] == [1, 2, 4, 8, 2048, 3600, 3600]


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_chance_shortens_a_pause_to_half_at_least(attempts: int, chance: float) -> None:
    whole = Schedule().next_attempt(attempts, NOW, NOW, lambda: 1.0)
    due = Schedule().next_attempt(attempts, NOW, NOW, lambda: chance)
    assert whole is not None
    assert due is not None
    assert (whole - NOW) / 2 <= due - NOW <= whole - NOW


def test_an_event_is_given_up_by_its_age_and_not_before() -> None:
    schedule = Schedule(give_up_after=timedelta(hours=1))
    before = NOW - timedelta(minutes=59, seconds=59)
    assert schedule.next_attempt(80, before, NOW, lambda: 0.0) is not None
    assert schedule.next_attempt(1, NOW - timedelta(hours=1), NOW, lambda: 0.0) is None


def test_an_event_from_a_clock_ahead_is_given_up_too() -> None:
    """Its age is not known: the attempts took so long, whatever the clocks say."""
    ahead = NOW + timedelta(days=3_650)
    schedule = Schedule()
    clock, attempts = NOW, 1
    while True:
        due = schedule.next_attempt(attempts, ahead, clock, lambda: 0.5)
        if due is None:
            break
        clock, attempts = due, attempts + 1
    assert timedelta(days=3) <= clock - NOW <= timedelta(days=6)


def test_no_schedule_has_pauses_that_a_ledger_would_take_for_another_clocks() -> None:
    assert Schedule().longest <= LONGEST_PAUSE
    with pytest.raises(ValueError, match="a pause lasts 1:00:00 at most"):
        Schedule(longest=timedelta(hours=2))
