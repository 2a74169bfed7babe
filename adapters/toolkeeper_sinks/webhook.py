"""How does an event reach somebody over HTTP?

One POST an event, signed, as JSON. What is sent is the event as `audit events` shows it: names,
ids and codes, never an argument's value or a result. The answer's body is not read.
"""

import asyncio
import json
from collections.abc import Callable, Collection
from datetime import datetime
from urllib.parse import urlsplit

import httpx2

from toolkeeper_contract import RecordedEvent, Undelivered
from toolkeeper_sinks.signature import SigningSecret, signed_headers

TIMEOUT = 10.0
_GONE = 410


class WebhookSink:
    """Posts events to one address. `toolkeeper_contract.EventSink`.

    Any 2xx is a success. A redirect is not followed: a signed body goes where it was addressed, or
    nowhere. 410 says that nobody wants it any more, which is final; all else is tried again.
    """

    def __init__(
        self,
        url: str,
        secret: SigningSecret,
        events: Collection[str],
        *,
        name: str | None = None,
        timeout: float = TIMEOUT,
        now: Callable[[], datetime],
    ) -> None:
        """`timeout` is in seconds, for the whole exchange; `name` is the host by default."""
        self._url = url
        self._secret = secret
        self._events = tuple(events)
        self._name = name or urlsplit(url).hostname or "webhook"
        self._timeout = timeout
        self._now = now
        # The bare transport: a client would write the address, with what is secret in it, to its
        # log, and would ask the environment for proxies and a `.netrc`.
        self._transport: httpx2.AsyncHTTPTransport | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def events(self) -> Collection[str]:
        return self._events

    async def deliver(self, event: RecordedEvent) -> None:
        """Posts one event. Undelivered, in our own words, when it was not taken."""
        status = await self._post(event)
        if 200 <= status < 300:
            return
        if status == _GONE:
            raise Undelivered("it answered 410: nobody is there any more", final=True)
        raise Undelivered(f"it answered {status}")

    async def close(self) -> None:
        """Closes the connections that were kept."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def _post(self, event: RecordedEvent) -> int:
        body = _body(event)
        headers = signed_headers(
            body, self._secret, message_id=message_id(event), at=self._now().timestamp()
        )
        headers["content-type"] = "application/json"
        try:
            async with asyncio.timeout(self._timeout):
                return await self._exchange(body, headers)
        except TimeoutError:
            raise Undelivered("it did not answer in time") from None
        except (httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.ProxyError):
            raise Undelivered("it cannot be reached") from None
        except httpx2.HTTPError:
            # Never the library's own words: they name the address, and it may hold a secret.
            raise Undelivered("the connection broke") from None

    async def _exchange(self, body: bytes, headers: dict[str, str]) -> int:
        if self._transport is None:
            self._transport = httpx2.AsyncHTTPTransport()
        timeout = httpx2.Timeout(self._timeout).as_dict()
        request = httpx2.Request(
            "POST", self._url, content=body, headers=headers, extensions={"timeout": timeout}
        )
        response = await self._transport.handle_async_request(request)
        # Not read: it may have no end, and there is nothing in it for us.
        await response.aclose()
        return response.status_code


def message_id(event: RecordedEvent) -> str:
    """The same for every attempt, and for no other event."""
    return f"{event.session_id}:{event.seq}"


def _body(event: RecordedEvent) -> bytes:
    told = {
        "id": message_id(event),
        "type": event.event.name,
        "timestamp": event.at,
        "session_id": event.session_id,
        "seq": event.seq,
        "run_id": event.event.run_id,
        "invocation_id": event.event.invocation_id,
        "data": dict(event.event.data),
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
