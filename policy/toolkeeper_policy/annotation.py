"""What do a server's own hints say about a tool, if they are believed?

Only literal booleans count: `"false"` is a string and says nothing. What is not said takes the
protocol's default: not read-only, destructive, open world.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Classification, Flag, SideEffect

WORST_CASE = Classification(
    SideEffect.NETWORK_WRITE, frozenset({Flag.DESTRUCTIVE, Flag.OPEN_WORLD}), "worst_case"
)
"""What is assumed of a tool that nobody trusted has described."""


@dataclass(frozen=True, slots=True)
class Hints:
    """The four hints as literal booleans; None where the server did not say."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    @classmethod
    def of(cls, annotations: Mapping[str, Any] | None) -> "Hints":
        """The hints among a definition's annotations, in MCP's spelling."""
        if not annotations:
            return cls()
        return cls(
            read_only=_literal(annotations, "readOnlyHint"),
            destructive=_literal(annotations, "destructiveHint"),
            idempotent=_literal(annotations, "idempotentHint"),
            open_world=_literal(annotations, "openWorldHint"),
        )

    @property
    def silent(self) -> bool:
        """Whether nothing was said at all."""
        return self == _SILENT

    def classification(self) -> Classification:
        """The class that believed hints give."""
        if self.silent:
            return WORST_CASE
        closed = self.open_world is False
        conflict = self.read_only is True and self.destructive is True
        reads = self.read_only is True and not conflict
        if reads:
            side_effect = SideEffect.WORKSPACE_READ if closed else SideEffect.NETWORK_READ
        else:
            side_effect = SideEffect.WORKSPACE_WRITE if closed else SideEffect.NETWORK_WRITE
        flags: set[Flag] = set()
        if not closed:
            flags.add(Flag.OPEN_WORLD)
        if not reads and self.destructive is not False:
            flags.add(Flag.DESTRUCTIVE)
        # Hints that contradict each other are not believed where they would relax something.
        if self.idempotent is True and not conflict:
            flags.add(Flag.IDEMPOTENT)
        source = "annotation_conflict" if conflict else "annotations"
        return Classification(side_effect, frozenset(flags), source)


_SILENT = Hints()


def _literal(annotations: Mapping[str, Any], key: str) -> bool | None:
    value = annotations.get(key)
    return value if isinstance(value, bool) else None
