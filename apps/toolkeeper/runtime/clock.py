"""What time is it, and what is a name that nothing else has?"""

import secrets
import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIds:
    """Ids that sort by the time they were made: prefix, milliseconds, 64 random bits."""

    def new(self, prefix: str) -> str:
        return f"{prefix}_{time.time_ns() // 1_000_000:011x}{secrets.token_hex(8)}"
