"""Which tools do the configured sources offer now, and how is each classified?"""

import asyncio
from collections.abc import Iterable, Mapping

from toolkeeper.runtime.configuration import Catalog, Configuration, Trust
from toolkeeper_contract import (
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
from toolkeeper_policy import classify


class Discovery:
    """Lists sources when they are first needed, and again when they say that they changed.

    In a gap (a server that does not answer) the last good listing stands, so that planning goes on
    and only calls fail.
    """

    def __init__(self, sources: Mapping[str, ToolSource], configuration: Configuration) -> None:
        self._sources = sources
        self._configuration = configuration
        self._listings: dict[str, Listing] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._snapshots: dict[frozenset[str], Registry] = {}

    def source(self, tool: Tool) -> ToolSource | None:
        """The source of `tool`, by its identity."""
        return self._sources.get(tool.identity.source)

    @property
    def names(self) -> frozenset[str]:
        """All configured sources."""
        return frozenset(self._sources)

    @property
    def functions(self) -> frozenset[str]:
        """The sources of this program's own tools; every agent may name them."""
        return frozenset(
            name for name, source in self._sources.items() if source.kind is SourceKind.FUNCTION
        )

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
        for name in sorted(names):
            listing = self._listings.get(name)
            if listing is None:
                continue
            tools.update((tool.name, tool) for tool in self._tools[name])
            refused.extend(listing.refused)
            states.append(listing.status)
        return Registry(tools, tuple(refused), tuple(states))

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
        server = self._configuration.servers.get(name) if source.kind is SourceKind.MCP else None
        identity = ToolIdentity(source.kind, name, listed.definition.name)
        declaration = listed.declaration
        classification = classify(
            identity,
            listed.definition,
            declaration=declaration,
            trusted=server is not None and server.trust is Trust.TRUSTED,
            annotations_trusted=server is not None and server.annotations is Trust.TRUSTED,
            rules=self._configuration.classification,
        )
        return Tool.of(
            identity,
            listed.definition,
            classification,
            scopes=declaration.scopes if declaration else (),
            deferred=declaration.deferred if declaration else False,
            callable=server is None or not isinstance(server.transport, Catalog),
        )
