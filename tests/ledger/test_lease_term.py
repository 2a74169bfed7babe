"""A clock that is set back or forward makes no lease eternal; who is alive keeps theirs."""

from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Code, State
from toolkeeper_ledger.lease_term import Term

FIVE = timedelta(minutes=5)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def taken(desk: Any, make: ModuleType) -> Any:
    row = make.a_row("inv_1")
    lease = desk.wait(desk.ledger.claim(row, desk.clock.now() + FIVE, []))
    assert lease is not None
    return row, lease


def reaped(desk: Any) -> list[str]:
    return [event.name for event in desk.wait(desk.ledger.reap(desk.clock.now()))]


@pytest.mark.parametrize("back", [{"hours": 1}, {"days": 20_000}])
def test_a_lease_that_was_taken_before_the_clock_went_back_is_over_in_its_own_time(
    desk: Any, make: ModuleType, back: Any
) -> None:
    taken(desk, make)
    desk.clock.forward(seconds=-timedelta(**back).total_seconds())
    assert reaped(desk) == []
    desk.clock.forward(seconds=299)
    assert reaped(desk) == []
    desk.clock.forward(seconds=1)
    assert reaped(desk) == ["lease.reaped"]
    row = desk.row()
    assert (row.state, row.code) == (State.SETTLED, Code.FAILED_UNKNOWN_OUTCOME)


def test_a_holder_who_is_alive_renews_it_on_the_clock_that_was_set_back(
    desk: Any, make: ModuleType
) -> None:
    row, lease = taken(desk, make)
    desk.clock.forward(seconds=-3600)
    assert reaped(desk) == []
    for _ in range(5):
        desk.clock.forward(seconds=250)
        assert desk.wait(desk.ledger.renew(lease, desk.clock.now() + FIVE)) is True
        assert reaped(desk) == []
    assert desk.wait(desk.ledger.settle(make.ended(row, lease.fence), [])) is True


def test_a_clock_that_jumps_ahead_reaps_and_the_late_end_is_dropped(
    desk: Any, make: ModuleType
) -> None:
    row, lease = taken(desk, make)
    desk.clock.forward(seconds=3600)
    assert reaped(desk) == ["lease.reaped"]
    assert desk.wait(desk.ledger.renew(lease, desk.clock.now() + FIVE)) is False
    desk.clock.forward(seconds=-3600)
    assert desk.wait(desk.ledger.settle(make.ended(row, lease.fence), [])) is False
    assert desk.names()[-1] == "call.fenced"
    assert desk.row().code is Code.FAILED_UNKNOWN_OUTCOME
    assert reaped(desk) == []


def test_a_reaper_whose_clock_is_a_little_behind_changes_nothing(
    desk: Any, make: ModuleType
) -> None:
    taken(desk, make)
    desk.clock.forward(seconds=-200)
    assert reaped(desk) == []
    desk.clock.forward(seconds=200 + 299)
    assert reaped(desk) == []
    desk.clock.forward(seconds=1)
    assert reaped(desk) == ["lease.reaped"]


@pytest.mark.parametrize(
    ("ahead", "anew"), [(0, False), (300, False), (301, True), (-10, False), (86_400 * 365, True)]
)
def test_a_term_is_counted_anew_when_it_lies_further_ahead_than_it_is_long(
    ahead: int, anew: bool
) -> None:
    since = NOW + timedelta(seconds=ahead)
    term = Term(since, since + FIVE)
    assert term.counted_anew(NOW) == (Term(NOW, NOW + FIVE) if anew else None)
