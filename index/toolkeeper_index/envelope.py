"""How does somebody else's text travel so that it cannot pass for ours?"""

import hashlib
import re

from toolkeeper_contract import is_server_id
from toolkeeper_index.cleaning import clean

_TOKEN = re.compile(r"[0-9a-f]{16}")
_DOMAIN = b"toolkeeper.envelope.v1\x00"
_ENCODING = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def boundary_token(plan_digest: str) -> str:
    """The 16 hex digits that mark every envelope of one plan.

    Derived from the plan's digest, so the bytes of a prompt stay the same as long as the plan
    does; separated by domain, so that it tells nothing about other uses of the digest.
    """
    return hashlib.sha256(_DOMAIN + plan_digest.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def encoded(text: str) -> str:
    """`text` with `<`, `>` and `&` encoded: no delimiter survives in any case or spacing."""
    return text.translate(_ENCODING)


def opening(token: str, source: str) -> str:
    """The line before a payload. ValueError for a token or a source id outside its alphabet."""
    return f"<EXTERNAL_UNTRUSTED id={_checked(token)} source={_source(source)}>"


def closing(token: str) -> str:
    """The line after a payload. ValueError for a token outside its alphabet."""
    return f"</EXTERNAL_UNTRUSTED id={_checked(token)}>"


def enveloped(text: str, *, token: str, source: str) -> str:
    """`text`, cleaned and encoded, between two delimiters that stand on lines of their own.

    `source` is the server's or device's id. ValueError for a token or a source id outside its
    alphabet: those are ours to check at discovery, never to repair here.
    """
    return f"{opening(token, source)}\n{encoded(clean(text))}\n{closing(token)}"


def _checked(token: str) -> str:
    if _TOKEN.fullmatch(token) is None:
        raise ValueError("the boundary token is not 16 hexadecimal digits")
    return token


def _source(source: str) -> str:
    if not is_server_id(source):
        raise ValueError("the source id has a character that no id can have")
    return source
