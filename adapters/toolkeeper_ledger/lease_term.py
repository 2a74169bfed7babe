"""Until when does a lease hold, also where a clock was set back since it was taken?"""

from dataclasses import dataclass
from datetime import datetime

from toolkeeper_contract.draft import drafted


@drafted
@dataclass(frozen=True, slots=True)
class Term:
    """From when, by its holder's clock, until when a lease holds."""

    since: datetime
    until: datetime

    def counted_anew(self, now: datetime) -> "Term | None":
        """The term from `now` on, for one that lies so far ahead that a clock was set back.

        None: it holds as it is. Clocks that differ by less than the lease is long are no reason.
        A holder who is alive renews it as before, and one who is dead is found out within two
        lengths of the lease, however far ahead the clock was that it was taken on.
        """
        length = self.until - self.since
        if self.since - now <= length:
            return None
        return Term(now, now + length)
