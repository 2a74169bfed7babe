"""What would `tool.search` answer in the first turn of a new session?"""

from dataclasses import dataclass, field

from toolkeeper.runtime.catalogs import Catalogs, RunCatalog
from toolkeeper.runtime.configuration import Agent
from toolkeeper.runtime.sight import Sight
from toolkeeper_contract import TOOL_SEARCH, Code, ConfigError, Tool
from toolkeeper_index import Catalog, SearchAnswer, boundary_token, definition_line
from toolkeeper_pipeline import search_result


@dataclass(frozen=True, slots=True)
class Searching:
    """Searches what `sight`'s plan leaves without a definition, within the agent's bounds.

    The catalog is built once, so thousands of queries cost a search each.
    """

    sight: Sight
    agent: Agent
    catalog: Catalog
    _sizes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sight: Sight, agent: Agent) -> "Searching":
        """ConfigError for an agent that does not have `tool.search`."""
        if TOOL_SEARCH not in agent.control_tools:
            raise ConfigError(
                f"agent `{agent.name}` does not have `{TOOL_SEARCH}`",
                "add it to the agent's `control_tools`",
                code=Code.CONTROL_TOOL_UNAVAILABLE,
                key=f"agents.{agent.name}.control_tools",
            )
        plan, registry = sight.plan, sight.registry
        return cls(sight, agent, RunCatalog(Catalogs(), plan, lambda: registry, _all)())

    def answer(self, query: str, limit: int | None = None) -> tuple[SearchAnswer, str]:
        """The answer, and the text that a model reads of it."""
        return self._read(self._found(query, limit))

    def names(self, query: str, limit: int | None = None) -> list[str]:
        """The names in the answer, best first, without writing it out where that can be helped."""
        found = self._found(query, limit)
        room = self.agent.limits.result_bytes - _AROUND
        if sum(self._size(tool) for tool in found.tools) > room:
            found, _ = self._read(found)
        return [tool.name for tool in found.tools]

    def _found(self, query: str, limit: int | None) -> SearchAnswer:
        search = self.agent.search
        return self.catalog.search(
            query, limit=limit, default_limit=search.limit, max_limit=search.max_limit
        )

    def _read(self, found: SearchAnswer) -> tuple[SearchAnswer, str]:
        return search_result(
            found,
            token=boundary_token(self.sight.plan.digest),
            index=self.sight.system,
            result_bytes=self.agent.limits.result_bytes,
        )

    def _size(self, tool: Tool) -> int:
        """Bytes that a tool takes in an answer at most, with an envelope of its own."""
        size = self._sizes.get(tool.name)
        if size is None:
            size = len(definition_line(tool).encode("utf-8")) + _AROUND
            self._sizes[tool.name] = size
        return size


_AROUND = 512
"""More bytes than the head of an answer takes, or the two lines of an envelope."""


def _all() -> None:
    """Nothing was switched off since the plan was made."""
