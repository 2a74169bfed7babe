"""Which tools stand in a saved listing?"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolkeeper_contract import (
    ConfigError,
    Listing,
    NotDispatched,
    SourceKind,
    SourceState,
    SourceStatus,
    ToolResult,
    did_you_mean,
)
from toolkeeper_sources.definition import DEFAULT_LIMITS
from toolkeeper_sources.limits import SchemaLimits
from toolkeeper_sources.published import sorted_out

MAX_SIZE = 64 * 1024 * 1024
"""Bytes of the largest file that is read."""

_SHAPES = (
    "it must be a `tools/list` result, a list of tools, or what `toolkeeper tools --json` gave"
)
_TWICE = "the file lists two tools of this name"


class CatalogSource:
    """A saved `tools/list`, for planning without the server. A ToolSource whose calls never leave.

    The file is a `tools/list` result, a list of tool objects in camel or snake case, or the output
    of `toolkeeper tools --json`. With `server`, only entries whose `server` is that are taken.
    Raises ConfigError that names the file, and the line where it is not JSON.
    """

    kind = SourceKind.MCP

    def __init__(
        self,
        name: str,
        path: Path,
        server: str | None = None,
        *,
        limits: SchemaLimits = DEFAULT_LIMITS,
    ) -> None:
        self.name = name
        entries = _entries(path)
        servers = {text for entry in entries if isinstance(text := _server(entry), str)}
        twice = _TWICE
        if server is not None:
            if server not in servers:
                raise ConfigError(
                    f"no tool in the file is of the server `{server}`",
                    did_you_mean(server, servers)
                    or "leave `server` out to take every tool of the file",
                    file=str(path),
                )
            entries = [entry for entry in entries if _server(entry) == server]
        elif len(servers) > 1:
            twice = f"{_TWICE}, of different servers; take one with `server: NAME`"
        tools, refused = sorted_out(name, entries, twice=twice, limits=limits)
        self._listing = Listing(tools, refused, SourceStatus(name, SourceState.OK))

    async def listing(self) -> Listing:
        return self._listing

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Always raises NotDispatched."""
        raise NotDispatched("a saved listing can be planned with, not called")

    async def close(self) -> None:
        """Nothing to close."""


def _server(entry: Any) -> Any:
    return entry.get("server") if isinstance(entry, Mapping) else None


def _entries(path: Path) -> list[Any]:
    value = _parsed(_text(path), path)
    if isinstance(value, Mapping) and isinstance(value.get("result"), Mapping):
        value = value["result"]  # a whole response, as a client's log has it
    if isinstance(value, Mapping):
        value = value.get("tools")
    if not isinstance(value, list):
        raise ConfigError("the file holds no list of tools", _SHAPES, file=str(path))
    return value


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_SIZE:
            raise ConfigError(f"the file is larger than {MAX_SIZE:,} bytes", file=str(path))
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            "the catalog file is not there",
            "its path is relative to the configuration file",
            file=str(path),
        ) from None
    except OSError:
        raise ConfigError("the catalog file cannot be read", file=str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("the catalog file is not utf-8 text", file=str(path)) from None


def _parsed(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = _json_lines(text)
        if lines is not None:
            return lines
        raise ConfigError(
            "the catalog file is not valid json", _SHAPES, file=str(path), line=error.lineno
        ) from None
    except (RecursionError, ValueError):
        raise ConfigError(
            "the catalog file is nested too deep, or holds a number that is too long",
            file=str(path),
        ) from None


def _json_lines(text: str) -> list[Any] | None:
    """The objects of a JSON Lines file; None when it is not one."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return None
    try:
        rows = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    return rows if all(isinstance(row, dict) for row in rows) else None
