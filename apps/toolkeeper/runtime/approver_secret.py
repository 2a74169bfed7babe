"""How does an approver prove who they are?

The configuration keeps a salted scrypt hash; the secret itself is asked on the terminal or read
from the environment of the approver's own shell, which no tool's process inherits.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import Mapping

from toolkeeper_contract import Code, ConfigError, RunError

VARIABLE = "TOOLKEEPER_APPROVER_SECRET"
_SCHEME = "scrypt"
_COST, _BLOCK, _PARALLEL = 2**14, 8, 1
_SALT_BYTES = 16
_HASH_BYTES = 32


class NotProven(RunError):
    """The approver's secret was missing or wrong; nothing was decided."""


def hash_secret(secret: str) -> str:
    """The form for `approver_secrets`: scheme, salt and hash, each new time another."""
    if not secret:
        raise ConfigError("an empty secret proves nothing", "give at least one character")
    salt = os.urandom(_SALT_BYTES)
    return f"{_SCHEME}${_text(salt)}${_text(_derive(secret, salt))}"


def is_hash(text: str) -> bool:
    """Whether `text` has the form that `hash_secret` makes."""
    try:
        _parts(text)
    except ValueError:
        return False
    return True


def check_secret(name: str, secrets: Mapping[str, str], secret: str | None) -> None:
    """Passes an approver without a configured secret at their word, and others with the right one.

    NotProven when it is missing or wrong; ConfigError when the configured hash is unreadable.
    """
    hashed = secrets.get(name)
    if hashed is None:
        return
    try:
        salt, wanted = _parts(hashed)
    except ValueError:
        raise ConfigError(
            f"the hash of `{name}` is not readable",
            "make one with `toolkeeper approvals hash`",
            key=f"approver_secrets.{name}",
        ) from None
    if secret is None:
        raise NotProven(
            Code.LEDGER_CONFLICT,
            f"`{name}` has to prove who they are",
            f"answer from a terminal, or set {VARIABLE}",
        )
    if not hmac.compare_digest(wanted, _derive(secret, salt)):
        raise NotProven(
            Code.LEDGER_CONFLICT, f"the secret of `{name}` is not right", "nothing was decided"
        )


def _parts(text: str) -> tuple[bytes, bytes]:
    scheme, salt, hashed = text.split("$")
    if scheme != _SCHEME:
        raise ValueError(scheme)
    raw = base64.b64decode(salt, validate=True), base64.b64decode(hashed, validate=True)
    if len(raw[0]) != _SALT_BYTES or len(raw[1]) != _HASH_BYTES:
        raise ValueError(scheme)
    return raw


def _derive(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        secret.encode("utf-8", "surrogatepass"),
        salt=salt,
        n=_COST,
        r=_BLOCK,
        p=_PARALLEL,
        dklen=_HASH_BYTES,
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
