"""What do users need to test their own tools and policies without a database?

keeper = keeper_of([add_note], scopes={"ana": {"notes"}})
async with keeper, keeper.session(agent="chat", user="ana") as session: ...
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.keeper import Toolkeeper
from toolkeeper_ledger import MemoryLedger, SealingKey
from toolkeeper_policy import Policy, load_policy
from toolkeeper_sources import FunctionTool, tool

__all__ = ["CountingIds", "FixedClock", "MemoryLedger", "keeper_of"]


class FixedClock:
    """A clock that stands still until it is told to move; UTC."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, **delta: float) -> None:
        """Moves on by a timedelta's arguments (`seconds=1`, `hours=24`)."""
        self._now += timedelta(**delta)


class CountingIds:
    """Ids that count from 1 for each prefix, the same in every run."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def new(self, prefix: str) -> str:
        self._last[prefix] = self._last.get(prefix, 0) + 1
        return f"{prefix}_{self._last[prefix]:04}"


def keeper_of(
    tools: Iterable[FunctionTool | Callable[..., Any]],
    *,
    policy: str | None = None,
    scopes: Mapping[str, Iterable[str]] | None = None,
    clock: FixedClock | None = None,
    **agent: Any,
) -> Toolkeeper:
    """A keeper over functions, in memory, with one agent `chat` that has all of them.

    `policy` is the text of a policy document, `scopes` what each user holds, `agent` further
    fields of the agent's configuration (`caps`, `deferred_tools`, `limits`, ...).
    """
    made = [each if isinstance(each, FunctionTool) else tool(each) for each in tools]
    clock = clock or FixedClock()
    names = tuple(each.name for each in made)
    chat = Agent(**{"name": "chat", "tools": names, **agent})
    configuration = Configuration(
        file="testing",
        folder=Path.cwd(),
        store="memory",
        agents={chat.name: chat},
        users={user: frozenset(held) for user, held in (scopes or {}).items()},
    )
    loaded: Policy = load_policy([] if policy is None else [("policy.yaml", policy)])
    keeper = Toolkeeper(
        configuration,
        policy=loaded,
        ledger=MemoryLedger(clock=clock),
        sealer=SealingKey.generate(),
        clock=clock,
        ids=CountingIds(),
    )
    for each in made:
        keeper.add(each)
    return keeper
