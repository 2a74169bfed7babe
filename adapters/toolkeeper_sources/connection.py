"""How is one connection to an MCP server opened, used from any task, and closed for certain?"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from mcp import Client, MCPError
from mcp.client import Transport
from mcp.client.subscriptions import ToolsListChanged
from mcp_types import CONNECTION_CLOSED, Implementation, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolkeeper_pipeline.library_log import withhold
from toolkeeper_sources.message_tap import MessageTap

# The SDK logs lines and errors of servers. Without a handler of its own Python would print them to
# the user's terminal; with one, whoever configures logging still gets them, but for their content.
for _logger in ("mcp", "client"):
    logging.getLogger(_logger).addHandler(logging.NullHandler())


# Named, since they may be loaded after we looked.
_OF_HTTPCORE = tuple(
    f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")
)


def _keep_out_of_the_log() -> None:
    withhold("mcp", "httpx2", *_OF_HTTPCORE)
    withhold("client", package="mcp")


_keep_out_of_the_log()


class ConnectionFailed(Exception):
    """The connection did not come about; the message is a reason fit for a source's status."""


class Connection:
    """A live MCP session. It lives in a task of its own, since what the SDK opens must be closed
    in the task that opened it; requests may come from any task.

    `changed` is set when the server says that its tools changed.
    """

    def __init__(
        self, transport: Transport, tap: MessageTap, mode: str, is_closed: Callable[[], bool]
    ) -> None:
        self.tap = tap
        self.changed = False
        self._transport = transport
        self._mode = mode
        self._is_closed = is_closed
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._failure: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Opens the session; raises ConnectionFailed. A cancelled caller leaves nothing behind."""
        _keep_out_of_the_log()
        self._task = asyncio.create_task(self._live(), name="toolkeeper-mcp")
        try:
            await self._ready.wait()
        except BaseException:
            await self.close()
            raise
        if self._client is None:
            await self.close()
            raise ConnectionFailed(_reason(self._failure))

    @property
    def client(self) -> Client:
        if self._client is None:
            raise RuntimeError("the connection is not open")
        return self._client

    @property
    def alive(self) -> bool:
        """Whether a request could still be answered."""
        running = self._task is not None and not self._task.done()
        return running and self._client is not None and not self._is_closed()

    async def close(self) -> None:
        """Ends the session and what it runs on; safe to repeat."""
        task = self._task
        if task is None:
            return
        if not self._ready.is_set() or self._client is None:
            task.cancel()
        self._stop.set()
        await asyncio.wait([task])

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                client = Client(
                    self._transport,
                    mode=self._mode,
                    cache=None,
                    message_handler=self._on_message,
                    client_info=Implementation(name="toolkeeper", version="0"),
                )
                await stack.enter_async_context(client)
                self._client = client
                self._ready.set()
                listening = asyncio.create_task(self._listen(client))
                try:
                    await self._stop.wait()
                finally:
                    listening.cancel()
                    await asyncio.wait([listening])
        except BaseException as error:
            # Nobody awaits this task for its result; `open` and the requests tell of it.
            self._failure = error
        finally:
            self._client = None
            self._ready.set()

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed = True

    async def _listen(self, client: Client) -> None:
        """In the newer protocol era a server tells of changes only to who subscribed."""
        capabilities = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        if capabilities is None or not capabilities.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as subscription:
                async for event in subscription:
                    if isinstance(event, ToolsListChanged):
                        self.changed = True
        except Exception:
            # A subscription that broke off may have missed a change.
            self.changed = True


def _reason(failure: BaseException | None) -> str:
    errors = [failure]
    while errors:
        error = errors.pop()
        if isinstance(error, BaseExceptionGroup):
            errors.extend(error.exceptions)
        elif isinstance(error, MCPError):
            if error.code == CONNECTION_CLOSED:
                return "the connection closed before the server had answered"
            return f"the server refused the protocol's handshake (code {error.code})"
        elif isinstance(error, ConnectionFailed):
            return str(error)
    return "the server's answer to the protocol's handshake could not be understood"
