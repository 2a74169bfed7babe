"""Which source does a canonical name belong to, and could that source be listed?"""

from dataclasses import dataclass

from toolkeeper_contract import Registry, SourceState
from toolkeeper_policy import FUNCTIONS

_DISCOVERED = ("mcp", "device")


def source_of(name: str) -> str:
    """The server id in `mcp.<server>.<tool>` or `device.<id>.<tool>`, otherwise `functions`.

    For names that the registry does not know: a known tool carries its identity as data.
    """
    kind, _, rest = name.partition(".")
    # A server id has no dots, so the first one ends it, whatever the tool is called.
    server, dot, tool = rest.partition(".")
    return server if kind in _DISCOVERED and dot and server and tool else FUNCTIONS


@dataclass(frozen=True, slots=True)
class MissingTools:
    """Tells apart a name that does not exist from one whose source cannot give it now."""

    unlisted: frozenset[str]
    refused: frozenset[str]

    @classmethod
    def of(cls, registry: Registry) -> "MissingTools":
        return cls(
            unlisted=frozenset(
                status.name for status in registry.sources if status.state is not SourceState.OK
            ),
            refused=frozenset(
                name
                for tool in registry.refused
                for name in (
                    (tool.name,)
                    if tool.source == FUNCTIONS
                    else tuple(f"{kind}.{tool.source}.{tool.name}" for kind in _DISCOVERED)
                )
            ),
        )

    def excuse(self, name: str) -> bool:
        """Whether the registry's not having `name` is its source's failure, not a misspelling."""
        return name in self.refused or source_of(name) in self.unlisted
