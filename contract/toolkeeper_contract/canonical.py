"""What are the canonical bytes of a JSON value, and what is its digest?

Canonical form: UTF-8, keys sorted by code point, no spaces. Nothing is normalised: `1` and `1.0`
differ, and so do two spellings of one accented letter.
"""

import hashlib
import json
import re
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


def canonical_bytes(value: Json) -> bytes:
    """The canonical UTF-8 bytes of `value`.

    Raises TypeError or ValueError for what JSON cannot carry (a lone surrogate, a foreign type).
    Non-finite floats are the caller's to refuse beforehand (`receive` does).
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # orjson stops at 64-bit integers and 254 levels; the standard library goes further and
        # sorts the same way.
        text = json.dumps(
            value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        return text.encode("utf-8")


_LONG_NUMBER = re.compile(rb"[0-9]{19}")
"""What may be an integer of more than 64 bits, which orjson would read as a float."""


def canonical_value(data: bytes) -> Json:
    """A value of its own that has these canonical bytes."""
    if _LONG_NUMBER.search(data) is None:
        try:
            return orjson.loads(data)
        except ValueError:
            pass  # deeper than orjson goes
    return json.loads(data)


def canonical_text(value: Json) -> str:
    """The canonical form as text."""
    return canonical_bytes(value).decode("utf-8")


def digest_bytes(data: bytes) -> str:
    """SHA-256 of `data`, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Json) -> str:
    """SHA-256 of the canonical bytes of `value`, 64 hex digits."""
    return digest_bytes(canonical_bytes(value))
