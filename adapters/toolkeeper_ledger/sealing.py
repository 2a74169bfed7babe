"""How are frozen arguments kept unreadable at rest, and bound to their row?"""

import base64
import binascii
import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from toolkeeper_contract import Code, RunError

KEY_BYTES = 32
_VERSION = b"\x01"
_NAME_BYTES = 8
_NONCE_BYTES = 12


class SealingKey:
    """A `Sealer` with one AES-256-GCM key; a sealed value names its key without telling it."""

    __slots__ = ("_cipher", "_name")

    def __init__(self, key: bytes) -> None:
        """`key` has 32 bytes; ValueError otherwise."""
        if len(key) != KEY_BYTES:
            raise ValueError(f"a sealing key has {KEY_BYTES} bytes")
        self._cipher = AESGCM(key)
        self._name = hashlib.sha256(b"toolkeeper sealing key" + key).digest()[:_NAME_BYTES]

    def __repr__(self) -> str:
        return "SealingKey()"

    @classmethod
    def generate(cls) -> "SealingKey":
        """A new random key, which is lost with this object."""
        return cls(os.urandom(KEY_BYTES))

    def seal(self, data: bytes, context: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        head = _VERSION + self._name
        return head + nonce + self._cipher.encrypt(nonce, data, _bound(head, context))

    def open(self, sealed: bytes, context: str) -> bytes:
        """RunError(ledger.unavailable) when it was sealed with another key, or changed."""
        head = sealed[: 1 + _NAME_BYTES]
        if head[:1] != _VERSION or len(sealed) < len(head) + _NONCE_BYTES:
            raise unsealable("the sealed arguments are not readable", "deny the call, or ask again")
        if head[1:] != self._name:
            raise unsealable(
                "the arguments were sealed with another key",
                "use the key of the worker that parked the call (`TOOLKEEPER_SEAL_KEY` is the same"
                " for all workers of a store), or deny the call",
            )
        nonce = sealed[len(head) : len(head) + _NONCE_BYTES]
        try:
            return self._cipher.decrypt(
                nonce, sealed[len(head) + _NONCE_BYTES :], _bound(head, context)
            )
        except InvalidTag:
            raise unsealable(
                "the sealed arguments were changed or belong to another call",
                "deny the call, and look who can write the store",
            ) from None


def _bound(head: bytes, context: str) -> bytes:
    return head + context.encode("utf-8")


def unsealable(message: str, hint: str) -> RunError:
    return RunError(Code.LEDGER_UNAVAILABLE, message, hint)


def encode_key(key: bytes) -> str:
    """The form in which a key stands in a file or a variable."""
    return base64.b64encode(key).decode("ascii")


def decode_key(text: str) -> bytes | None:
    """The key in `text`, in either base64 alphabet; None when it is not one."""
    try:
        key = base64.b64decode(text.strip().replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == KEY_BYTES else None
