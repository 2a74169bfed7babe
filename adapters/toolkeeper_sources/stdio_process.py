"""How is a server's process started, spoken to line by line, and ended for certain?"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from toolkeeper_sources.tail import Tail
from toolkeeper_sources.unreadable import EDGE

GRACE = 2.0
"""Seconds that a process gets after its input was closed, and again after it was asked to end."""

HURRY = 0.2
"""The same for a process that nothing more is expected of."""

MAX_LINE = 32 * 1024 * 1024
"""Bytes of the longest line that is taken in."""

MAX_SKIPPED = 16 * MAX_LINE
"""Bytes of the longest line that is read over; a server that goes on beyond is cut off."""

_CHUNK = 64 * 1024
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was not taken in: the bytes at its beginning and at its end."""

    head: bytes
    tail: bytes


class CannotStart(Exception):
    """The process could not be started; the message is a reason fit for a source's status."""


class StdioProcess:
    """A child process with lines on its input and output, in a process group of its own.

    Its error output is read all the time, so that the child never blocks on it, and kept as a tail.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._buffer = bytearray()
        self.stderr = Tail()
        self._stderr_reader = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(
        cls, command: str, args: Sequence[str], env: Mapping[str, str], cwd: Path | None
    ) -> "StdioProcess":
        """Starts the command; raises CannotStart."""
        if cwd is not None and not cwd.is_dir():
            raise CannotStart("its working folder is not there")
        path = _executable(command, env, cwd)
        if path is None:
            raise CannotStart(f"the command `{command}` was not found")
        try:
            process = await asyncio.create_subprocess_exec(
                path,
                *args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(env),
                cwd=cwd,
                # Its own group: Ctrl-C at our terminal is not for it, and it ends as a whole.
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError):
            raise CannotStart(f"the command `{command}` could not be started") from None
        return cls(process)

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def write(self, line: bytes) -> None:
        """Hands over one line, whole; raises OSError when the process no longer reads."""
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing() or self._process.returncode is not None:
            raise BrokenPipeError
        stdin.write(line + b"\n")
        await stdin.drain()

    async def line(self) -> bytes | TooLong | None:
        """The next line of output without its end; None when there will be no more.

        A line that is too long is read over; what is at its ends comes in its place.
        """
        stdout = self._process.stdout
        if stdout is None:
            return None
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > MAX_LINE:
                return await self._skipped()
            chunk = await stdout.read(_CHUNK)
            if not chunk:
                return None
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    async def _skipped(self) -> TooLong | None:
        stdout = self._process.stdout
        head = bytes(self._buffer[:EDGE])
        skipped = len(self._buffer)
        del self._buffer[:-EDGE]
        while (end := self._buffer.find(b"\n")) < 0:
            del self._buffer[:-EDGE]
            chunk = await stdout.read(_CHUNK) if stdout is not None else b""
            skipped += len(chunk)
            if not chunk or skipped > MAX_SKIPPED:
                return None
            self._buffer += chunk
        tail = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return TooLong(head, tail)

    async def end(self, *, hurry: bool = False) -> None:
        """Closes the input, waits, asks, kills. Leaves neither process nor open pipe behind.

        In a hurry (the process never spoke, or its time is over) it is asked at once. Nobody may
        be reading lines any more.
        """
        # A child that still wants to print must not block on a full pipe instead of ending.
        drain = asyncio.create_task(self._drain())
        stdin = self._process.stdin
        if stdin is not None:
            with suppress(OSError):
                stdin.close()
        if not await self._exits(HURRY if hurry else GRACE):
            self._signal(signal.SIGTERM)
            await self._exits(HURRY if hurry else GRACE)
        # Also after a clean end: children of the child may have stayed behind in its group.
        self._signal(_KILL)
        await self._exits(GRACE)
        drain.cancel()
        self._stderr_reader.cancel()
        await asyncio.wait([drain, self._stderr_reader])
        # Nothing public closes the pipes while a grandchild holds their other ends.
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            with suppress(OSError):
                transport.close()
        # One turn of the loop, in which the closed pipes report it.
        await asyncio.sleep(0)

    async def exited(self, within: float) -> int | None:
        """The exit status, if the process ends in time."""
        await self._exits(within)
        return self._process.returncode

    async def _exits(self, within: float) -> bool:
        # Not Process.wait(), which on 3.11 also waits for pipes that a grandchild may hold open.
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        pause = 0.001
        while self._process.returncode is None:
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.05)
        return True

    async def _drain(self) -> None:
        stdout = self._process.stdout
        while stdout is not None and await stdout.read(_CHUNK):
            pass

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.killpg(self._process.pid, number)

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        while stream is not None and (chunk := await stream.read(_CHUNK)):
            self.stderr.add(chunk)


def _executable(command: str, env: Mapping[str, str], cwd: Path | None) -> str | None:
    if os.sep in command or (os.altsep is not None and os.altsep in command):
        path = Path(cwd or Path.cwd(), command)
        return str(path) if path.is_file() and os.access(path, os.X_OK) else None
    # Servers installed beside us are found without an activated environment.
    beside = str(Path(sys.executable).parent)
    return shutil.which(command, path=os.pathsep.join([env.get("PATH", os.defpath), beside]))
