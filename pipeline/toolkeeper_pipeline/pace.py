"""How long is waited before something is tried again?

Pauses double, up to a longest one, and each is cut by a random part of up to a half, so that many
who failed together do not come back together.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pace:
    """`sleep` waits for seconds; `chance` gives numbers from 0 to 1 (1 excluded)."""

    sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def pauses(self, first: float, longest: float) -> Iterator[float]:
        """Pauses in seconds, without end."""
        pause = first
        while True:
            yield pause * (1 - self.chance() / 2)
            pause = min(pause * 2, longest)
