"""What do the arguments of a call name that is not in them, and does an approval cover it?"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolkeeper.runtime.configuration import Command, Configuration
from toolkeeper_contract import Approval, SourceKind, ToolIdentity

_WORDS = frozenset(
    {"path", "paths", "file", "files", "filename", "filenames", "filepath", "folder", "directory",
     "dir", "script", "notebook", "command", "cmd"}
)  # fmt: skip
_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


def folder_of(configuration: Configuration, identity: ToolIdentity) -> Path:
    """Where relative paths of a tool's arguments start: in its process's folder."""
    if identity.kind is SourceKind.MCP:
        server = configuration.servers.get(identity.source)
        if server is not None and isinstance(server.transport, Command):
            return server.transport.cwd
    return Path.cwd()


def uncovered(approval: Approval) -> tuple[str, ...]:
    """JSON pointers of arguments that seem to name files whose content is not covered.

    By the names of the arguments; a tool that declares its operands leaves none in doubt.
    """
    if approval.operands or not isinstance(approval.arguments, Mapping):
        return ()
    return tuple(_naming(approval.arguments))


def _naming(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        words = {word.lower() for word in _SPLIT.split(name)}
        texts = value if isinstance(value, list) else [value]
        if words & _WORDS and any(isinstance(each, str) and each for each in texts):
            yield "/" + name.replace("~", "~0").replace("/", "~1")
