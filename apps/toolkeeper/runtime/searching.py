"""What would `tool.search` answer in the first turn of a new session?"""

from dataclasses import dataclass

from toolkeeper.runtime.catalogs import Catalogs, RunCatalog
from toolkeeper.runtime.configuration import Agent
from toolkeeper.runtime.sight import Sight
from toolkeeper_contract import TOOL_SEARCH, Code, ConfigError
from toolkeeper_index import Catalog, SearchAnswer, boundary_token
from toolkeeper_pipeline import search_result


@dataclass(frozen=True, slots=True)
class Searching:
    """Searches what `sight`'s plan leaves without a definition, within the agent's bounds.

    The catalog is built once, so thousands of queries cost a search each.
    """

    sight: Sight
    agent: Agent
    catalog: Catalog

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
        search = self.agent.search
        found = self.catalog.search(
            query, limit=limit, default_limit=search.limit, max_limit=search.max_limit
        )
        return search_result(
            found,
            token=boundary_token(self.sight.plan.digest),
            index=self.sight.system,
            result_bytes=self.agent.limits.result_bytes,
        )


def _all() -> None:
    """Nothing was switched off since the plan was made."""
