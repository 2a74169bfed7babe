"""Which tools does an MCP server behind a URL offer?"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, PARSE_ERROR, REQUEST_TIMEOUT

from toolkeeper_contract import ConfigError
from toolkeeper_sources.connection import Connection, ConnectionFailed
from toolkeeper_sources.http_transport import HttpTransport
from toolkeeper_sources.limits import ListingLimits
from toolkeeper_sources.message_tap import MessageTap
from toolkeeper_sources.server_source import ServerSource

DEFAULT_LIMITS = ListingLimits()


class HttpMcpSource(ServerSource):
    """An MCP server over streamable HTTP.

    `headers` (a bearer token, say) go with every request to the URL's origin and nowhere else.
    `timeout` in seconds bounds connecting and listing. Raises ConfigError for a URL that is none.
    """

    # The SDK words a broken stream, and a gateway's 502, like an error of the server.
    ambiguous = frozenset({CONNECTION_CLOSED, INTERNAL_ERROR, PARSE_ERROR, REQUEST_TIMEOUT})

    def __init__(
        self,
        name: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        mode: str = "auto",
        limits: ListingLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(name, timeout=timeout, limits=limits)
        self._url = _checked(url, name)
        self._headers = dict(headers or {})
        self._mode = mode

    async def _connect(self) -> Connection:
        tap = MessageTap()
        transport = HttpTransport(self._url, self._headers, self._timeout, tap)
        connection = Connection(transport, tap, self._mode, lambda: transport.closed)
        try:
            await connection.open()
        except ConnectionFailed as failure:
            if transport.closed:
                raise ConnectionFailed("the server could not be reached") from None
            raise ConnectionFailed(str(failure)) from None
        return connection

    def _remark(self) -> str | None:
        return None


def _checked(url: str, name: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound:
        raise ConfigError(
            f"the server `{name}` has a url that is none", "write it as `https://host/path`"
        )
    return url
