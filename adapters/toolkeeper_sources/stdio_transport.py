"""How do the SDK's messages travel over a process's input and output?"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from toolkeeper_sources.message_tap import MessageTap
from toolkeeper_sources.stdio_process import HURRY, StdioProcess, TooLong
from toolkeeper_sources.unreadable import answered, unreadable

MAX_JUNK = 1000
"""Lines that are no messages, after which a server is given up."""


class StdioTransport:
    """A started process as a transport of the SDK's client; leaving it ends the process.

    `junk` counts the lines on its output that were no messages; they are skipped, as clients
    everywhere do. `closed` is set once nothing can arrive any more; `exit_status` is that of a
    process that ended by itself.
    """

    def __init__(self, process: StdioProcess, tap: MessageTap) -> None:
        self.process = process
        self.junk = 0
        self.closed = False
        self.exit_status: int | None = None
        self._tap = tap

    async def __aenter__(
        self,
    ) -> tuple[MemoryObjectReceiveStream[SessionMessage | Exception], "_Writer"]:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._receive = receive
        self._reader = asyncio.create_task(self._read(send))
        return receive, _Writer(self.process, self._tap, lambda: self.closed)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Shielded, or a cancelled caller would leak a live process.
        with anyio.CancelScope(shield=True):
            if self.closed:
                self.exit_status = await self.process.exited(HURRY)
            self._reader.cancel()
            await asyncio.wait([self._reader])
            self._receive.close()
            await self.process.end(hurry=exc is not None)

    async def _read(self, send: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with send:
            # The session may be gone, or the pipe: either way nothing more arrives.
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                while self.junk <= MAX_JUNK and (line := await self.process.line()) is not None:
                    await self._deliver(line, send)
            # INVARIANT: set before the stream closes, so that whoever is woken by that sees it.
            self.closed = True

    def ending(self) -> str | None:
        """How it ended by itself, as a reason fit for a source's status; None when it did not."""
        if self.junk > MAX_JUNK:
            return f"the server printed more than {MAX_JUNK:,} lines that are no messages"
        junk = ""
        if self.junk:
            junk = (
                f", after {self.junk} {'line' if self.junk == 1 else 'lines'} that are no message"
            )
        if self.exit_status is not None:
            return f"the server ended with exit status {self.exit_status}{junk}"
        return f"the server closed its output{junk}" if self.closed else None

    async def _deliver(
        self, line: bytes | TooLong, send: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        if isinstance(line, TooLong):
            head, tail, message = line.head, line.tail, None
        else:
            head = tail = line
            if not line.strip():
                return
            message = _message(line)
        if message is None:
            asked = answered(head, tail)
            if isinstance(line, bytes):
                message = _unreadable_answer(line)
            if message is None and asked is not None and self._tap.in_flight(asked):
                message = unreadable(asked)
            else:
                # Not passed on as an error: the SDK would log the line, and it may hold anything.
                self.junk += 1
            if message is None:
                return
        if isinstance(message, JSONRPCResponse):
            self._tap.received(message, len(head))
        await send.send(SessionMessage(message))


def _message(line: bytes) -> JSONRPCMessage | None:
    """The message in a line. Characters that UTF-8 cannot carry are replaced: a result with half an
    emoji in it must not look like an answer that never came.
    """
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValueError, RecursionError):
        return None


def _unreadable_answer(line: bytes) -> JSONRPCError | None:
    """A line that is no message, but says which request it means to answer: that one has failed.

    Otherwise nothing would ever come for it.
    """
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "method" in value or not value.keys() & {"result", "error"}:
        return None
    id = value.get("id")
    if isinstance(id, bool) or not isinstance(id, int | str):
        return None
    error = ErrorData(code=PARSE_ERROR, message="the answer could not be read")
    return JSONRPCError(jsonrpc="2.0", id=id, error=error)


class _Writer:
    """The sending half: each message one line, written at once so that none is cut in two."""

    def __init__(self, process: StdioProcess, tap: MessageTap, closed: Callable[[], bool]) -> None:
        self._process = process
        self._tap = tap
        self._closed = closed

    async def send(self, item: SessionMessage, /) -> None:
        if self._closed() or self._process.returncode is not None:
            raise anyio.BrokenResourceError
        data = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        if isinstance(item.message, JSONRPCRequest):
            self._tap.sent(item.message)
        try:
            await self._process.write(data.encode("utf-8"))
        except OSError:
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        """The process's input is closed when it is ended."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
