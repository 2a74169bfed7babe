"""Which tools does an MCP server that we start as a process offer?"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolkeeper_sources.connection import Connection, ConnectionFailed
from toolkeeper_sources.environment import child_environment
from toolkeeper_sources.limits import ListingLimits
from toolkeeper_sources.message_tap import MessageTap
from toolkeeper_sources.server_source import ServerSource
from toolkeeper_sources.stdio_process import CannotStart, StdioProcess
from toolkeeper_sources.stdio_transport import StdioTransport

DEFAULT_LIMITS = ListingLimits()


class McpSource(ServerSource):
    """An MCP server over stdio.

    `name` is the server's id. `env` is added to the few variables that every child inherits; `cwd`
    is the process's folder, to which a `command` with a slash is relative. `timeout` in seconds
    bounds connecting and listing (calls are bounded by whoever makes them). `mode` is the
    protocol's era: `auto`, `legacy` (handshake), or a version of the newer one.
    Raises ConfigError for a variable that no tool's process may have.
    """

    def __init__(
        self,
        name: str,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 30.0,
        mode: str = "auto",
        limits: ListingLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(name, timeout=timeout, limits=limits)
        self._command = command
        self._args = tuple(args)
        self._env = child_environment(env or {})
        self._cwd = cwd
        self._mode = mode
        self._transport: StdioTransport | None = None

    @property
    def stderr_tail(self) -> str:
        """The last few kilobytes of the process's error output, neither redacted nor cleaned."""
        return self._transport.process.stderr.text() if self._transport is not None else ""

    async def _connect(self) -> Connection:
        try:
            process = await StdioProcess.start(self._command, self._args, self._env, self._cwd)
        except CannotStart as failure:
            raise ConnectionFailed(str(failure)) from None
        tap = MessageTap()
        transport = StdioTransport(process, tap)
        self._transport = transport
        connection = Connection(transport, tap, self._mode, lambda: transport.closed)
        try:
            await connection.open()
        except ConnectionFailed as failure:
            ending = transport.ending()
            raise ConnectionFailed(ending or str(failure)) from None
        return connection

    def _remark(self) -> str | None:
        junk = self._transport.junk if self._transport is not None else 0
        if not junk:
            return None
        lines = "a line that is no message" if junk == 1 else f"{junk} lines that are no messages"
        return f"the server printed {lines} on its standard output; skipped"
