"""When a delivery is tried again."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

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
