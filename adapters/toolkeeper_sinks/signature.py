"""Who sent this body, and when?

The convention is that of Standard Webhooks, so that its libraries verify what is sent here: three
headers, and an HMAC-SHA256 over id, time and the exact bytes of the body.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

ID = "webhook-id"
TIMESTAMP = "webhook-timestamp"
SIGNATURE = "webhook-signature"
PREFIX = "whsec_"
SHORTEST = 24
"""Bytes that a secret has at least."""

TOLERANCE = 300.0
"""Seconds that a message's time may lie from the receiver's own."""

_VERSION = "v1"


class NotSigned(Exception):
    """A body that did not come from the holder of the secret, or not now. Says which, no more."""


@dataclass(frozen=True, slots=True)
class SigningSecret:
    """The key that sender and receiver share; it shows itself in no text."""

    key: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "SigningSecret":
        """`whsec_` and base64, else the text's own bytes. ValueError (without it) if unusable."""
        key = text.encode("utf-8")
        if text.startswith(PREFIX):
            try:
                key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
            except (binascii.Error, ValueError):
                raise ValueError(f"what follows `{PREFIX}` is not base64") from None
        if len(key) < SHORTEST:
            raise ValueError(f"it has {len(key)} bytes, and {SHORTEST} are needed")
        return cls(key)


def signed_headers(
    body: bytes, secret: SigningSecret, *, message_id: str, at: float
) -> dict[str, str]:
    """The headers that vouch for `body`; `at` is in seconds since 1970."""
    stamp = str(int(at))
    return {
        ID: message_id,
        TIMESTAMP: stamp,
        SIGNATURE: f"{_VERSION},{_signature(body, secret, message_id, stamp)}",
    }


def verify_signature(
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    now: float,
    tolerance: float = TOLERANCE,
) -> str:
    """The message's id when `body` came from the holder of `secret`, about `now`; else NotSigned.

    For receivers: hand over the bytes as they came in, the headers (in any case), the secret as it
    stands in the configuration, and the time in seconds since 1970. An id comes again when an
    answer was lost; whoever remembers it does nothing twice.
    """
    there = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, stamp, signatures = there[ID], there[TIMESTAMP], there[SIGNATURE]
    except KeyError as missing:
        raise NotSigned(f"the header `{missing.args[0]}` is missing") from None
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 16):
        raise NotSigned("the time is not a number")
    if abs(now - int(stamp)) > tolerance:
        raise NotSigned("the time is too far from now")
    expected = _signature(body, SigningSecret.of(secret), message_id, stamp)
    # Several stand there while a secret is being changed.
    for each in signatures.split(" "):
        version, _, value = each.partition(",")
        if version == _VERSION and hmac.compare_digest(value.encode(), expected.encode()):
            return message_id
    raise NotSigned("the signature is not that of the secret")


def _signature(body: bytes, secret: SigningSecret, message_id: str, stamp: str) -> str:
    signed = b".".join([message_id.encode("utf-8"), stamp.encode("ascii"), body])
    return base64.b64encode(hmac.new(secret.key, signed, hashlib.sha256).digest()).decode("ascii")
