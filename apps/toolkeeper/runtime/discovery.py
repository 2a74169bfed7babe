"""Which tools do the sources offer now, how is each classified, and which may be used?"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from toolkeeper.runtime.acceptance import Acceptance, Standing, takes_over
from toolkeeper.runtime.configuration import Agent, Catalog, Configuration, Server, Trust
from toolkeeper.runtime.drift import Drift
from toolkeeper.runtime.profile import sources_of
from toolkeeper_contract import (
    Declaration,
    Listed,
    Listing,
    RefusedTool,
    Registry,
    SourceKind,
    SourceState,
    SourceStatus,
    Tool,
    ToolIdentity,
    ToolSource,
)
from toolkeeper_policy import WORST_CASE, CallClasses


class Discovery:
    """Lists sources when they are first needed, and again when they say that they changed.

    In a gap (a server that does not answer) the last good listing stands, so that planning goes on
    and only calls fail. What was accepted is told by `know`; until then, nothing of any server may
    be used. `names` are all configured sources, `functions` those of this program's own tools,
    which every agent may name.
    """

    def __init__(self, sources: Mapping[str, ToolSource], configuration: Configuration) -> None:
        self._sources = sources
        self._configuration = configuration
        self._listings: dict[str, Listing] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._snapshots: dict[frozenset[str], Registry] = {}
        self._acceptance: Acceptance | None = None
        # Asked for at every call; what is configured does not change while it is in use.
        self.names = frozenset(sources)
        self.functions = frozenset(
            name for name, source in sources.items() if source.kind is SourceKind.FUNCTION
        )
        self._needed: dict[str, tuple[Agent, frozenset[str]]] = {}

    def needed(self, agent: Agent) -> frozenset[str]:
        """The sources whose listings `agent` needs, those of this program's functions included."""
        known = self._needed.get(agent.name)
        if known is None or known[0] is not agent:
            names = sources_of(agent, self._configuration) | self.functions
            known = self._needed[agent.name] = (agent, names)
        return known[1]

    def source(self, tool: Tool) -> ToolSource | None:
        """The source of `tool`, by its identity."""
        return self._sources.get(tool.identity.source)

    def needs_acceptance(self, names: Iterable[str]) -> bool:
        """Whether one of `names` is a server, whose definitions have to be accepted."""
        return any(self._server(name) is not None for name in names)

    def know(self, acceptance: Acceptance) -> None:
        """What is accepted from now on; tools and snapshots stay the same where nothing changed."""
        if acceptance == self._acceptance:
            return
        self._acceptance = acceptance
        for name, tools in self._tools.items():
            if self._server(name) is not None:
                self._tools[name] = tuple(self._classified(name, tool) for tool in tools)
        self._snapshots.clear()

    def standing(self, tool: Tool) -> Standing:
        """How the listed tool stands: accepted, where it may be used."""
        server = self._server(tool.identity.source)
        if server is None or self._is_admitted(server, tool):
            return Standing.ACCEPTED
        return self._acceptance.standing(tool, server) if self._acceptance else Standing.NEW

    def first_listings(self, names: Iterable[str]) -> tuple[Tool, ...]:
        """The tools of those servers of `names` that show their first listing."""
        acceptance = self._acceptance
        return tuple(
            tool
            for name, server in self._servers(names)
            if acceptance is not None and acceptance.is_first(server)
            for tool in self._tools.get(name, ())
        )

    def drifts(self, names: Iterable[str]) -> tuple[Drift, ...]:
        """The listed definitions of `names` that are not the accepted ones, by name."""
        acceptance = self._acceptance
        if acceptance is None:
            return ()
        found = [
            Drift(tool, acceptance.accepted.get(tool.name), not takes_over(server))
            for name, server in self._servers(names)
            for tool in self._tools.get(name, ())
            if acceptance.standing(tool, server) is not Standing.ACCEPTED
        ]
        return tuple(sorted(found, key=lambda drift: drift.tool.name))

    async def close(self) -> None:
        """Ends every source, whatever state it is in."""
        await asyncio.gather(
            *(source.close() for source in self._sources.values()), return_exceptions=True
        )

    async def refresh(self, names: Iterable[str]) -> None:
        """Lists those of `names` that were never listed well, or have changed since."""
        stale = sorted(name for name in names if self._is_stale(name))
        listings = await asyncio.gather(*(self._sources[name].listing() for name in stale))
        for name, listing in zip(stale, listings, strict=True):
            self._take(name, listing)

    def registry(self, names: frozenset[str]) -> Registry:
        """A snapshot over `names`, as last listed; one value until a listing changes."""
        snapshot = self._snapshots.get(names)
        if snapshot is None:
            snapshot = self._snapshots[names] = self._snapshot(names)
        return snapshot

    def _snapshot(self, names: frozenset[str]) -> Registry:
        tools: dict[str, Tool] = {}
        refused: list[RefusedTool] = []
        states: list[SourceStatus] = []
        quarantined: set[str] = set()
        for name in sorted(names):
            listing = self._listings.get(name)
            if listing is None:
                continue
            tools.update((tool.name, tool) for tool in self._tools[name])
            server = self._server(name)
            if server is not None:
                quarantined.update(
                    tool.name for tool in self._tools[name] if not self._is_admitted(server, tool)
                )
            refused.extend(listing.refused)
            states.append(listing.status)
        return Registry(tools, tuple(refused), tuple(states), frozenset(quarantined))

    def _is_stale(self, name: str) -> bool:
        listing = self._listings.get(name)
        if listing is None or listing.status.state is not SourceState.OK:
            return True
        return bool(getattr(self._sources[name], "changed", False))

    def _take(self, name: str, listing: Listing) -> None:
        before = self._listings.get(name)
        if before is not None and listing.status.state is not SourceState.OK and before.tools:
            # A partial listing never replaces a good one; its state is told all the same.
            listing = Listing(before.tools, before.refused, listing.status)
        else:
            self._tools[name] = tuple(self._tool(name, listed) for listed in listing.tools)
        self._listings[name] = listing
        self._snapshots.clear()

    def _tool(self, name: str, listed: Listed) -> Tool:
        source = self._sources[name]
        server = self._server(name)
        declaration = listed.declaration
        tool = Tool.of(
            ToolIdentity(source.kind, name, listed.definition.name),
            listed.definition,
            WORST_CASE,
            scopes=declaration.scopes if declaration else (),
            deferred=declaration.deferred if declaration else False,
            callable=server is None or not isinstance(server.transport, Catalog),
            lane=_lane(name, listed, server),
        )
        return self._classified(name, tool, declaration)

    def _classified(self, name: str, tool: Tool, declaration: Declaration | None = None) -> Tool:
        server = self._server(name)
        classes = CallClasses(
            tool.identity,
            tool.definition,
            declaration=declaration,
            trusted=server is not None and server.trust is Trust.TRUSTED,
            annotations_trusted=server is not None and server.annotations is Trust.TRUSTED,
            accepted=server is None or self._is_admitted(server, tool),
            rules=self._configuration.classification,
        )
        classification = classes.dearest
        by_arguments = classes if classes.look_at_arguments else None
        if (classification, by_arguments) == (tool.classification, tool.by_arguments):
            return tool
        return replace(tool, classification=classification, by_arguments=by_arguments)

    def _is_admitted(self, server: Server, tool: Tool) -> bool:
        return self._acceptance is not None and self._acceptance.admits(tool, server)

    def _server(self, name: str) -> Server | None:
        """The server of that name; None for functions of this program."""
        if self._sources[name].kind is SourceKind.FUNCTION:
            return None
        return self._configuration.servers.get(name)

    def _servers(self, names: Iterable[str]) -> list[tuple[str, Server]]:
        found = ((name, self._server(name)) for name in names)
        return [(name, server) for name, server in found if server is not None]


def _lane(name: str, listed: Listed, server: Server | None) -> str | None:
    """What keeps a tool's calls apart: all of a server's from each other, or its own."""
    if server is not None:
        return f"mcp.{name}" if server.serial else None
    serial = listed.declaration is not None and listed.declaration.serial
    return listed.definition.name if serial else None
