"""How does PostgreSQL keep text that has a NUL in it?

It cannot, and people do paste them. So a NUL is written as a mark and a zero, and the mark itself,
a code point that Unicode leaves free for such uses, as the mark and a one. Both are undone when the
text is read, and other text is written as it is. A lone surrogate is in no text: it is refused.
"""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg import Connection, RawCursor
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader

_MARK = "\ufdd0"
_MARK_BYTES = _MARK.encode()
# By the numbers that types have in every PostgreSQL: bool, bytea, and integers of three sizes.
_READ: dict[int, Callable[[bytes], Any]] = {
    16: lambda data: data == b"t",
    17: lambda data: bytes.fromhex(data[2:].decode()),
    20: int,
    21: int,
    23: int,
}
_TYPES = ("text", "varchar", "bpchar")


def escaped(text: str) -> str:
    return text.replace(_MARK, f"{_MARK}1").replace("\0", f"{_MARK}0")


def unescaped(text: str) -> str:
    return text.replace(f"{_MARK}0", "\0").replace(f"{_MARK}1", _MARK)


def in_bytes(values: Sequence[Any]) -> list[bytes | None]:
    """Texts, numbers, truth values, bytes and None as texts that the server reads.

    UnicodeEncodeError for a text that cannot be kept.
    """
    sent = [
        value.encode()
        if type(value) is str
        else None
        if value is None
        else b"%d" % value
        if type(value) is int
        else _in_words(value)
        for value in values
    ]
    # One look at all of them, for hardly any has to be escaped.
    whole = b"".join(filter(None, sent))
    if b"\0" in whole or (_MARK_BYTES[:1] in whole and _MARK_BYTES in whole):
        return [value and escaped(value.decode()).encode() for value in sent]
    return sent


def _in_words(value: bool | bytes | str) -> bytes:
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, str):
        return value.encode()  # a kind of text of its own, as the members of an enum are
    return b"\\x" + value.hex().encode()


def reader(kind: int) -> Callable[[bytes], Any]:
    """Reads what the server writes as text: a value of the type of this number."""
    return _READ.get(kind, _read_text)


def _read_text(data: bytes) -> str:
    text = data.decode()
    return unescaped(text) if _MARK in text else text


class _TextDumper(Dumper):
    def dump(self, obj: str) -> Buffer:
        data = obj.encode()
        if b"\0" in data or _MARK_BYTES in data:
            return escaped(obj).encode()
        return data


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        text = str(data, "utf-8")
        return unescaped(text) if _MARK in text else text


def keep_any_text(connection: Connection[Any]) -> None:
    """From now on this connection writes and reads texts with NULs."""
    connection.adapters.register_dumper(str, _TextDumper)
    for name in _TYPES:
        connection.adapters.register_loader(name, _TextLoader)


class _Sent(Dumper):
    def dump(self, obj: bytes) -> Buffer:
        return obj


_AS_THEY_ARE = AdaptersMap(psycopg.adapters)
_AS_THEY_ARE.register_dumper(bytes, _Sent)


class BytesCursor(RawCursor[Any]):
    """Takes what `in_bytes` gives; the server finds out the types."""

    @property
    def adapters(self) -> AdaptersMap:
        return _AS_THEY_ARE
