"""Which request does a message answer that cannot be read, being too long, too deep or no JSON?

Whoever waits for it is told at once, instead of waiting until its time is over.
"""

import json
import re

from mcp_types import ErrorData, JSONRPCError, RequestId

UNREADABLE = -31_999
"""The code of the error by which a transport of ours reports such an answer; outside JSON-RPC's
reserved range."""

EDGE = 4_096
"""Bytes at either end of a message in which its id is looked for."""

_ID = rb'"id"\s*:\s*(?P<id>-?[0-9]{1,18}(?=[\s,}])|"[^"\\\\]{1,128}")'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
# The members that stand before the first or after the last nested value are the message's own.
_AT_THE_BEGINNING = re.compile(
    rb"\s*\{\s*(?:"
    + _VERSION
    + rb"\s*,\s*"
    + _ID
    + rb"|"
    + _ID.replace(b"<id>", b"<first>")
    + rb")"
)
_AT_THE_END = re.compile(_ID + rb"\s*(?:,\s*" + _VERSION + rb"\s*)?\}\s*$")


def answered(head: bytes, tail: bytes) -> RequestId | None:
    """The id that a message with this beginning and this end bears; None when it does not show.

    A request of the server's has one too: whoever asks compares it with those in flight.
    """
    found = _AT_THE_BEGINNING.match(head[:EDGE]) or _AT_THE_END.search(tail[-EDGE:])
    if found is None:
        return None
    groups = found.groupdict()
    written = groups["id"] or groups.get("first")
    if written is None:
        return None
    try:
        value = json.loads(written)
    except ValueError:
        return None
    return value if isinstance(value, int | str) else None


def unreadable(request_id: RequestId) -> JSONRPCError:
    """The error that stands for such an answer; it quotes nothing of it."""
    error = ErrorData(code=UNREADABLE, message="the answer cannot be read")
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
