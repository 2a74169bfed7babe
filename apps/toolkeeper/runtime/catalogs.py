"""Which catalog does a search of this run look through?"""

from collections.abc import Callable, Iterable

from toolkeeper_contract import Plan, Registry, Tool
from toolkeeper_index import Catalog

_KEPT = 8


class Catalogs:
    """The catalogs that were searched last; building one takes longer than a hundred searches.

    Two runs of the same plan, over the same tools, search the same catalog, whatever session they
    belong to.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, tuple[str, ...]], Catalog] = {}

    def of(self, plan: Plan, tools: Iterable[Tool]) -> Catalog:
        """The catalog over `tools`, which are pinned by `plan` with the fingerprints they have."""
        found = tuple(tools)
        # The plan says of which fingerprint each of them is.
        key = (plan.digest, tuple([tool.name for tool in found]))
        catalog = self._kept.pop(key, None) or Catalog(found)
        self._kept[key] = catalog
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return catalog


class RunCatalog:
    """What one run can search: its pins that are not defined, less what was taken away since."""

    def __init__(
        self,
        catalogs: Catalogs,
        plan: Plan,
        registry: Callable[[], Registry],
        allowed: Callable[[], frozenset[str] | None],
    ) -> None:
        """`allowed` are the names that are still enabled, None for all that the plan pins."""
        self._catalogs = catalogs
        self._plan = plan
        self._registry = registry
        self._allowed = allowed
        self._seen: tuple[Registry, frozenset[str] | None] | None = None
        self._catalog: Catalog | None = None

    def __call__(self) -> Catalog:
        """The catalog of this moment; the same one as long as nothing changes."""
        seen = (self._registry(), self._allowed())
        if self._catalog is None or self._seen is None or not _same(seen, self._seen):
            self._catalog = self._catalogs.of(self._plan, self._tools(*seen))
            self._seen = seen
        return self._catalog

    def _tools(self, registry: Registry, allowed: frozenset[str] | None) -> list[Tool]:
        plan = self._plan
        found = []
        for name in (*plan.deferred_names, *plan.searchable):
            tool = registry.tools.get(name)
            # What a call would be refused for is not found either.
            if tool is None or tool.fingerprint != plan.pins[name] or name in registry.quarantined:
                continue
            if allowed is None or name in allowed:
                found.append(tool)
        return found


def _same(
    one: tuple[Registry, frozenset[str] | None], other: tuple[Registry, frozenset[str] | None]
) -> bool:
    return one[0] is other[0] and one[1] is other[1]
