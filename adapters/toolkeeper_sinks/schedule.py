"""When is a delivery that failed tried again, and when never more?"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Schedule:
    """The pauses between attempts double, from `first` up to `longest`; each is shortened by chance
    (to half at least), so that many events do not come back all at once.

    `give_up_after` bounds an event's age: whoever has not been there for that long is told no more.
    """

    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(hours=1)
    give_up_after: timedelta = timedelta(days=3)

    def next_attempt(
        self, attempts: int, happened_at: datetime, now: datetime, chance: Callable[[], float]
    ) -> datetime | None:
        """After `attempts` failed ones; None to give up. `chance` gives numbers from 0 up to 1."""
        if now - happened_at >= self.give_up_after:
            return None
        # Bounded before it is computed: 2 to the power of some hundreds of attempts is no time.
        pause = min(self.first * float(1 << min(attempts - 1, 30)), self.longest)
        return now + pause * (0.5 + chance() / 2)


SCHEDULE = Schedule()
"""The schedule of a sink that says nothing else."""
