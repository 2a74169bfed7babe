"""How does PostgreSQL keep text that has a NUL in it?

It cannot, and people do paste them. So a NUL is written as a mark and a zero, and the mark itself,
a code point that Unicode leaves free for such uses, as the mark and a one. Both are undone when the
text is read, and other text is written as it is. A lone surrogate is in no text: it is refused.
"""

from typing import Any

from psycopg import Connection
from psycopg.adapt import Buffer, Dumper, Loader

_MARK = "\ufdd0"
_MARK_BYTES = _MARK.encode()
_TYPES = ("text", "varchar", "bpchar")


def escaped(text: str) -> str:
    return text.replace(_MARK, f"{_MARK}1").replace("\0", f"{_MARK}0")


def unescaped(text: str) -> str:
    return text.replace(f"{_MARK}0", "\0").replace(f"{_MARK}1", _MARK)


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
