"""What does a server list, page after page, and did we get to the end?"""

from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError
from mcp_types import METHOD_NOT_FOUND, ListToolsRequest, ListToolsResult, PaginatedRequestParams
from pydantic import ValidationError

from toolkeeper_sources.connection import Connection
from toolkeeper_sources.limits import ListingLimits
from toolkeeper_sources.message_tap import DISPATCH, Dispatch


@dataclass(slots=True)
class ListingWalk:
    """One walk over a server's pages.

    `entries` are the tool objects as they came, also after the walk was cut off or cancelled.
    `complete` is true only when the server said that there is no further page. `reason` says in
    lower case why the walk ended early.
    """

    limits: ListingLimits
    entries: list[Any] = field(default_factory=list)
    complete: bool = False
    reason: str | None = None

    async def run(self, connection: Connection) -> None:
        """Follows the cursor to the end, within the limits; never raises for what a server does."""
        try:
            await self._follow(connection)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and not self.entries and connection.alive:
                # A server of prompts or resources only.
                self.complete = True
            elif connection.alive:
                self.reason = f"the server refused to list its tools (code {error.code})"
            else:
                self.reason = "the server ended while it listed its tools"
        except (ValidationError, RuntimeError):
            self.reason = "the server listed its tools in a form that the protocol does not have"

    async def _follow(self, connection: Connection) -> None:
        cursor: str | None = None
        seen: set[str] = set()
        size = 0
        for _ in range(self.limits.pages):
            dispatch = Dispatch()
            token = DISPATCH.set(dispatch)
            try:
                result = await connection.client.session.send_request(
                    ListToolsRequest(params=PaginatedRequestParams(cursor=cursor)),
                    ListToolsResult,
                )
            finally:
                DISPATCH.reset(token)
                connection.tap.settled(dispatch)
            page = connection.tap.take_page(dispatch)
            if page is not None:
                size += page.size
                if size > self.limits.size:
                    self.reason = f"the server lists more than {self.limits.size:,} bytes"
                    return
                self.entries.extend(page.tools)
            if len(self.entries) > self.limits.tools:
                del self.entries[self.limits.tools :]
                self.reason = f"the server lists more than {self.limits.tools:,} tools"
                return
            cursor = result.next_cursor
            # The protocol ends a listing by leaving the cursor out; servers also send "".
            if not cursor:
                self.complete = True
                return
            if cursor in seen:
                self.reason = "the server's pages come round to one that was read already"
                return
            seen.add(cursor)
        self.reason = f"the server lists more than {self.limits.pages:,} pages"
