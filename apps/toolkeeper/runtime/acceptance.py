"""Which listed definitions of servers may be used?

A server's first listing is accepted as it stands (or, with `acceptance: manual`, nothing is). What
an untrusted server changes or adds later waits for an operator; a trusted server's is taken over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from toolkeeper.runtime.configuration import Acceptance as Mode
from toolkeeper.runtime.configuration import Server, Trust
from toolkeeper_contract import AcceptedTool, Tool

FIRST_LISTING = "first listing"
TRUSTED_SERVER = "trusted server"
"""By whom a definition was accepted that no operator has looked at."""


class Standing(StrEnum):
    """How a listed definition stands to what was accepted under its name."""

    ACCEPTED = "accepted"
    NEW = "new"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the ledger holds as accepted, by canonical name; a value of one moment.

    `sources` are the servers that have shown a listing: what such a server lists beyond what was
    accepted is new, and no first listing any more.
    """

    accepted: Mapping[str, AcceptedTool]
    sources: frozenset[str]

    @classmethod
    def of(cls, tools: Iterable[AcceptedTool]) -> "Acceptance":
        accepted = {tool.name: tool for tool in tools}
        return cls(accepted, frozenset(tool.source for tool in accepted.values()))

    def is_first(self, server: Server) -> bool:
        """Whether what `server` lists now is its first listing, to be accepted as it stands."""
        return server.name not in self.sources and server.acceptance is Mode.FIRST_LISTING

    def standing(self, tool: Tool, server: Server) -> Standing:
        """How the definition stands, whatever the server's trust."""
        known = self.accepted.get(tool.name)
        if known is not None:
            same = known.fingerprint == tool.fingerprint
            return Standing.ACCEPTED if same else Standing.CHANGED
        return Standing.ACCEPTED if self.is_first(server) else Standing.NEW

    def admits(self, tool: Tool, server: Server) -> bool:
        """Whether the tool may be used; what is not admitted is quarantined."""
        return takes_over(server) or self.standing(tool, server) is Standing.ACCEPTED


def takes_over(server: Server) -> bool:
    """Whether what this server changes or adds is accepted on its own word."""
    return server.trust is Trust.TRUSTED and server.acceptance is not Mode.MANUAL
