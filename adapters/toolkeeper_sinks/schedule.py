"""When is a delivery that failed tried again, and when never more?"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkeeper_contract import LONGEST_PAUSE

_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Schedule:
    """The pauses between attempts double, from `first` up to `longest`; each is shortened by chance
    (to half at least), so that many events do not come back all at once.

    `give_up_after` bounds an event's age: whoever has not been there for that long is told no more.
    """

    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(hours=1)
    give_up_after: timedelta = timedelta(days=3)

    def __post_init__(self) -> None:
        if self.longest > LONGEST_PAUSE:
            raise ValueError(f"a pause lasts {LONGEST_PAUSE} at most")

    def next_attempt(
        self, attempts: int, happened_at: datetime, now: datetime, chance: Callable[[], float]
    ) -> datetime | None:
        """After `attempts` failed ones; None to give up. `chance` gives numbers from 0 up to 1."""
        # Of an event from a clock ahead of this one nobody knows the age: it is older than this.
        age = now - happened_at if happened_at <= now else self._spent(attempts)
        if age >= self.give_up_after:
            return None
        return now + self._pause(attempts) * (0.5 + chance() / 2)

    def _pause(self, attempts: int) -> timedelta:
        # Bounded before it is computed: 2 to the power of some hundreds of attempts is no time.
        return min(self.first * float(1 << min(attempts - 1, _DOUBLINGS)), self.longest)

    def _spent(self, attempts: int) -> timedelta:
        """The time in which there were that many attempts, at least."""
        doubling = sum(map(self._pause, range(1, min(attempts, _DOUBLINGS + 1))), timedelta())
        others = max(attempts - _DOUBLINGS - 1, 0)
        return (doubling + self._pause(_DOUBLINGS + 1) * others) / 2


SCHEDULE = Schedule()
"""The schedule of a sink that says nothing else."""
