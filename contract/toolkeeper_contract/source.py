"""What must a source of tools be able to do?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from toolkeeper_contract.classification import Flag, SideEffect
from toolkeeper_contract.draft import drafted
from toolkeeper_contract.tool import RefusedTool, SourceKind, SourceStatus, ToolDefinition


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the author of a tool of ours says about it; None leaves the worst case.

    `operands` are JSON pointers of arguments that name files, whose content an approval covers too.
    `serial`: its calls must not overlap.
    """

    side_effect: SideEffect | None = None
    flags: frozenset[Flag] = frozenset()
    scopes: tuple[str, ...] = ()
    deferred: bool = False
    operands: tuple[str, ...] = ()
    serial: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool that passed discovery, with its author's declaration where it is ours."""

    definition: ToolDefinition
    declaration: Declaration | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source offers now: `tools` ordered by raw name (configured order for functions)."""

    tools: tuple[Listed, ...]
    refused: tuple[RefusedTool, ...]
    status: SourceStatus


@drafted
@dataclass(frozen=True, slots=True)
class Text:
    """A part of a result that reads as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Blob:
    """A part of a result that does not read as text; `mime_type` as the source said it."""

    data: bytes
    mime_type: str


@drafted
@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back; `is_error` is the tool's own word and stays a result."""

    parts: tuple[Text | Blob, ...]
    structured: Any = None
    is_error: bool = False


class NotDispatched(Exception):
    """The call never left: the source cannot be reached. Ends as `tool.unavailable`."""


class LostAfterDispatch(Exception):
    """The call left and its answer did not come back. A write's outcome is unknown."""


class NotAResult(Exception):
    """The tool ran, and what it gave back is no result. Ends as `tool.failed.result_invalid`."""


class ToolSource(Protocol):
    """A source of tools: a process, a remote server, or functions of this program.

    `call` raises NotDispatched or LostAfterDispatch for the transport's failures, NotAResult for
    what cannot be told, any other exception when the tool itself raised. It runs in a task of its
    own, which is cancelled when the call's time is over, and not waited for.
    """

    @property
    def kind(self) -> SourceKind: ...

    @property
    def name(self) -> str: ...

    async def listing(self) -> Listing: ...

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult: ...

    async def close(self) -> None: ...
