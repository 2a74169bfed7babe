"""What is a tool: its identity, its published definition, and its governance data?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from toolkeeper_contract.canonical import digest
from toolkeeper_contract.classification import Classification


class SourceKind(StrEnum):
    """Where tools come from."""

    FUNCTION = "function"
    MCP = "mcp"
    DEVICE = "device"
    CONTROL = "control"


@dataclass(frozen=True, slots=True, order=True)
class ToolIdentity:
    """`(source kind, source id, raw name)`, as data, never split from a joined string."""

    kind: SourceKind
    source: str
    raw_name: str

    @property
    def canonical_name(self) -> str:
        """`schedule.update` for one of ours, `mcp.<server>.<tool>` for a discovered one."""
        if self.kind in (SourceKind.FUNCTION, SourceKind.CONTROL):
            return self.raw_name
        return f"{self.kind.value}.{self.source}.{self.raw_name}"

    @classmethod
    def of_name(cls, canonical_name: str) -> "ToolIdentity":
        """The identity behind a canonical name that is known to be one (a pin's, say).

        It can be read back, because a server's id has no dots and no tool of ours may start like a
        discovered one. Nothing is decided by it.
        """
        kind, _, rest = canonical_name.partition(".")
        source, dot, raw_name = rest.partition(".")
        if kind in (SourceKind.MCP, SourceKind.DEVICE) and source and dot and raw_name:
            return cls(SourceKind(kind), source, raw_name)
        return cls(SourceKind.FUNCTION, "functions", canonical_name)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a source published about a tool; the fingerprint covers exactly this.

    `input_schema` and `output_schema` are JSON Schemas (2020-12 unless `$schema` says otherwise).
    `annotations` are the source's own hints, in MCP's spelling (`readOnlyHint`).
    """

    name: str
    title: str | None
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None

    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON of all six fields."""
        return digest(
            {
                "name": self.name,
                "title": self.title,
                "description": self.description,
                "inputSchema": self.input_schema,
                "outputSchema": self.output_schema,
                "annotations": self.annotations,
            }
        )


class ClassesByArguments(Protocol):
    """What a tool's calls do to the world where that hangs on their arguments; pure."""

    def of(self, arguments: Mapping[str, Any]) -> Classification:
        """The class of a call with these arguments."""
        ...

    @property
    def possible(self) -> Sequence[Classification]:
        """The classes that its calls can have, the one without arguments first."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the registry; everything about it that discovery can prepare is prepared here.

    `name` is the canonical name. `foreign` says that its text is somebody else's words (every
    discovered tool), so it is enveloped wherever it is shown. `scopes` must all be held by the
    principal. `deferred` is the tool's own wish to be deferred. `callable` is false for a saved
    listing, which can be planned but not called. `classification` is the dearest that a call can
    have; `by_arguments` knows cheaper ones, None where arguments make no difference. Calls of tools
    with the same `lane` never overlap in one process; None for no such promise.
    """

    identity: ToolIdentity
    name: str
    definition: ToolDefinition
    fingerprint: str
    classification: Classification
    foreign: bool
    scopes: tuple[str, ...] = ()
    deferred: bool = False
    callable: bool = True
    by_arguments: ClassesByArguments | None = None
    lane: str | None = None

    def class_of(self, arguments: Mapping[str, Any]) -> Classification:
        """The class of a call with these arguments."""
        if self.by_arguments is None:
            return self.classification
        return self.by_arguments.of(arguments)

    @classmethod
    def of(
        cls,
        identity: ToolIdentity,
        definition: ToolDefinition,
        classification: Classification,
        *,
        scopes: tuple[str, ...] = (),
        deferred: bool = False,
        callable: bool = True,
        lane: str | None = None,
    ) -> "Tool":
        """A tool with its name, fingerprint and foreignness worked out from its identity."""
        return cls(
            identity=identity,
            name=identity.canonical_name,
            definition=definition,
            fingerprint=definition.fingerprint(),
            classification=classification,
            foreign=identity.kind in (SourceKind.MCP, SourceKind.DEVICE),
            scopes=scopes,
            deferred=deferred,
            callable=callable,
            lane=lane,
        )


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool that discovery turned away; `name` is the raw name as published, never cleaned."""

    source: str
    name: str
    reason: str


class SourceState(StrEnum):
    """How a source's last listing went."""

    OK = "ok"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """`reason` is one lower-case sentence without secrets; for `ok` it is a warning, or None."""

    name: str
    state: SourceState
    reason: str | None = None
