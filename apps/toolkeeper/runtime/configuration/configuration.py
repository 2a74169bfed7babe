"""What has the operator configured?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolkeeper.runtime.configuration.agent import Agent
from toolkeeper.runtime.configuration.notification import Telemetry, Webhook
from toolkeeper.runtime.configuration.server import Server
from toolkeeper.runtime.redaction import ToolSecrets
from toolkeeper_contract import Principal
from toolkeeper_policy import ClassificationRule

ANYBODY = "*"
"""The entry of `users` for everybody who has none of their own."""


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Bounds that a tool's schema has to keep at discovery."""

    schema_bytes: int = 524_288
    schema_depth: int = 100
    schema_nodes: int = 20_000


@dataclass(frozen=True, slots=True)
class Redaction:
    """The operator's own words and patterns (RE2 syntax), besides the built-in ones.

    `tools` say where secrets stand in the arguments and results of single tools.
    """

    keys: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    tools: tuple[ToolSecrets, ...] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """One checked configuration; every path in it is absolute.

    `file` is the main file as it was named, `folder` the absolute folder that functions are
    imported from first. `store` is a database URL. `policies` are policy documents in order,
    `packs` the shipped ones that are named beside them.
    `functions` are `module:name`. `users` maps a user to their scopes. `approver_secrets` maps an
    approver to the hash of their secret. `notifications` are told of events, `telemetry` (None:
    nobody) of what is measured. `schema_limits` hold for every source. `secrets` are the
    credentials that servers are given, to be masked wherever they come back.
    """

    file: str
    folder: Path
    store: str = field(repr=False)
    agents: Mapping[str, Agent]
    policies: tuple[Path, ...] = ()
    packs: tuple[str, ...] = ()
    servers: Mapping[str, Server] = field(default_factory=dict)
    functions: tuple[str, ...] = ()
    classification: tuple[ClassificationRule, ...] = ()
    toolsets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overlays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    users: Mapping[str, frozenset[str]] = field(default_factory=dict)
    approver_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    notifications: tuple[Webhook, ...] = ()
    telemetry: Telemetry | None = None
    redaction: Redaction = Redaction()
    schema_limits: SchemaLimits = SchemaLimits()
    version: int = 1

    def principal(self, user: str) -> Principal:
        """The user with their scopes: their own entry, else that of `*`, else none."""
        scopes = self.users.get(user, self.users.get(ANYBODY, frozenset()))
        return Principal(user, scopes)
