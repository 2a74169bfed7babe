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
from psycopg.types.string import StrDumperUnknown

_MARK = "\ufdd0"
_MARK_BYTES = _MARK.encode()
_WORDS = {True: b"t", False: b"f"}
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


def escaped_all(values: Sequence[Any]) -> Sequence[Any]:
    """The values with their texts escaped; one look at all of them, for hardly any has to be."""
    whole = "".join([value for value in values if type(value) is str])
    if "\0" not in whole and _MARK not in whole:
        return values
    return [escaped(value) if isinstance(value, str) else value for value in values]


def in_bytes(values: Sequence[Any]) -> list[bytes | None]:
    """Texts, truth values, bytes and None as the server reads them. UnicodeEncodeError for a text
    that cannot be kept."""
    return [
        value.encode()
        if type(value) is str
        else None
        if value is None
        else _WORDS[value]
        if type(value) is bool
        else b"\\x" + value.hex().encode()
        for value in escaped_all(values)
    ]


def from_bytes(data: bytes | None, kind: int) -> Any:
    """A text, number or truth value as the server writes it; `kind` is the type's number."""
    if data is None:
        return None
    read = _READ.get(kind)
    if read is not None:
        return read(data)
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


_AS_THEY_ARE = AdaptersMap(psycopg.adapters)
_AS_THEY_ARE.register_dumper(str, StrDumperUnknown)


class EscapedCursor(RawCursor[Any]):
    """Takes texts that are escaped already: the driver's own code writes them, four times as fast
    as ours would, which is felt where a statement has eighty."""

    @property
    def adapters(self) -> AdaptersMap:
        return _AS_THEY_ARE
