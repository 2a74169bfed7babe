"""Why did these tools end where they did?"""

from collections.abc import Iterable
from functools import lru_cache

from toolkeeper_contract import Placed, Reason, Tool


def all_placed(tools: Iterable[Tool], reason: Reason) -> tuple[Placed, ...]:
    """Every one of `tools` with the same reason, in their order."""
    return tuple([placed(tool.name, reason) for tool in tools])


@lru_cache(maxsize=50_000)
def placed(name: str, reason: Reason) -> Placed:
    """The row, made once: with thousands of tools the same rows come back in every plan."""
    return Placed(name, reason)
