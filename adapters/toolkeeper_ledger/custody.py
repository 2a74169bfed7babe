"""What do operators do with a whole store: audit it, export it, remove what is old?"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select

from toolkeeper_contract import Clock
from toolkeeper_ledger import history
from toolkeeper_ledger.auditing import AuditReport, audit
from toolkeeper_ledger.chain import Head
from toolkeeper_ledger.export import Part, read_page
from toolkeeper_ledger.retention import Retained, old_sessions, prune_session
from toolkeeper_ledger.schema import schema_version
from toolkeeper_ledger.writer import Writer


class Custody:
    """The part of a SQL ledger that no call needs."""

    _writer: Writer
    _clock: Clock

    async def heads(self) -> Sequence[Head]:
        """The newest event of every session, by session id: what `audit` is held against."""
        return await self._writer.read(history.read_heads)

    async def versions(self) -> Sequence[tuple[int, str]]:
        """With which version the store was made, and to which it was upgraded, each with when."""
        query = select(schema_version.c.version, schema_version.c.created_at)
        return await self._writer.read(
            lambda c: [(row[0], row[1]) for row in c.execute(query.order_by("version"))]
        )

    async def audit(
        self, *, session_id: str | None = None, kept: Sequence[Head] = ()
    ) -> AuditReport:
        """Whether the store, or one session, is as it was written; `kept` are heads kept elsewhere.

        One snapshot is read in pages.
        """
        return await self._writer.read(lambda c: audit(c, session_id=session_id, kept=kept))

    async def exported(
        self, part: Part, *, session_id: str | None = None, since: datetime | None = None
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Pages of rows in the order in which they were written; memory holds one page.

        Each page is a transaction of its own: a row that changes meanwhile is exported once, as it
        was when its page was read.
        """
        after: int | None = 0
        while after is not None:
            start, now = after, self._clock.now()
            page = await self._writer.read(
                lambda c, start=start, now=now: read_page(  # type: ignore[misc]
                    c, part, now=now, session_id=session_id, since=since, after=start
                )
            )
            yield page.rows
            after = page.after

    async def old_sessions(self, before: datetime) -> list[Retained]:
        """Sessions that did nothing since `before`, with what they hold and why some must stay.

        Their audit is left to `prune_session`.
        """
        now = self._clock.now()
        return await self._writer.read(lambda c: old_sessions(c, before, now))

    async def prune_session(self, session_id: str, before: datetime) -> Retained | None:
        """Removes the content of one of them; `retention.prune_session` says what stays."""
        now = self._clock.now()
        return await self._writer.write(lambda c: prune_session(c, session_id, before, now))
