"""In which order do discovered tools stand, whoever connected first?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from toolkeeper_contract import Registry, SourceKind, Tool, is_literal, matches

_DISCOVERED = (SourceKind.MCP, SourceKind.DEVICE)
_KEPT = 8


@dataclass(frozen=True, slots=True)
class RankedRegistry:
    """A registry snapshot, sorted once: planning the same snapshot again sorts nothing.

    `reads` and `others` hold each source's tools by raw name. INVARIANT: the canonical name is
    the last key, so the order is total and never depends on the snapshot's own order.
    """

    registry: Registry
    reads: Mapping[str, tuple[Tool, ...]]
    others: Mapping[str, tuple[Tool, ...]]
    _deferred: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict, compare=False)
    _named: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, registry: Registry) -> "RankedRegistry":
        """The snapshot sorted; kept for the last few snapshots."""
        for known in _recent:
            if known.registry is registry:
                return known
        ranked = cls._sort(registry)
        _recent.append(ranked)
        del _recent[:-_KEPT]
        return ranked

    @classmethod
    def _sort(cls, registry: Registry) -> "RankedRegistry":
        reads: dict[str, list[Tool]] = {}
        others: dict[str, list[Tool]] = {}
        for tool in registry.tools.values():
            if tool.identity.kind in _DISCOVERED:
                half = reads if tool.classification.side_effect.reads else others
                half.setdefault(tool.identity.source, []).append(tool)
        return cls(registry, _by_raw_name(reads), _by_raw_name(others))

    def discovered(self, servers: Iterable[str]) -> list[Tool]:
        """All tools of `servers`: reads before everything else, then by source id and raw name."""
        order = sorted(set(servers))
        tools: list[Tool] = []
        for half in (self.reads, self.others):
            for server in order:
                tools += half.get(server, ())
        return tools

    def deferred(self, patterns: tuple[str, ...]) -> frozenset[str]:
        """The names that `patterns` (exact or globs) name, or whose tools wish to be deferred."""
        names = self._deferred.get(patterns)
        if names is None:
            literals = {pattern for pattern in patterns if is_literal(pattern)}
            globs = [pattern for pattern in patterns if not is_literal(pattern)]
            names = frozenset(
                name
                for name, tool in self.registry.tools.items()
                if tool.deferred or name in literals or any(matches(glob, name) for glob in globs)
            )
            if len(self._deferred) >= _KEPT:
                self._deferred.clear()
            self._deferred[patterns] = names
        return names

    def named(self, pattern: str) -> frozenset[str]:
        """The names that one `pattern` (exact or a glob) names."""
        if is_literal(pattern):
            return frozenset((pattern,)) & self.registry.tools.keys()
        names = self._named.get(pattern)
        if names is None:
            names = frozenset(name for name in self.registry.tools if matches(pattern, name))
            if len(self._named) >= _KEPT * 8:
                self._named.clear()
            self._named[pattern] = names
        return names


_recent: list[RankedRegistry] = []
"""The last few snapshots; a registry is immutable, so the memory changes no answer."""


def _by_raw_name(tools: Mapping[str, list[Tool]]) -> dict[str, tuple[Tool, ...]]:
    return {
        source: tuple(sorted(found, key=lambda tool: (tool.identity.raw_name, tool.name)))
        for source, found in tools.items()
    }
