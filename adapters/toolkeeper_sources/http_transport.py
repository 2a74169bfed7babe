"""How do the SDK's messages travel over streamable HTTP, so that we see what left?"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from toolkeeper_sources.limits import RESULT_LIMITS
from toolkeeper_sources.message_tap import MessageTap
from toolkeeper_sources.unreadable import unreadable

_UNREAD = ("Failed to parse JSON response", "Failed to parse SSE message", "SSE stream failed")
"""How the SDK begins to tell of an answer that it could not read."""

READ_TIMEOUT = 300.0
"""Seconds that a response may pause; a call's own time is bounded by whoever makes it."""


class HttpTransport:
    """A server's URL as a transport of the SDK's client.

    The headers go to the URL's own origin only: the SDK follows no redirect that leaves it.
    `closed` is set when the server could not be reached or has forgotten the session, so that the
    next use connects anew.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], timeout: float, tap: MessageTap
    ) -> None:
        self._url = url
        self._headers = dict(headers)
        self._timeout = timeout
        self._tap = tap
        self._stack = AsyncExitStack()
        self.closed = False

    def lost(self, request_id: Any) -> None:
        """To be told of a request that reached no session."""
        self.closed = True
        self._tap.kept_back(request_id)

    async def __aenter__(self) -> tuple["_Reader", "_Writer"]:
        client = await self._stack.enter_async_context(
            httpx2.AsyncClient(
                headers=self._headers,
                timeout=httpx2.Timeout(self._timeout, read=READ_TIMEOUT),
                transport=_Outbound(self.lost),
                # Proxies of the environment would see the headers.
                trust_env=False,
            )
        )
        read, write = await self._stack.enter_async_context(
            streamable_http_client(
                self._url, http_client=client, max_sse_event_size=RESULT_LIMITS.size
            )
        )
        return _Reader(read, self._tap), _Writer(write, self._tap)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(exc_type, exc, trace)


class _Outbound(httpx2.AsyncHTTPTransport):
    """Tells of requests that no session received: those have not run."""

    def __init__(self, lost: Callable[[Any], None]) -> None:
        super().__init__()
        self._lost = lost

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            self._lost(_request_id(request))
            raise
        if response.status_code == httpx2.codes.NOT_FOUND and request.method == "POST":
            # By the protocol: the session is not there (any more).
            self._lost(_request_id(request))
        if response.headers.get("content-type", "").lower().startswith("application/json"):
            response.stream = _Bounded(response.stream)
        return response


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error where it becomes too long to be taken in."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > RESULT_LIMITS.size:
                # Of the kind that the SDK reports to whoever waits for the answer.
                raise httpx2.StreamError("the body is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _request_id(request: httpx2.Request) -> Any:
    try:
        message = json.loads(request.content)
    except (ValueError, httpx2.RequestNotRead):
        return None
    return message.get("id") if isinstance(message, dict) else None


class _Reader:
    """The SDK's receiving stream, with the tap on it."""

    def __init__(self, inner: Any, tap: MessageTap) -> None:
        self._inner = inner
        self._tap = tap

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return self._seen(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._seen(await self._inner.__anext__())

    def _seen(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCError) and message.error.message.startswith(_UNREAD):
            # The SDK's own words, which quote what it could not read.
            return SessionMessage(unreadable(message.id)) if message.id is not None else item
        if isinstance(message, JSONRPCResponse) and self._tap.awaits(message):
            self._tap.received(message, len(message.model_dump_json()))
        return item

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self._inner.__aexit__(*exc)


class _Writer:
    """The SDK's sending stream, with the tap on it."""

    def __init__(self, inner: Any, tap: MessageTap) -> None:
        self._inner = inner
        self._tap = tap

    async def send(self, item: SessionMessage, /) -> None:
        if isinstance(item.message, JSONRPCRequest):
            self._tap.sent(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self._inner.__aexit__(*exc)
