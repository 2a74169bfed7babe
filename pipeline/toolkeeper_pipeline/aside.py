"""Where are long texts searched, so that no other call waits for it?

Looking through five megabytes takes seconds where every other word could be a secret, and the event
loop would stand still meanwhile.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONG = 50_000
"""Characters (bytes, of what is no text) from which on a thread costs less than waiting."""


async def aside(size: int, work: Callable[[], T]) -> T:
    """What `work` gives: at once for a small `size`, from a thread for a large one.

    The work is pure: no clock, no ids, nothing that changes, or that somebody else may change.
    """
    return work() if size < LONG else await asyncio.to_thread(work)
