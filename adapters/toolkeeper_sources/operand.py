"""What does a file that an argument names hold at this moment?

As a digest, so that a later look tells whether it is still the same. A file that is not there has
a digest of its own, and so has everything else that a path can name.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolkeeper_contract import digest

WHOLE = 64 * 1024 * 1024
"""Bytes up to which a file is read whole."""

EDGE = 1024 * 1024
"""Of a bigger file: bytes at its beginning and at its end, besides its size and its time."""

_CHUNK = 1024 * 1024
_ENTRIES = 10_000


async def operand_digests(
    pointers: Sequence[str], arguments: Mapping[str, Any], folder: Path
) -> dict[str, str]:
    """A digest for every pointer; files are read in a thread. Relative paths start in `folder`.

    `absent` where there is no such argument. Several values at one pointer (`/files/*`, or a list)
    have one digest together. What is bigger than `WHOLE` starts with `part:`, a folder, of which
    the names, sizes and times of what is in it count, with `folder:`.
    """
    return await asyncio.to_thread(_all, pointers, arguments, folder)


def _all(pointers: Sequence[str], arguments: Mapping[str, Any], folder: Path) -> dict[str, str]:
    return {pointer: _of(list(_values(arguments, pointer)), folder) for pointer in pointers}


def _values(value: Any, pointer: str) -> Iterator[Any]:
    """The values at a pointer; `*` stands for any key or index."""
    found = [value]
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        found = [each for item in found for each in _below(item, key)]
    for item in found:
        yield from item if isinstance(item, list) else (item,)


def _below(item: Any, key: str) -> Iterator[Any]:
    if isinstance(item, Mapping):
        if key == "*":
            yield from item.values()
        elif key in item:
            yield item[key]
    elif isinstance(item, list):
        if key == "*":
            yield from item
        elif key.isascii() and key.isdigit() and int(key) < len(item):
            yield item[int(key)]


def _of(values: Sequence[Any], folder: Path) -> str:
    if not values:
        return "absent"
    digests = [
        file_digest(folder / value) if isinstance(value, str) else "no path" for value in values
    ]
    return digests[0] if len(digests) == 1 else f"list:{digest(digests)}"


def file_digest(path: Path) -> str:
    """A digest of what stands at `path`, links followed; nothing is raised, and nothing waits."""
    try:
        # A pipe must not hold us up, and nothing but a file is read.
        handle = os.open(path.expanduser(), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return "missing"
    except IsADirectoryError:
        return _folder_digest(path)
    except (OSError, ValueError, RuntimeError):
        return "unreadable"
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            return _folder_digest(path)
        if not stat.S_ISREG(status.st_mode):
            return "no file"
        if status.st_size > WHOLE:
            return f"part:{_edges(handle, status)}"
        return f"sha256:{_whole(handle)}"
    except OSError:
        return "unreadable"
    finally:
        os.close(handle)


def _whole(handle: int) -> str:
    read, size = hashlib.sha256(), 0
    while chunk := os.read(handle, _CHUNK):
        read.update(chunk)
        size += len(chunk)
        if size > WHOLE:
            # It grows as we read, so there is no moment of which this would be the content.
            raise OSError
    return read.hexdigest()


def _edges(handle: int, status: os.stat_result) -> str:
    read = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns} ".encode())
    for start in (0, status.st_size - EDGE):
        os.lseek(handle, start, os.SEEK_SET)
        read.update(os.read(handle, EDGE))
    return read.hexdigest()


def _folder_digest(path: Path) -> str:
    """The names, kinds, sizes and times of what is directly in a folder."""
    listed = []
    try:
        with os.scandir(path.expanduser()) as entries:
            for count, entry in enumerate(entries):
                if count == _ENTRIES:
                    return "too many entries"
                status = entry.stat(follow_symlinks=False)
                listed.append([os.fsencode(entry.name).hex(), status.st_mode, status.st_size,
                               status.st_mtime_ns])  # fmt: skip
    except OSError:
        return "unreadable"
    return f"folder:{digest(sorted(listed))}"
