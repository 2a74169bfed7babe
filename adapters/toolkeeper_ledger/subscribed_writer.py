"""How does a transaction know what sinks want, and how are they told that there is something?

Only where sinks are configured: a ledger without any runs on its writer as it is.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from sqlalchemy import Connection

from toolkeeper_ledger.outbox import Subscription, subscribed
from toolkeeper_ledger.writer import Writer

T = TypeVar("T")


class Subscribed(Generic[T]):
    """Work that puts the events that sinks want into their outboxes."""

    __slots__ = ("subscription", "work")

    def __init__(self, work: Callable[[Connection], T], subscription: Subscription) -> None:
        self.work = work
        self.subscription = subscription

    def __call__(self, connection: Connection) -> T:
        # The work may run again, and beside another's: only what it writes itself counts.
        self.subscription.put = 0
        with subscribed(self.subscription):
            return self.work(connection)


class SubscribedWriter:
    """A writer whose transactions put the events that sinks want into their outboxes."""

    def __init__(
        self,
        writer: Writer,
        sinks: Mapping[str, Collection[str]],
        wake: Callable[[], None] | None,
    ) -> None:
        """`wake` is called after the commit, where the caller's coroutine goes on."""
        self.writer = writer
        self._sinks = {name: tuple(events) for name, events in sinks.items()}
        self._wake = wake

    async def write(self, work: Callable[[Connection], T]) -> T:
        subscription = Subscription(self._sinks)
        answer = await self.writer.write(Subscribed(work, subscription))
        if subscription.put and self._wake is not None:
            self._wake()
        return answer

    @property
    def queued(self) -> int:
        """How many works wait their turn; none where each runs at once."""
        return getattr(self.writer, "queued", 0)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.writer.read(work)

    async def close(self) -> None:
        await self.writer.close()
