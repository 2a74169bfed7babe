"""How does an MCP server serve as a source of tools, whatever connects us to it?"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
)
from pydantic import TypeAdapter, ValidationError

from toolkeeper_contract import (
    Listing,
    LostAfterDispatch,
    NotDispatched,
    SourceKind,
    SourceState,
    SourceStatus,
    Text,
    ToolResult,
)
from toolkeeper_pipeline.bounds import ResultTooLarge
from toolkeeper_sources.call_result import result_of_call
from toolkeeper_sources.connection import Connection, ConnectionFailed
from toolkeeper_sources.limits import ListingLimits
from toolkeeper_sources.listing_walk import ListingWalk
from toolkeeper_sources.message_tap import DISPATCH, Dispatch
from toolkeeper_sources.published import sorted_out
from toolkeeper_sources.unreadable import UNREADABLE

_ANSWER: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    CallToolResult | InputRequiredResult
)

_NOT_RUN = frozenset({INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND})
"""Protocol errors by which a server says that it did not run the tool."""


class ServerError(Exception):
    """The server answered a call with an error of the protocol; what it did is its secret."""


class ServerSource(ABC):
    """An MCP server as a ToolSource: connects when first needed, and anew when it finds the
    connection dead before a call has left. Never repeats a call.
    """

    kind = SourceKind.MCP

    ambiguous: frozenset[int] = frozenset({PARSE_ERROR})
    """Error codes by which the transport itself may report an answer that never came, or that it
    could not read."""

    def __init__(self, name: str, *, timeout: float, limits: ListingLimits) -> None:
        self.name = name
        self._timeout = timeout
        self._limits = limits
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._good: Listing | None = None
        self._changed = False
        self._closed = False
        self._calls = 0

    @abstractmethod
    async def _connect(self) -> Connection:
        """An open connection; raises ConnectionFailed. Cancelled when the time is over."""

    @abstractmethod
    def _remark(self) -> str | None:
        """What is odd about a server that works all the same."""

    @property
    def changed(self) -> bool:
        """Whether the server said, or reconnecting suggests, that `listing` would now differ."""
        return self._changed or (self._connection is not None and self._connection.changed)

    async def listing(self) -> Listing:
        """What the server lists now, within the time limit. Never raises for what a server does.

        A listing that failed or broke off leaves the last whole one standing, and says why.
        """
        async with self._lock:
            walk = ListingWalk(self._limits)
            reason = await self._walked(walk)
            return self._concluded(walk, reason)

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the tool once.

        Raises NotDispatched, LostAfterDispatch, ResultTooLarge or ServerError.
        """
        connection = self._connection
        if connection is None or not connection.alive:
            connection = await self._reconnected(raw_name)
        dispatch = Dispatch()
        token = DISPATCH.set(dispatch)
        self._calls += 1
        try:
            # Not `call_tool`: it validates results by an engine without bounds.
            answer = await connection.client.session.send_request(
                CallToolRequest(
                    params=CallToolRequestParams(name=raw_name, arguments=dict(arguments))
                ),
                _ANSWER,
            )
        except MCPError as error:
            return _refusal(error, connection, dispatch, self.ambiguous)
        except ValidationError:
            raise LostAfterDispatch("the server's answer could not be read") from None
        except OSError:
            raise _lost(dispatch) from None
        except RuntimeError:
            # Closed by us in the meantime.
            if connection.alive:
                raise
            raise _lost(dispatch) from None
        finally:
            self._calls -= 1
            connection.tap.settled(dispatch)
            DISPATCH.reset(token)
        if isinstance(answer, InputRequiredResult):
            raise ServerError("the server asks for input, which is not relayed")
        return result_of_call(answer)

    async def close(self) -> None:
        """Ends the connection and what it runs on; the source cannot be used again."""
        self._closed = True
        async with self._lock:
            await self._drop()

    async def _walked(self, walk: ListingWalk) -> str | None:
        if self._closed:
            return "the source is closed"
        try:
            async with asyncio.timeout(self._timeout):
                connection = await self._connected()
                connection.changed = False
                await walk.run(connection)
        except ConnectionFailed as failure:
            return str(failure)
        except TimeoutError:
            # A server that hangs is not kept, unless it is at work on somebody's call: the next
            # listing starts it afresh.
            if not self._calls:
                await self._drop()
            remark = self._remark()
            return f"the server did not answer within {self._timeout:g} s" + (
                f"; {remark}" if remark else ""
            )
        if not connection.alive:
            await self._drop()
        return walk.reason

    def _concluded(self, walk: ListingWalk, reason: str | None) -> Listing:
        if not walk.complete:
            state = SourceState.PARTIAL if walk.entries else SourceState.UNAVAILABLE
            status = SourceStatus(self.name, state, reason)
            if self._good is not None:
                return Listing(self._good.tools, self._good.refused, status)
            tools, refused = sorted_out(self.name, walk.entries, limits=self._limits.schemas)
            return Listing(tools, refused, status)
        tools, refused = sorted_out(self.name, walk.entries, limits=self._limits.schemas)
        status = SourceStatus(self.name, SourceState.OK, self._remark())
        self._changed = False
        self._good = Listing(tools, refused, status)
        return self._good

    async def _connected(self) -> Connection:
        if self._connection is None or not self._connection.alive:
            await self._drop()
            self._connection = await self._connect()
        return self._connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._changed = self._changed or connection.changed
            await connection.close()

    async def _reconnected(self, raw_name: str) -> Connection:
        async with self._lock:
            if self._closed:
                raise NotDispatched("the source is closed")
            if self._connection is not None and self._connection.alive:
                return self._connection
            before = self._good
            try:
                async with asyncio.timeout(self._timeout):
                    connection = await self._connected()
                    if before is not None:
                        await self._relisted(connection)
            except ConnectionFailed as failure:
                raise NotDispatched(str(failure)) from None
            except TimeoutError:
                await self._drop()
                raise NotDispatched(f"no answer within {self._timeout:g} s") from None
            # INVARIANT: a server that came back with another tool under this name is not called.
            if before is not None and _print_of(before, raw_name) != _print_of(
                self._good, raw_name
            ):
                raise NotDispatched("the tool changed while the server was away")
            return connection

    async def _relisted(self, connection: Connection) -> None:
        walk = ListingWalk(self._limits)
        await walk.run(connection)
        if not walk.complete:
            await self._drop()
            raise NotDispatched(walk.reason or "the server did not list its tools")
        self._concluded(walk, None)
        self._changed = True


def _print_of(listing: Listing | None, raw_name: str) -> str | None:
    for item in listing.tools if listing is not None else ():
        if item.definition.name == raw_name:
            return item.definition.fingerprint()
    return None


def _refusal(
    error: MCPError, connection: Connection, dispatch: Dispatch, ambiguous: frozenset[int]
) -> ToolResult:
    if error.code == UNREADABLE and dispatch.left:
        raise ResultTooLarge("the server's answer is too large or too deep to be read") from None
    if not connection.alive or not dispatch.left or error.code in ambiguous:
        raise _lost(dispatch) from None
    if error.code in _NOT_RUN:
        # The server's word on these arguments, which the model can act on, like `isError`.
        return ToolResult((Text(error.error.message),), is_error=True)
    raise ServerError(f"the server failed with code {error.code}") from None


def _lost(dispatch: Dispatch) -> Exception:
    if dispatch.left:
        return LostAfterDispatch("the connection closed before the answer came")
    return NotDispatched("the connection closed before the call left")
