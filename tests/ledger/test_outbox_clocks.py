"""A clock that is set back keeps no event from its sink for longer than the longest pause."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from toolkeeper_contract import LONGEST_PAUSE, Delivery

BACK = [{"hours": 2}, {"days": 20_000}]


@pytest.fixture
def asked(desk: Any) -> Any:
    """A desk with an event in the outbox of `hook`."""
    desk.ledger.subscribe({"hook": ("approval.asked",)})
    desk.park()
    return desk


def take(desk: Any, sink: str = "hook") -> list[Delivery]:
    now: datetime = desk.clock.now()
    until = now + timedelta(minutes=1)
    return list(desk.wait(desk.ledger.take_deliveries([sink], now, until, 16)))


def set_back(desk: Any, **step: float) -> None:
    desk.clock.forward(seconds=-timedelta(**step).total_seconds())


@pytest.mark.parametrize("back", BACK)
def test_what_was_written_on_a_clock_that_was_set_back_is_due(asked: Any, back: Any) -> None:
    set_back(asked, **back)
    (delivery,) = take(asked)
    assert delivery.attempts == 1
    assert take(asked) == []


@pytest.mark.parametrize("back", BACK)
def test_what_somebody_held_who_died_is_due_on_the_clock_that_was_set_back(
    asked: Any, back: Any
) -> None:
    assert len(take(asked)) == 1
    set_back(asked, **back)
    (delivery,) = take(asked)
    assert delivery.attempts == 2
    # It is held again, now by this clock.
    assert take(asked) == []
    asked.clock.forward(seconds=60)
    assert len(take(asked)) == 1


@pytest.mark.parametrize("back", BACK)
def test_what_was_put_off_is_due_on_the_clock_that_was_set_back(asked: Any, back: Any) -> None:
    (delivery,) = take(asked)
    due = asked.clock.now() + LONGEST_PAUSE
    asked.wait(asked.ledger.postpone(delivery.delivery_id, due, "not now"))
    assert take(asked) == []
    set_back(asked, **back)
    (again,) = take(asked)
    assert again.last_error == "not now"


def test_a_clock_that_is_a_little_behind_takes_nothing_away_from_who_holds_it(asked: Any) -> None:
    assert len(take(asked)) == 1
    set_back(asked, minutes=58)
    assert take(asked) == []
    # And no longer than the longest pause.
    asked.clock.forward(minutes=59)
    assert len(take(asked)) == 1


def test_another_sinks_events_stay_as_they_are(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ("approval.asked",), "log": ("approval.asked",)})
    desk.park()
    assert len(take(desk, "log")) == 1
    set_back(desk, days=1)
    assert len(take(desk, "hook")) == 1
    (delivery,) = take(desk, "log")
    assert delivery.attempts == 2


def test_events_of_a_session_stay_in_their_order(asked: Any) -> None:
    asked.park("inv_2", "apr_2")
    set_back(asked, days=1)
    # Written on the clock that was set back, behind two that were written ahead of it.
    asked.park("inv_3", "apr_3")
    seen = []
    while taken := take(asked):
        for each in taken:
            seen.append(each.event.seq)
            asked.wait(asked.ledger.delivered(each.delivery_id))
    assert seen == sorted(seen)
    assert len(seen) == 3
